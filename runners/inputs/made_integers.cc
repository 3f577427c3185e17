#include "runners/inputs/made_integers.h"

#include <algorithm>
#include <cstddef>
#include <regex>
#include <string>
#include <vector>

#include "engine/text/function_text.h"

namespace warpath {
namespace {

/// An assignment or initialisation: tokens [begin, end) give a value to `name` or, if `is_element`,
/// to an element of it.
struct Assignment {
  std::size_t name = 0, begin = 0, end = 0;
  bool is_element = false;
};

/// All that `=` and `+=` and the like do, where a name or one of its elements is on the left.
std::vector<Assignment> assignments(const CodeText& code) {
  std::vector<Assignment> out;
  for (std::size_t k = 1; k < code.text.size(); ++k) {
    const std::string_view op = code.text[k];
    if (op.back() != '=' || op == "==" || op == "!=" || op == "<=" || op == ">=") continue;
    std::size_t name = k - 1;
    while (code.is(name, "]") && code.match[name] > 0) name = code.match[name] - 1;
    std::size_t end = k + 1;
    while (end < code.text.size() && !code.is(end, ";") && !code.is(end, ",") &&
           !code.is(end, ")") && !code.is(end, "}"))
      end = std::max(code.match[end], end) + 1;
    if (code.is_name(name))
      out.push_back({.name = name, .begin = k + 1, .end = end, .is_element = code.is(k - 1, "]")});
  }
  return out;
}

std::string_view text_of(const CodeText& code, std::size_t begin, std::size_t end) {
  const std::size_t first = code.tokens[begin].begin;
  return code.source.substr(first, code.tokens[end - 1].end - first);
}

/// An integer made of a number, or what is computed from one, stands in a subscript.
bool stands_in_subscript(std::string_view source) {
  const CodeText code(source);
  if (code.ambiguous || !code.balanced) return true;
  NameSet made, moved;  // names with such values, pointers among them
  const auto depends = [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (code.is_name(k) && made.contains(code.text[k])) return true;
    }
    return begin < end && makes_integers(text_of(code, begin, end));
  };
  const std::vector<Assignment> all = assignments(code);
  for (bool grows = true; grows;) {
    const std::size_t before = made.size();
    for (const Assignment& one : all) {
      if (!depends(one.begin, one.end)) continue;
      made.emplace(code.text[one.name]);
      if (!one.is_element) moved.emplace(code.text[one.name]);
    }
    grows = made.size() > before;
  }
  for (std::size_t k = 0; k < code.text.size(); ++k) {
    const bool is_base = k > 0 && code.is_name(k - 1) && moved.contains(code.text[k - 1]);
    if (code.is(k, "[") && (is_base || depends(k + 1, code.match[k]))) return true;
  }
  return false;
}

}  // namespace

bool makes_integers(std::string_view source) {
  static const std::regex kConversion(
      "\\( *(int|unsigned|unsigned int|u?int32_t) *\\)(?! *\\(?(block|thread|grid))|"
      "\\b(int|unsigned|u?int32_t) *\\( *[^ )]|"
      "static_cast *< *(unsigned|int|u?int32_t)|"
      "\\b(__(float|double|half)2u?(int|ll)|ll?(rint|round)|floor|ceil|trunc)");
  return std::regex_search(source.begin(), source.end(), kConversion);
}

bool makes_places(std::string_view source) {
  // Asked for each tensor of each input set, mostly of one kernel.
  static thread_local std::string known_source;
  static thread_local bool known = false;
  if (source != known_source) {
    known = stands_in_subscript(source);
    known_source = source;
  }
  return known;
}

}  // namespace warpath
