#include "engine/text/source_edit.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "engine/base/error.h"

namespace warpath {

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (at > edit.begin)
      throw ConflictingEdits("two edits of the source meet: one ends in front of \"" +
                             std::string(source.substr(at, 20)) +
                             "\", the next begins before that");
    WARPATH_CHECK(edit.begin <= edit.end && edit.end <= source.size());
    out += source.substr(at, edit.begin - at);
    const std::size_t word = out.find_last_not_of(" \t");
    // a directive has a line of its own
    if (edit.text.starts_with('#') && word != std::string::npos && out[word] != '\n') out += '\n';
    out += edit.text;
    at = edit.end;
  }
  out += source.substr(at);
  return out;
}

std::optional<FunctionText> find_kernel(const CodeText& code, std::string_view kernel_name) {
  kernel_name = kernel_name.substr(0, kernel_name.find('<'));
  if (const std::size_t colons = kernel_name.rfind("::"); colons != std::string_view::npos)
    kernel_name.remove_prefix(colons + 2);
  while (!kernel_name.empty() && kernel_name.back() == ' ') kernel_name.remove_suffix(1);
  std::optional<FunctionText> found;
  for (const FunctionText& function : find_functions(code, {})) {
    if (code.text[function.name] != kernel_name) continue;
    if (found) return std::nullopt;
    found = function;
  }
  return found;
}

std::optional<std::int64_t> integer_value(std::string_view literal) {
  std::string digits;
  for (const char c : literal) {
    if (c != '\'') digits += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'l' || digits.back() == 'z'))
    digits.pop_back();
  int base = 10;
  std::size_t prefix = 0;
  if (digits.starts_with("0x")) {
    base = 16, prefix = 2;
  } else if (digits.starts_with("0b")) {
    base = 2, prefix = 2;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8, prefix = 1;
  }
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data() + prefix, end, value, base);
  if (error != std::errc() || stopped != end || value < 0) return std::nullopt;
  return value;
}

std::vector<std::int64_t> integer_literals(const CodeText& code) {
  std::vector<std::int64_t> out;
  const auto note = [&](const Token& token) {
    if (token.kind != TokenKind::number) return;
    if (const auto value = integer_value(spelling(code.source, token))) out.push_back(*value);
  };
  for (const Token& token : code.tokens) {
    note(token);
    if (token.kind != TokenKind::directive) continue;
    for (const Token& inside : tokenize_directive(code.source, token).tokens) note(inside);
  }
  return out;
}

std::string_view line_end(std::string_view source) {
  const std::size_t at = source.find('\n');
  return at != std::string_view::npos && at > 0 && source[at - 1] == '\r' ? "\r\n" : "\n";
}

void indent_lines(std::string_view source,
                  std::size_t begin,
                  std::size_t end,
                  std::string_view indent,
                  std::vector<Edit>& edits) {
  const std::size_t others = edits.size();
  for (std::size_t at = begin; at < end;) {
    const std::size_t stop = std::min(source.find('\n', at), source.size());
    const auto replaces = [&](const Edit& edit) { return edit.begin < at && at < edit.end; };
    const bool stays = std::ranges::none_of(std::span(edits).first(others), replaces);
    if (stays && stop > at && source[at] != '\r') edits.push_back({at, at, std::string(indent)});
    at = stop + 1;
  }
}

std::size_t line_begin(std::string_view source, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : source.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

}  // namespace warpath
