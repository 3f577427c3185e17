#pragma once

#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/spec/spec.h"

namespace warpath::test {

/// `source` after a few edits of the kind that people make: statements taken away, doubled,
/// exchanged, wrapped in branches, blocks, loops and macros; conditions in other forms; other
/// types, qualifiers, operators, literals and indices. Most results are still C++ to a parser, so
/// that moves look into them; few compute anything sensible. The same for the same state of `rng`.
[[nodiscard]] std::string varied(const std::string& source, Rng& rng);

/// Small kernels with all that moves look at: the examples of the moves (after the steps they are
/// given), tests/data/move_fixtures.json, specs/*.json. Sources are those of the specs.
[[nodiscard]] std::vector<KernelSpec> kernels_to_vary(const std::string& root);

}  // namespace warpath::test
