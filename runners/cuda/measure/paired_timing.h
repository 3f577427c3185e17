#pragma once

#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Interleaved blocks of launches of two candidates on one workload, as it is scored: times by pair
/// of blocks, ns.
///
/// Before each block its candidate runs until its times settle, so that clocks are those of its own
/// heat and power and not those that the other left behind: what a user sees who launches it again
/// and again. A block has launches of every timed slot, and its time is the mean over slots of
/// their trimmed means: where launches come in kinds, which a median would choose between, all
/// count. One launch of 20 ms or more a slot is enough and settles within. Pairs go on until their
/// 99 % interval is narrower than a percent or time is over (1.5 s; while it is wider than
/// QuietLimits::width, 3.5 s more of blocks four times as long): three of long launches are often
/// enough.
struct BlockPairs {
  Pairs pairs;                    ///< times of blocks
  std::vector<double> residuals;  ///< single samples over the median of those taken with them
};
[[nodiscard]] BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w);

/// Times `trial` against `other` on all workloads but those of role regress, on a device that
/// proves quiet (runners/cuda/measure/quiet.h), some attempts at most: trial.paired_ns and
/// trial.baseline_ns. Throws CandidateFault(not_measured) with the reason where it does not.
struct QuietPairs {
  Gain gain;
  std::size_t pairs = 0;  ///< most of a workload
  int takes = 0;
  std::string why;  ///< what is worth saying of it; empty: nothing
};
[[nodiscard]] QuietPairs time_quietly(Trial& other, Trial& trial);

}  // namespace warpath::cuda
