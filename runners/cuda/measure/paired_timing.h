#pragma once

#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Interleaved blocks of launches of two candidates on one workload, with the cache as it is
/// scored: times by pair of blocks, in ns.
///
/// The device rests before each chunk of some 10 ms for as long as it has worked: without breaks it
/// reaches its power limit, and the reduced clocks make blocks differ by up to a fifth. A candidate
/// runs until the times of two chunks agree, so that no effect of earlier work is left. A block
/// contains launches of every timed slot; its time is the mean over slots of their trimmed means,
/// so that in a multimodal distribution, where a median would pick one mode, all modes count. For
/// launches of 20 ms or more a block is one launch, on alternating slots. After at least five pairs
/// (of long launches as many as fit into 1.2 s, six to sixteen) measuring ends once the 99 %
/// interval is narrower than one percent or time is over: 1.5 s of work; while it is wider than
/// QuietLimits::width 5 s, with four times the rest if the pairs are not of two kinds, and with
/// long launches 3 s.
struct BlockPairs {
  Pairs pairs;                    ///< times of blocks
  std::vector<double> residuals;  ///< samples over the median of those taken with them
};
[[nodiscard]] BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w);

/// Mean launch, in ns, at the end of 0.3 s of launches without rest; longer than in a block if the
/// kernel reaches the device's power limit.
[[nodiscard]] double sustained_ns(Trial& trial, std::size_t w);

/// Times `trial` against `other` on all workloads except those of role regress, in a limited number
/// of attempts until the device was quiet (quiet.h), each after waiting some seconds at most until
/// the device does nothing else: sets trial.paired_ns and trial.baseline_ns.
/// Throws CandidateFault(not_measured) with the reason if it never was.
struct QuietPairs {
  Gain gain;
  std::size_t pairs = 0;  ///< maximum over workloads
  int takes = 0;
  /// maximum over workloads of sustained_ns over the blocks' time; also a fact of the diagnosis
  double sustained_over_rested = 1;
  std::string why;  ///< a remark; empty: none
};
[[nodiscard]] QuietPairs time_quietly(Trial& other, Trial& trial);

}  // namespace warpath::cuda
