#include "moves/edit/code_template.h"

#include "engine/base/ascii.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
const std::string& CodeTemplate::name(std::string_view name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return known->second;
  return values_[std::string(name)] = model::fresh_name(unit_, name, &taken_);
}

std::string CodeTemplate::fill(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '@') {
      out += text[i++];
      continue;
    }
    std::size_t end = ++i;
    while (end < text.size() && is_word(text[end])) ++end;
    out += name(text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace warpath
