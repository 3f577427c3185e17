#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Most elements of an index tensor that the check materialises for one workload; a larger one is
/// checked by its first elements only, and an `arange`, `full` or `randint` by its bounds.
inline constexpr std::int64_t kMaxCheckedElements = std::int64_t{1} << 24U;
/// Most elements of one tensor.
inline constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 40U;

/// Everything that can be known of a spec without running it. Throws Error(bad_input) on the first
/// problem.
void check_spec(const KernelSpec& spec);

/// Why a valid spec can still not be searched (Triton source, a Python reference, no reference):
/// one line; empty if it can.
[[nodiscard]] std::string run_problem(const KernelSpec& spec);

/// What was not taken as it is in the files that the spec names: "; FILE: line 3: a comment is not
/// UTF-8 and is read as Latin-1". Empty: nothing.
[[nodiscard]] std::string source_notes(const KernelSpec& spec);

/// One line of `warpath validate`.
struct CheckLine {
  bool ok = false;
  std::string text;  ///< "FILE: NAME: ok (3 workloads, 5 arguments)" or the problem
};
/// What else is wrong with a spec: a line a problem.
using SpecProblems = std::function<std::vector<std::string>(const KernelSpec&)>;

/// Loads and checks every spec of `paths`; a problem in one file does not hide those of another.
/// `more`: asked about each spec that is well formed.
[[nodiscard]] std::vector<CheckLine> check_spec_files(const std::vector<std::string>& paths,
                                                      const SpecProblems& more = {});

}  // namespace warpath
