#pragma once

#include "runners/cuda/quiet.h"
#include "runners/cuda/trial.h"

namespace warpath::cuda {

/// Interleaved blocks of launches of two candidates on one workload, as it is scored: times by pair of blocks, ns.
///
/// Before each block its candidate runs until its times settle, so that clocks are those of its own heat and power and not those
/// that the other left behind: what a user sees who launches it again and again. A launch of 20 ms or more is a block by itself and settles within.
/// Pairs go on until their 99 % interval is narrower than a percent, or time is over: three of long launches are often enough.
struct BlockPairs {
  Pairs pairs;                    ///< medians of blocks
  std::vector<double> residuals;  ///< single samples over the median of their side and input set
};
[[nodiscard]] BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w);

/// Times `trial` against `other` on all workloads but those of role regress, on a device that proves quiet (runners/cuda/quiet.h), some
/// attempts at most: trial.paired_ns and trial.baseline_ns. Throws CandidateFault(not_measured) with the reason where it does not.
struct QuietPairs {
  Gain gain;
  std::size_t pairs = 0;  ///< most of a workload
  int takes = 0;
  std::string why;        ///< what is worth saying of it; empty: nothing
};
[[nodiscard]] QuietPairs time_quietly(Trial& other, Trial& trial);

}  // namespace warpath::cuda
