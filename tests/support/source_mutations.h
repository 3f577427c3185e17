#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/rng.h"

namespace warpath::test {

/// `source` after a few random edits: bytes, tokens and lines taken away, doubled, exchanged, moved
/// or replaced; brackets lost; pieces of the corpus and odd words put in. The same for the same
/// state of `rng`.
[[nodiscard]] std::string mutated(const std::string& source,
                                  const std::vector<std::string>& corpus,
                                  Rng& rng);

/// Parses `source` and checks what must hold for any bytes: spans nest and lie inside, parents are
/// right, parsing again gives the same tree, facts are found without a crash. Empty if all is well,
/// else what is wrong.
[[nodiscard]] std::string check_model(const std::string& source);

}  // namespace warpath::test
