#include "experiments/project/warp_steps.h"

#include <set>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "experiments/project/kernel_words.h"

namespace warpath {
namespace {

/// The end of the block that word `i` stands in.
std::size_t end_of_block(const Words& words, std::size_t i) {
  for (int depth = 0; i < words.size(); ++i) {
    if (words.text(i) == "{") ++depth;
    if (words.text(i) == "}" && --depth < 0) break;
  }
  return i;
}

/// Of a variable or parameter at `name`, the end of where it is known.
std::size_t end_of_scope(const Words& words, std::size_t name) {
  const std::string_view next = words.text(name + 1);
  if (next != "," && next != ")") return end_of_block(words, name);
  std::size_t i = name + 1;
  for (int depth = 0; i < words.size() && depth >= 0; ++i) {
    if (words.text(i) == "(") ++depth;
    if (words.text(i) == ")") --depth;
  }
  return words.text(i) == "{" ? words.closing(i) : i;
}

class WarpSteps {
 public:
  explicit WarpSteps(const std::string& source) : source_(source), words_(source) {}

  std::string written_out() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_.text(i) != "volatile") continue;
      std::size_t star = i + 1;
      while (words_.is_name(star)) ++star;
      if (star == i + 1 || words_.text(star) != "*" || !words_.is_name(star + 1)) continue;
      const std::string name(words_.text(star + 1));
      const std::size_t end = end_of_scope(words_, star + 1);
      for (std::size_t k = star + 2; k < end; ++k) statement(k, name);
    }
    return edited(source_, edits_);
  }

 private:
  /// `p[i] = expression;` and `p[i] += expression;` that begin at a word.
  void statement(std::size_t begin, const std::string& name) {
    const std::string_view before = words_.text(begin - 1);
    const bool first =
        before == ";" || before == "{" || before == "}" || before == ")" || before == "else";
    if (!first || words_.text(begin) != name || words_.text(begin + 1) != "[") return;
    const std::size_t bracket = words_.closing(begin + 1), assign = bracket + 1;
    const std::string_view op = words_.text(assign);
    if (op != "=" && op != "+=" && op != "*=") return;
    std::size_t end = assign + 1;
    bool reads = false;
    for (; end < words_.size() && words_.text(end) != ";"; ++end)
      reads = reads || (words_.text(end) == name && words_.text(end + 1) == "[");
    if (!reads || end == words_.size()) return;
    const std::string element = between(words_[begin].begin, words_[bracket].end),
                      value = between(words_[assign + 1].begin, words_[end].begin);
    const std::string sum = op == "=" ? value : element + " " + op.front() + " (" + value + ")";
    if (!begun_.insert(begin).second) return;
    edits_.push_back({words_[begin].begin, words_[end].end,
                      std::string(kWarpStep) + "{ const auto warp_step = " + sum +
                          "; __syncwarp(); " + element + " = warp_step; __syncwarp(); }"});
  }

  [[nodiscard]] std::string between(std::size_t begin, std::size_t end) const {
    return source_.substr(begin, end - begin);
  }

  const std::string& source_;
  Words words_;
  std::vector<Edit> edits_;
  std::set<std::size_t> begun_;
};

}  // namespace

std::string with_warp_steps(const std::string& source) {
  return WarpSteps(source).written_out();
}

}  // namespace warpath
