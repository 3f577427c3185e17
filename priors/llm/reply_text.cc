#include "priors/llm/reply_text.h"

#include <cstdint>
#include <vector>

#include "engine/base/format.h"

namespace warpath::llm {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string without_fence(const std::vector<std::string_view>& lines) {
  std::size_t begin = 0, end = lines.size();
  while (begin < end && trimmed(lines[begin]).empty()) ++begin;
  while (end > begin && trimmed(lines[end - 1]).empty()) --end;
  if (end - begin >= 2 && trimmed(lines[begin]).starts_with("```") &&
      trimmed(lines[end - 1]) == "```")
    ++begin, --end;
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += std::string(lines[i]) + "\n";
  return out;
}

}  // namespace

std::optional<WrittenKernel> written_kernel(std::string_view reply,
                                            std::string_view nonce,
                                            std::string& why) {
  const std::string begin = "===KERNEL BEGIN " + std::string(nonce) + "===";
  const std::string end = "===KERNEL END " + std::string(nonce) + "===";
  WrittenKernel out;
  std::vector<std::string_view> inside;
  enum class At : std::uint8_t { ahead, within, behind } at = At::ahead;
  for (const std::string_view line : lines_of(reply)) {
    const std::string_view word = trimmed(line);
    if (word == begin) {
      if (at != At::ahead) return why = "two kernels in one reply", std::nullopt;
      at = At::within;
    } else if (word == end) {
      if (at != At::within) return why = "the end of a kernel that did not begin", std::nullopt;
      at = At::behind;
    } else if (at == At::within) {
      inside.push_back(line);
    } else if (at == At::behind && word.starts_with("PLAN ")) {
      out.plan = trimmed(word.substr(5));
    } else if (at == At::behind && word.starts_with("CLAIM ")) {
      out.claims = trimmed(word.substr(6));
    }
  }
  if (at == At::ahead) return why = "no line '" + begin + "'", std::nullopt;
  if (at == At::within) return why = "no line '" + end + "'", std::nullopt;
  out.text = without_fence(inside);
  if (trimmed(out.text).empty()) return why = "nothing between the two lines", std::nullopt;
  return out;
}

}  // namespace warpath::llm
