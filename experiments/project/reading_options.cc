#include "experiments/project/reading_options.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/tokens.h"
#include "experiments/project/kernel_words.h"

namespace warpath {

model::ParseOptions reading_options(const std::string& text) {
  constexpr std::int64_t kVersion = 12000, kBlockExtent = 16;
  static const std::vector<std::pair<std::regex, std::int64_t>> kNamed{
      {std::regex("([A-Z0-9_]+_)?WARP_?SIZE"), 32}, {std::regex("[A-Z0-9_]+_(BASE|OFFSET)"), 0}};
  std::map<std::string, bool> declared;
  for (const Token& token : tokenize(text).tokens) {
    if (token.kind == TokenKind::directive) {
      const std::string kind = directive_name(text, token);
      const bool defines = kind == "define", asks = kind.starts_with("if") || kind == "elif";
      const auto words = tokenize_directive(text, token).tokens;
      for (std::size_t i = 2; i < words.size() && (asks || (defines && i == 2)); ++i)
        declared[spelling(text, words[i])] = true;
    }
  }
  const Words words(text);
  std::map<std::string, std::int64_t, std::less<>> widths;  // of blocks, blockIdx.x * NAME
  for (std::size_t i = 0; i + 4 < words.size(); ++i) {
    if (words.text(i) != "blockIdx" || words.text(i + 3) != "*" || !words.is_name(i + 4)) continue;
    if (words.text(i + 5) != "(" && words.text(i + 5) != "." && words.text(i + 5) != "::")
      widths.emplace(words.text(i + 4), kBlockExtent);
  }
  std::size_t enumerators = 0;  // end of those that stand here
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words.text(i - 1) == "enum") {
      std::size_t open = i;
      while (words.is_name(open) || words.text(open) == ":") ++open;
      if (words.text(open) == "{") enumerators = words.closing(open);
    }
    if (!words.is_name(i)) continue;
    const std::string name(words.text(i));
    const auto is_named = [&](const auto& known) { return std::regex_match(name, known.first); };
    const bool by_name = name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos &&
                         std::ranges::any_of(kNamed, is_named);
    if (!by_name && !widths.contains(name)) continue;
    const std::string_view next = words.text(i + 1);
    const bool of_type = words.is_name(i - 1) && words.text(i - 1) != "return";
    const bool ends = next == "=" || next == ";" || next == "," || next == ")" || next == "{" ||
                      next == ">" || next == "[";
    bool& known = declared[name];
    known = known || (of_type && ends) || i < enumerators || (!by_name && next == "=");
  }
  model::ParseOptions out{.bindings = {{"CUDA_VERSION", kVersion}, {"CUDART_VERSION", kVersion}},
                          .defined = {},
                          .kernel_name = {}};
  for (const auto& [name, known] : declared) {
    for (const auto& [pattern, value] : kNamed)
      if (!known && std::regex_match(name, pattern)) out.bindings[name] = value;
    if (const auto width = widths.find(name); !known && width != widths.end())
      out.bindings.emplace(name, width->second);
  }
  return out;
}

}  // namespace warpath
