#pragma once

#include <string_view>

#include "moves/syntax/unit.h"

namespace warpath {

/// A token of the text is the word.
[[nodiscard]] bool says_word(std::string_view text, std::string_view word);

/// The body of a macro of the file that the text may use says the word.
[[nodiscard]] bool is_said_by_macro(const model::Unit& unit, std::string_view word);

}  // namespace warpath
