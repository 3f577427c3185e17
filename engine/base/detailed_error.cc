#include "engine/base/detailed_error.h"

#include <algorithm>

namespace warpath {

std::string details_text(const std::exception& error, const std::string& indent) {
  const auto* const detailed = dynamic_cast<const DetailedError*>(&error);
  if (detailed == nullptr || std::ranges::count(detailed->details(), '\n') < 2) return "";
  return indented_lines(detailed->details(), indent);
}

std::string indented_lines(const std::string& text, const std::string& indent) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += indent + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace warpath
