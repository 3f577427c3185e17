#pragma once

#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Interleaved blocks of launches of two candidates on one workload, as it is scored: times by pair
/// of blocks, ns.
///
/// The device rests before each chunk of some 10 ms for as long as it has worked: without a break
/// it reaches its limit of power, and clocks that follow it make blocks differ by up to a fifth. A
/// candidate runs until the times of two chunks agree, so that nothing is left of what ran before.
/// A block has launches of every timed slot, and its time is the mean over slots of their trimmed
/// means: where launches come in kinds, which a median would choose between, all count. One launch
/// of 20 ms or more a slot is enough. Pairs go on until their 99 % interval is narrower than a
/// percent or time is over (1.5 s; while it is wider than QuietLimits::width, 3.5 s more with rests
/// four times as long): three of long launches are often enough.
struct BlockPairs {
  Pairs pairs;                    ///< times of blocks
  std::vector<double> residuals;  ///< single samples over the median of those taken with them
};
[[nodiscard]] BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w);

/// The mean launch, ns, at the end of 0.3 s of launches without a rest: longer than that of a block
/// where the kernel reaches the device's limit of power.
[[nodiscard]] double sustained_ns(Trial& trial, std::size_t w);

/// Times `trial` against `other` on all workloads but those of role regress, on a device that
/// proves quiet (runners/cuda/measure/quiet.h), some attempts at most: trial.paired_ns and
/// trial.baseline_ns. Throws CandidateFault(not_measured) with the reason where it does not.
struct QuietPairs {
  Gain gain;
  std::size_t pairs = 0;  ///< most of a workload
  int takes = 0;
  /// sustained_ns over the blocks' time, the most of a workload; also a fact of the diagnosis
  double sustained_over_rested = 1;
  std::string why;  ///< what is worth saying of it; empty: nothing
};
[[nodiscard]] QuietPairs time_quietly(Trial& other, Trial& trial);

}  // namespace warpath::cuda
