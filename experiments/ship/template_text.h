#pragma once

#include <map>
#include <string>
#include <string_view>

namespace warpath {

/// Texts by placeholder: {"NAME", "softmax"} for `@NAME@`.
using Placeholders = std::map<std::string, std::string, std::less<>>;

/// `text` with every `@NAME@` (capitals, digits, underscores) replaced, verbatim and once: what is
/// put in is not looked at again. A placeholder without a text is a bug.
[[nodiscard]] std::string fill_template(std::string_view text, const Placeholders& values);

}  // namespace warpath
