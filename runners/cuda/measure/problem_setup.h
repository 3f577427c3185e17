#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/spec/spec.h"
#include "runners/cuda/driver/candidate.h"

namespace warpath::cuda {

/// What a device needs to know besides the spec.
struct ProblemSetup {
  KernelSpec spec;
  std::vector<std::string> workloads;  ///< names, in the candidates' order
  /// the spec's reference kernel or, without one, its own kernel
  std::optional<Candidate> reference;
  /// See make_exact_slot().
  bool exact_memory = false;
  Candidate baseline;
  std::uint64_t seed = 0;  ///< of all input sets
  [[nodiscard]] bool reference_is_kernel() const {
    return std::holds_alternative<ReferenceKernel>(spec.reference) ||
           std::holds_alternative<std::monostate>(spec.reference);
  }
  [[nodiscard]] const Candidate& reference_kernel() const {
    return reference ? *reference : baseline;
  }
};

}  // namespace warpath::cuda
