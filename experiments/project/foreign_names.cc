#include "experiments/project/foreign_names.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "experiments/project/kernel_words.h"

namespace warpath {
namespace {

/// The types between `<` at `open` and its `>`, which goes to `close`; empty if they are no words.
std::vector<std::string> types_in(const Words& words, std::size_t open, std::size_t& close) {
  std::vector<std::string> out{""};
  for (std::size_t i = open + 1; i < words.size(); ++i) {
    const std::string word(words.text(i));
    if (word == ">") {
      close = i;
      return out;
    }
    if (word == ",") {
      out.emplace_back();
    } else if (words.is_name(i) || word == "::" || word == "*") {
      std::string& type = out.back();
      const bool apart = !type.empty() && word != "::" && !type.ends_with("::");
      type += (apart ? " " : "") + word;
    } else {
      break;
    }
  }
  return {};
}

/// Functions and macros: what stands behind the name of a type, or a #define.
std::set<std::string, std::less<>> declared_functions(const std::string& source,
                                                      const Words& words) {
  std::set<std::string, std::less<>> out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool behind_type = (words.is_name(i - 1) && words.text(i - 1) != "return") ||
                             words.text(i - 1) == ">" || words.text(i - 1) == "*";
    if (words.is_name(i) && words.text(i + 1) == "(" && behind_type) out.emplace(words.text(i));
  }
  for (const Token& token : tokenize(source).tokens) {
    if (token.kind != TokenKind::directive) continue;
    for (const Token& word : tokenize_directive(source, token).tokens)
      out.insert(spelling(source, word));
  }
  return out;
}

/// Where a name begins with the namespaces before it.
std::size_t begin_of(const Words& words, std::size_t i) {
  while (i > 1 && words.text(i - 1) == "::" && words.is_name(i - 2)) i -= 2;
  return words[i].begin;
}

std::set<std::string, std::less<>> declared_types(const Words& words) {
  std::set<std::string, std::less<>> out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view before = words.text(i - 1);
    if (before == "struct" || before == "class" || before == "using") out.emplace(words.text(i));
  }
  return out;
}

}  // namespace

std::string replacement_mark(const std::string& name) {
  return "/* " + name + " */ ";
}

std::string with_foreign_names(const std::string& source,
                               std::map<std::string, std::string>& replaced) {
  static const std::regex kCast("\\w*(convert|cast)", std::regex::icase);
  const Words words(source);
  const auto declared = declared_types(words);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words.is_name(i) || words.text(i + 1) != "<") continue;
    const std::string name(words.text(i));
    if (declared.contains(name) || !std::regex_match(name, kCast)) continue;
    std::size_t close = 0;
    const std::vector<std::string> types = types_in(words, i + 1, close);
    const std::size_t open = close + 3;
    if (types.size() != 2 || words.text(close + 1) != "::" || words.text(open) != "(") continue;
    const std::size_t end = words.closing(open);
    if (end == words.size()) continue;
    edits.push_back(
        {begin_of(words, i), words[open].begin,
         replacement_mark(name) + "static_cast<" + types[1] + ">(static_cast<" + types[0] + ">"});
    edits.push_back({words[end].end, words[end].end, ")"});
    replaced[name] = "a cast to its last argument";
  }
  static const std::regex kCeiling("\\w*(ceil_?div|div_?ceil|div_?up)\\w*", std::regex::icase);
  const auto functions = declared_functions(source, words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words.is_name(i) || words.text(i + 1) != "(") continue;
    const std::string name(words.text(i));
    if (functions.contains(name) || !std::regex_match(name, kCeiling)) continue;
    const std::size_t end = words.closing(i + 1);
    std::vector<std::size_t> commas;
    for (std::size_t k = i + 2, depth = 0; k < end; ++k) {
      const std::string_view word = words.text(k);
      if (word == "(" || word == "[" || word == "{" || word == "<") ++depth;
      if (word == ")" || word == "]" || word == "}" || word == ">") depth -= depth > 0 ? 1 : 0;
      if (word == "," && depth == 0) commas.push_back(k);
    }
    if (end == words.size() || commas.size() != 1) continue;
    // as text, so that it may stand for any two integers
    const std::string by =
        source.substr(words[commas[0]].end, words[end].begin - words[commas[0]].end);
    edits.push_back({begin_of(words, i), words[i + 1].end, replacement_mark(name) + "((("});
    edits.push_back({words[commas[0]].begin, words[commas[0]].end, ") + ("});
    edits.push_back({words[end].begin, words[end].end, ") - 1) / (" + by + "))"});
    replaced[name] = "a quotient that is rounded up";
  }
  return edited(source, std::move(edits));
}

}  // namespace warpath
