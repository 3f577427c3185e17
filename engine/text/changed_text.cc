#include "engine/text/changed_text.h"

#include <algorithm>
#include <cstring>

namespace warpath {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/// Where the line begins whose first token this is; nullopt if it is not the first.
std::optional<std::size_t> line_of_first(std::string_view source, const Token& token) {
  std::size_t at = token.begin;
  while (at > 0 && blank(source[at - 1])) --at;
  if (at == 0) return 0;
  if (source[at - 1] != '\n' || source[at - 1 - (at > 1 ? 1 : 0)] == '\\') return std::nullopt;
  return at > 2 && source[at - 2] == '\r' && source[at - 3] == '\\' ? std::nullopt
                                                                    : std::optional(at);
}

}  // namespace

CommonEnds common_ends(std::string_view a, std::string_view b) {
  constexpr std::size_t kStep = 256;
  const std::size_t shorter = std::min(a.size(), b.size());
  CommonEnds out;
  while (out.before + kStep <= shorter &&
         std::memcmp(a.data() + out.before, b.data() + out.before, kStep) == 0)
    out.before += kStep;
  while (out.before < shorter && a[out.before] == b[out.before]) ++out.before;
  const std::size_t left = shorter - out.before;
  while (out.behind + kStep <= left &&
         std::memcmp(a.data() + a.size() - out.behind - kStep,
                     b.data() + b.size() - out.behind - kStep, kStep) == 0)
    out.behind += kStep;
  while (out.behind < left && a[a.size() - 1 - out.behind] == b[b.size() - 1 - out.behind])
    ++out.behind;
  return out;
}

ChangedLines lines_around(std::string_view before,
                          const std::vector<Token>& tokens,
                          std::string_view after,
                          const CommonEnds& same) {
  const auto begins_before = [](const Token& t, std::size_t at) { return t.begin < at; };
  ChangedLines out;
  // the last line that begins before the difference
  auto first = std::lower_bound(tokens.begin(), tokens.end(), same.before, begins_before);
  while (first != tokens.begin()) {
    --first;
    if (const auto line = line_of_first(before, *first); line && *line <= same.before) {
      out.begin = *line;
      break;
    }
  }
  // the first one that begins, with its line end and what may splice it, behind the difference
  constexpr std::size_t kLineEnd = 3;
  const std::size_t behind = before.size() - same.behind + kLineEnd;
  out.old_end = before.size();
  auto rest = std::lower_bound(first, tokens.end(), behind, begins_before);
  for (; rest != tokens.end(); ++rest) {
    const auto line = line_of_first(before, *rest);
    if (!line || *line < behind) continue;
    out.old_end = *line;
    break;
  }
  out.first = static_cast<std::size_t>(first - tokens.begin());
  out.rest = static_cast<std::size_t>(rest - tokens.begin());
  out.end = after.size() - (before.size() - out.old_end);
  return out;
}

}  // namespace warpath
