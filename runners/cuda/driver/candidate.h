#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/launch.h"
#include "engine/spec/variant.h"

namespace warpath::cuda {

/// Machine code of a variant under one set of macros.
struct CandidateCode {
  std::string cubin;
  std::string entry;                 ///< lowered name
  std::vector<std::string> globals;  ///< names of its variables in device memory
  std::string ptx{};                 ///< what `cubin` was assembled from; empty: not known
  /// threads meet in memory: sums may be added in another order from launch to launch
  bool has_atomics = false;
  bool operator==(const CandidateCode&) const = default;
};

/// A variant as a device worker gets it: code and launch numbers of every workload, no source.
struct Candidate {
  std::string key;  ///< level-1 identity (binary_key)
  std::vector<CandidateCode> codes;
  std::vector<std::uint32_t> code_of;     ///< by workload: index into `codes`
  std::vector<LaunchNumbers> numbers;     ///< by workload
  std::vector<ExtraNumbers> extras;       ///< by workload; empty: there are none
  std::vector<std::string> step_entries;  ///< kernels of the steps; every code has them all
  [[nodiscard]] bool has_extras() const { return !extras.empty(); }
  bool operator==(const Candidate&) const = default;
};

}  // namespace warpath::cuda
