#include "engine/base/diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpath {
namespace {

using Lines = std::vector<std::string_view>;

/// Each with its line feed; the last may lack it.
Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto feed = text.find('\n');
    const std::size_t n = feed == std::string_view::npos ? text.size() : feed + 1;
    lines.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return lines;
}

enum class Op : char { keep = ' ', remove = '-', add = '+' };
struct ScriptEdit {
  Op op;
  std::string_view line;
};

void replace_all(const Lines& a, const Lines& b, std::vector<ScriptEdit>& edits) {
  for (const auto line : a) edits.push_back({Op::remove, line});
  for (const auto line : b) edits.push_back({Op::add, line});
}

/// Greedy forward search: furthest[k] is the furthest x on diagonal k = x - y after d edits; one
/// copy is kept for each d to walk back.
void shortest_edits(const Lines& a, const Lines& b, std::vector<ScriptEdit>& edits) {
  const int n = static_cast<int>(a.size());
  const int m = static_cast<int>(b.size());
  const int limit = std::min(n + m, kMaxEdits);
  const auto at = [limit](int k) {
    return static_cast<std::size_t>(std::ptrdiff_t{k} + limit + 1);
  };
  const auto line = [](const Lines& lines, int i) { return lines[static_cast<std::size_t>(i)]; };
  std::vector<int> furthest(2 * static_cast<std::size_t>(limit) + 3, 0);
  std::vector<std::vector<int>> history;
  const auto came_down = [&](const std::vector<int>& v, int k, int d) {
    return k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]);
  };
  int edit_count = -1;
  for (int d = 0; d <= limit && edit_count < 0; ++d) {
    history.push_back(furthest);
    for (int k = -d; k <= d; k += 2) {
      int x = came_down(furthest, k, d) ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      while (x < n && x - k < m && line(a, x) == line(b, x - k)) ++x;
      furthest[at(k)] = x;
      if (x >= n && x - k >= m) edit_count = d;
    }
  }
  if (edit_count < 0) return replace_all(a, b, edits);
  std::vector<ScriptEdit> reversed;
  int x = n;
  int y = m;
  for (int d = edit_count; d > 0; --d) {
    const std::vector<int>& v = history[static_cast<std::size_t>(d)];
    const int k = x - y;
    const bool down = came_down(v, k, d);
    const int before_x = down ? v[at(k + 1)] : v[at(k - 1)];
    const int before_y = before_x - (down ? k + 1 : k - 1);
    while (x > before_x + (down ? 0 : 1) && y > before_y + (down ? 1 : 0))
      --y, reversed.push_back({Op::keep, line(a, --x)});
    reversed.push_back(down ? ScriptEdit{Op::add, line(b, --y)}
                            : ScriptEdit{Op::remove, line(a, --x)});
  }
  while (x > 0) reversed.push_back({Op::keep, line(a, --x)});
  edits.insert(edits.end(), reversed.rbegin(), reversed.rend());
}

std::vector<ScriptEdit> edit_script(const Lines& a, const Lines& b) {
  const auto [head_a, head_b] = std::ranges::mismatch(a, b);
  const auto head = head_a - a.begin();
  std::ptrdiff_t tail = 0;
  while (tail < std::ssize(a) - head && tail < std::ssize(b) - head &&
         *(a.end() - 1 - tail) == *(b.end() - 1 - tail))
    ++tail;
  std::vector<ScriptEdit> edits;
  for (auto it = a.begin(); it != head_a; ++it) edits.push_back({Op::keep, *it});
  shortest_edits({head_a, a.end() - tail}, {head_b, b.end() - tail}, edits);
  for (auto it = a.end() - tail; it != a.end(); ++it) edits.push_back({Op::keep, *it});
  return edits;
}

std::string range_text(std::size_t start, std::size_t count) {
  // An empty range names the line before it.
  return std::to_string(count == 0 ? start : start + 1) +
         (count == 1 ? "" : "," + std::to_string(count));
}

}  // namespace

std::string unified_diff(std::string_view before,
                         std::string_view after,
                         std::string_view before_name,
                         std::string_view after_name) {
  if (before == after) return "";
  constexpr std::size_t kContext = 3;
  const Lines a = split(before);
  const Lines b = split(after);
  const std::vector<ScriptEdit> edits = edit_script(a, b);
  std::string out = "--- " + std::string(before_name) + "\n+++ " + std::string(after_name) + "\n";
  std::size_t line_a = 0;
  std::size_t line_b = 0;
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].op == Op::keep) {
      ++i, ++line_a, ++line_b;
      continue;
    }
    const std::size_t lead = std::min({kContext, line_a, line_b});
    const std::size_t first = i - lead;
    // one past the hunk: ends where more than two contexts of kept lines follow
    std::size_t end = i;
    for (std::size_t kept = 0, j = i; j < edits.size() && kept <= 2 * kContext; ++j) {
      kept = edits[j].op == Op::keep ? kept + 1 : 0;
      if (kept == 0) end = j + 1;
    }
    end = std::min(end + kContext, edits.size());
    std::string body;
    std::size_t count_a = 0;
    std::size_t count_b = 0;
    for (std::size_t j = first; j < end; ++j) {
      count_a += edits[j].op == Op::add ? 0 : 1;
      count_b += edits[j].op == Op::remove ? 0 : 1;
      body += static_cast<char>(edits[j].op);
      body += edits[j].line;
      if (!edits[j].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    out += "@@ -" + range_text(line_a - lead, count_a) + " +" + range_text(line_b - lead, count_b) +
           " @@\n" + body;
    line_a += count_a - lead;
    line_b += count_b - lead;
    i = end;
  }
  return out;
}

}  // namespace warpath
