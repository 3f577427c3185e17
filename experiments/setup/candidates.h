#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// Properties of a candidate in a list besides its variant.
struct Expectation {
  /// "ok", "refused" (any status but ok), a status name; empty: anything
  std::string status;
  std::int64_t row = 0;            ///< of the catalogue behind the list; 0: none
  std::vector<std::string> gates;  ///< that may reject it
};

/// A variant of one spec to evaluate.
struct Candidate {
  std::string name;
  Variant variant;
  Expectation expectation;
};

/// True if `status` is the expected one.
[[nodiscard]] bool as_expected(const Expectation& expectation, Status status);
/// True if `gate` is one of those that may reject it.
[[nodiscard]] bool is_expected_gate(const Expectation& expectation, std::string_view gate);

/// The candidates denoted by the words after `--candidates`, in order: FILE.cu replaces the spec's
/// source; FOLDER stands for its *.cu in name order; a run folder for the complete best kernel of
/// that run of the same spec; LIST.jsonl contains one JSON object per line (docs/evaluate.md).
/// Throws Error(bad_input) naming file, line and key; also if two candidates have the same name.
[[nodiscard]] std::vector<Candidate> read_candidates(const KernelSpec& spec,
                                                     const std::vector<std::string>& paths);

/// The spec's own kernel with the combinations of its tunables that satisfy its constraints: all of
/// them, or `most` drawn by `seed`, in the order of the space. Named "BLOCK=64 UNROLL=2". Throws
/// Error(bad_input) if the spec has no tunables, or more than 2^20 combinations.
[[nodiscard]] std::vector<Candidate> tuned_candidates(const KernelSpec& spec,
                                                      std::size_t most,
                                                      std::uint64_t seed);

}  // namespace warpath
