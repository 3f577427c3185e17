#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Why a valid spec still cannot be searched (Triton source, a Python reference, no reference), in
/// one line; empty if it can.
[[nodiscard]] std::string run_problem(const KernelSpec& spec);

/// What was interpreted leniently in the files that the spec names: "; FILE: line 3: a comment is
/// not UTF-8 and is read as Latin-1". Empty: nothing.
[[nodiscard]] std::string source_notes(const KernelSpec& spec);

/// One line a guess that the spec lists: "guessed /kernel/io/args/3/value = 2048: WHY".
[[nodiscard]] std::vector<std::string> guess_lines(const KernelSpec& spec);

/// One line of `warpath validate`.
struct CheckLine {
  bool ok = false;
  std::string text;  ///< "FILE: NAME: ok (3 workloads, 5 arguments)" or the problem
};
/// Additional checks of a spec: returns one line per problem.
using SpecProblems = std::function<std::vector<std::string>(const KernelSpec&)>;

/// Loads and checks every spec of `paths`; a problem in one file does not stop the others. `more`
/// is called for each well-formed spec.
[[nodiscard]] std::vector<CheckLine> check_spec_files(const std::vector<std::string>& paths,
                                                      const SpecProblems& more = {});

}  // namespace warpath
