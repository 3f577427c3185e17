#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpath {

[[nodiscard]] inline std::string number(std::int64_t value) {
  return std::to_string(value);
}

/// Indented lines of C, for moves that write a new body.
class CodeWriter {
 public:
  explicit CodeWriter(std::string unit = "  ", int depth = 1)
      : unit_(std::move(unit)), depth_(depth) {}

  /// Appends one line at the current depth; an empty one without blanks.
  CodeWriter& line(std::string_view text) {
    if (!text.empty()) out_ += indent();
    out_ += text;
    out_ += '\n';
    return *this;
  }
  /// Appends each line of `text` at the current depth; nothing for an empty text.
  CodeWriter& lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return *this;
  }
  CodeWriter& open(std::string_view header) {
    return line(std::string(header) + " {"), ++depth_, *this;
  }
  CodeWriter& block() { return line("{"), ++depth_, *this; }
  CodeWriter& close() { return --depth_, line("}"); }
  [[nodiscard]] std::string indent() const {
    std::string out;
    for (int i = 0; i < depth_; ++i) out += unit_;
    return out;
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string unit_;
  int depth_ = 1;
  std::string out_;
};

/// Where to insert lines before the statement at byte `at`: the start of its line, or `at` itself
/// if other code precedes it there.
[[nodiscard]] inline std::size_t line_of_statement(std::string_view source, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && (source[begin - 1] == ' ' || source[begin - 1] == '\t')) --begin;
  return begin == 0 || source[begin - 1] == '\n' ? begin : at;
}

}  // namespace warpath
