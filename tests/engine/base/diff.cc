#include "engine/base/diff.h"

#include <doctest/doctest.h>

#include <charconv>
#include <string>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t feed = text.find('\n', start);
    const std::size_t end = feed == std::string::npos ? text.size() : feed + 1;
    lines.push_back(text.substr(start, end - start));
    start = end;
  }
  return lines;
}

/// Applies a unified diff strictly: every kept and removed line must be where the hunk says.
std::string patched(const std::string& before, const std::string& diff) {
  const auto source = lines_of(before);
  auto edits = lines_of(diff);
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 2; i < edits.size(); ++i) {
    std::string& edit = edits[i];
    if (i + 1 < edits.size() && edits[i + 1][0] == '\\') edit.pop_back();
    if (edit.starts_with("@@ -")) {
      std::size_t start = 0;
      const auto end = std::from_chars(edit.data() + 4, edit.data() + edit.size(), start).ptr;
      const bool empty = std::string_view(end, 2) == ",0";
      for (; at + (empty ? 0 : 1) < start; ++at) out += source.at(at);
    } else if (edit[0] == '+') {
      out += edit.substr(1);
    } else if (edit[0] != '\\') {
      if (source.at(at) != edit.substr(1))
        return "a hunk does not match line " + std::to_string(at + 1);
      if (edit[0] == ' ') out += source[at];
      ++at;
    }
  }
  for (; at < source.size(); ++at) out += source[at];
  return out;
}

std::string random_text(Rng& rng) {
  std::string text;
  const std::uint64_t lines = rng.below(30);
  for (std::uint64_t i = 0; i < lines; ++i)
    text +=
        "line " + std::to_string(rng.below(6)) + (i + 1 < lines || rng.below(2) == 0 ? "\n" : "");
  return text;
}

}  // namespace

TEST_SUITE("diff") {
  TEST_CASE("equal texts have no difference") {
    CHECK(unified_diff("a\nb\n", "a\nb\n", "a", "b").empty());
    CHECK(unified_diff("", "", "a", "b").empty());
  }

  TEST_CASE("one changed line shows with three lines of context") {
    CHECK(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "old",
                       "new") ==
          "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  }

  TEST_CASE("a text without a last line feed says so") {
    CHECK(unified_diff("a", "b\n", "x", "x") ==
          "--- x\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
  }

  TEST_CASE("applying the difference gives the second text, whatever the two are") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "diff");
      const std::string before = random_text(rng);
      std::string after = rng.below(2) == 0 ? before : random_text(rng);
      if (rng.below(2) == 0) after.insert(after.size() / 2, "new\n");
      if (before == after) continue;
      REQUIRE(patched(before, unified_diff(before, after, "x", "x")) == after);
    }
  }

  TEST_CASE("texts with more changes than the search follows are replaced whole") {
    std::string before;
    std::string after;
    for (int i = 0; i < kMaxEdits; ++i) {
      before += "before " + std::to_string(i) + "\n";
      after += "after " + std::to_string(i) + "\n";
    }
    CHECK(patched(before, unified_diff(before, after, "x", "x")) == after);
  }
}
