#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/launch.h"
#include "engine/spec/variant.h"

namespace warpath::cuda {

/// Machine code of a version of a variant under one set of macros.
struct CandidateCode {
  std::string cubin;
  std::string entry;                 ///< lowered name
  std::vector<std::string> globals;  ///< names of its variables in device memory
  std::string ptx{};                 ///< source of `cubin`; empty: unknown
  /// sums may be added in a different order in each launch
  bool has_atomics = false;
  std::vector<std::string> step_entries{};  ///< kernels of the steps
  bool operator==(const CandidateCode&) const = default;
};

/// A variant in the form a device worker receives: code and launch numbers of every workload,
/// without source.
struct Candidate {
  std::string key;  ///< level-1 identity (binary_key)
  std::vector<CandidateCode> codes;
  std::vector<std::uint32_t> code_of;  ///< by workload: index into `codes`
  std::vector<LaunchNumbers> numbers;  ///< by workload
  std::vector<ExtraNumbers> extras;    ///< by workload; empty: none
  [[nodiscard]] bool has_extras() const { return !extras.empty(); }
  bool operator==(const Candidate&) const = default;
};

}  // namespace warpath::cuda
