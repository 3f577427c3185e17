#include "experiments/ship/template_text.h"

#include "engine/base/error.h"

namespace warpath {

std::string fill_template(std::string_view text, const Placeholders& values) {
  constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '@' ? text.find_first_not_of(kCapitals, i + 1) : 0;
    if (text[i] != '@' || end == std::string_view::npos || end == i + 1 || text[end] != '@') {
      out += text[i++];
      continue;
    }
    const auto found = values.find(text.substr(i + 1, end - i - 1));
    WARPATH_CHECK(found != values.end());
    out += found->second;
    i = end + 1;
  }
  return out;
}

}  // namespace warpath
