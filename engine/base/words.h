#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace warpath {

/// A table of words, written as one literal with blanks between them: WordList("for while do").
/// A range of string views in that order.
template <std::size_t size>
class WordList {
 public:
  consteval explicit WordList(const char (&text)[size]) {
    std::string_view rest(text, size - 1);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (end > 0) words_[count_++] = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  [[nodiscard]] constexpr auto begin() const { return words_.begin(); }
  [[nodiscard]] constexpr auto end() const {
    return words_.begin() + static_cast<std::ptrdiff_t>(count_);
  }
  [[nodiscard]] constexpr std::size_t count() const { return count_; }
  [[nodiscard]] constexpr bool contains(std::string_view word) const {
    return std::find(begin(), end(), word) != end();
  }

 private:
  std::array<std::string_view, size / 2> words_{};
  std::size_t count_ = 0;
};

}  // namespace warpath
