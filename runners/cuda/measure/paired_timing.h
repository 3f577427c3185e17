#pragma once

#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

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
