#pragma once

#include <string>

#include "register_gates.h"
#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// "workload gpu, seed 1f, as_declared: "
[[nodiscard]] inline std::string where(Trial& trial, std::size_t w, const InputSet& set) {
  return "workload " + trial.at(w).workload->name + ", " + set.label() + ": ";
}

}  // namespace warpath::cuda
