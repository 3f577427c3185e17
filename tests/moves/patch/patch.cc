#include "moves/patch/patch.h"

#include <doctest/doctest.h>

#include "engine/base/diff.h"
#include "engine/base/rng.h"

using namespace warpath;

namespace {

constexpr const char* kSource =
    "__global__ void scale(float* y, const float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) {\n"
    "    y[i] = 2.0f * x[i];\n"
    "  }\n"
    "}\n"
    "\n"
    "__global__ void shift(float* y, const float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) {\n"
    "    y[i] = 2.0f + x[i];\n"
    "  }\n"
    "}\n";

std::string patched(const std::string& patch, const std::string& source = kSource) {
  std::string why;
  const auto out = apply_patch(source, patch, why);
  REQUIRE_MESSAGE(out.has_value(), why);
  return *out;
}

std::string refusal(const std::string& patch, const std::string& source = kSource) {
  std::string why;
  const auto out = apply_patch(source, patch, why);
  REQUIRE_FALSE(out.has_value());
  CHECK(why.find('\n') == std::string::npos);
  return why;
}

std::string block(const std::string& search, const std::string& replace) {
  return "<<<<<<< SEARCH\n" + search + "=======\n" + replace + ">>>>>>> REPLACE\n";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("patch");

TEST_CASE("the form of a patch is told by its marks") {
  CHECK(patch_form("__global__ void k() {}\n") == PatchForm::whole);
  CHECK(patch_form(block("a\n", "b\n")) == PatchForm::blocks);
  CHECK(patch_form("--- a/k.cu\n+++ b/k.cu\n@@ -1 +1 @@\n-a\n+b\n") == PatchForm::unified);
  CHECK(patch_form("Here it is:\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n") == PatchForm::unified);
}

TEST_CASE("a whole source replaces everything, with or without a fence around it") {
  const std::string next = "__global__ void scale(float* y) {}\n";
  CHECK(patched(next) == next);
  CHECK(patched("Faster:\n```cuda\n" + next + "```\nDone.\n") == next);
  CHECK(contains(refusal("I would use shared memory.\n"), "__global__"));
  CHECK(contains(refusal(kSource), "changes nothing"));
  CHECK(contains(refusal(std::string(kMaxPatchBytes + 1, 'x')), "1 MiB"));
}

TEST_CASE("a whole source is in the language of the one that it replaces") {
  std::string why;
  const std::string python = "@triton.jit\ndef k(o):\n    pass\n";
  const std::string other = "@triton.jit\ndef k(o):\n    return\n";
  CHECK(warpath::apply_patch(python, other, why) == other);
  CHECK_FALSE(warpath::apply_patch(python, "__global__ void k() {}\n", why).has_value());
  CHECK(contains(why, "@triton.jit"));
}

TEST_CASE("a block replaces the one place where its lines stand") {
  CHECK(patched(block("    y[i] = 2.0f * x[i];\n", "    y[i] = x[i] + x[i];\n")) ==
        with(kSource, "2.0f * x[i]", "x[i] + x[i]"));
  CHECK(patched(block("    y[i] = 2.0f * x[i];\n", "")) ==
        with(kSource, "    y[i] = 2.0f * x[i];\n", ""));
  const std::string two = block("    y[i] = 2.0f * x[i];\n", "    y[i] = 3.0f * x[i];\n") +
                          "and\n" + block("    y[i] = 3.0f * x[i];\n", "    y[i] = 4.0f * x[i];\n");
  CHECK(patched(two) == with(kSource, "2.0f * x", "4.0f * x"));
}

TEST_CASE("blanks may differ, and the replacement is indented as the place is") {
  CHECK(patched(block("y[i] =  2.0f *\tx[i];\n", "float t = x[i];\ny[i] = t + t;\n")) ==
        with(kSource, "    y[i] = 2.0f * x[i];\n", "    float t = x[i];\n    y[i] = t + t;\n"));
  CHECK(patched(block("    y[i] = 2.0f * x[i];   \n", "    y[i] = 0;\n")) ==
        with(kSource, "2.0f * x[i]", "0"));
  CHECK(patched(block("\n    y[i] = 2.0f * x[i];\n\n", "\n    y[i] = 0;\n\n")) ==
        with(kSource, "2.0f * x[i]", "0"));
}

TEST_CASE("an exact place is preferred to one that differs in blanks") {
  const std::string source = "__global__ void k() {\n  a();\n    a();\n}\n";
  CHECK(patched(block("  a();\n", "  b();\n"), source) ==
        "__global__ void k() {\n  b();\n    a();\n}\n");
  CHECK(contains(refusal(block("a();\n", "b();\n"), source), "source lines 2 and 3"));
}

TEST_CASE("a block that does not fit says which line and what is there") {
  CHECK(contains(refusal(block("  if (i < n) {\n", "  {\n")),
                 "block 1 of 1: expected one place, its lines stand at source lines 3 and 10"));
  const std::string near = refusal(block("    y[i] = 2.0f * x[j];\n", ""));
  CHECK(contains(
      near,
      "block 1 of 1, line 1: expected \"y[i] = 2.0f * x[j];\", the nearest is source line 4"));
  const std::string later = refusal(block("  if (i < n) {\n    y[i] = 2.0f / x[i];\n", ""));
  CHECK(contains(
      later, "line 2: expected \"y[i] = 2.0f / x[i];\", source line 4 is \"y[i] = 2.0f * x[i];\""));
  CHECK(contains(refusal(block("completely different\n", "")), "nowhere"));
  CHECK(contains(refusal(block("", "x\n")), "nothing to search"));
  CHECK(contains(refusal("<<<<<<< SEARCH\na\n"), "\"=======\" is missing"));
  CHECK(contains(refusal("<<<<<<< SEARCH\na\n=======\nb\n"), "REPLACE"));
}

TEST_CASE("a diff is applied at its lines, or at the one other place where it fits") {
  const std::string next = with(kSource, "2.0f * x[i]", "x[i] + x[i]");
  const std::string diff = unified_diff(kSource, next, "a/k.cu", "b/k.cu");
  CHECK(patched(diff) == next);
  const std::string header = "// A line more.\n// And another.\n";
  CHECK(patched(diff, header + kSource) == header + next);
}

TEST_CASE("counts and numbers in a hunk's header may be wrong or missing") {
  const std::string next = with(kSource, "2.0f * x[i]", "0");
  const std::string body = "   if (i < n) {\n-    y[i] = 2.0f * x[i];\n+    y[i] = 0;\n   }\n";
  for (const char* header : {"@@ -99,1 +99,9 @@\n", "@@ -3,50 +3,50 @@ void scale\n", "@@\n"}) {
    CAPTURE(header);
    CHECK(patched(std::string("--- a\n+++ b\n") + header + body) == next);
  }
}

TEST_CASE("where a hunk fits at several places its line decides; without one it is refused") {
  const std::string body = "   if (i < n) {\n+    // Only here.\n";
  CHECK(patched("@@ -10,1 +10,2 @@\n" + body) ==
        with(kSource, "    y[i] = 2.0f + x[i]", "    // Only here.\n    y[i] = 2.0f + x[i]"));
  CHECK(contains(refusal("@@ -5,1 +5,2 @@\n" + body),
                 "it fits at source lines 3 and 10, none of them line 5"));
}

TEST_CASE("context at the ends may differ in up to two lines, what is removed may not") {
  const std::string changed = with(kSource, "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                                   "  int i = threadIdx.x;\n");
  const std::string next = with(kSource, "2.0f * x[i]", "0");
  const std::string diff = unified_diff(kSource, next, "a", "b");
  CHECK(patched(diff, changed) == with(changed, "2.0f * x[i]", "0"));
  CHECK(contains(refusal(diff, with(kSource, "2.0f * x", "3.0f * x")), "hunk 1 of 1"));
}

TEST_CASE("line ends and a missing last one stay") {
  std::string source(kSource), windows;
  for (const char c : source) windows += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string out =
      patched(block("    y[i] = 2.0f * x[i];\n", "    y[i] = 0;\n    ++i;\n"), windows);
  CHECK(contains(out, "y[i] = 0;\r\n    ++i;\r\n"));
  CHECK(patched(block("}\n", "};\n"), "__global__ void k() {\n}") == "__global__ void k() {\n};");
  CHECK(patched("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "a\n") == "b");
}

TEST_CASE("a diff of several files is refused") {
  CHECK(contains(refusal("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- c\n+++ d\n@@ -1 +1 @@\n-x\n+y\n"),
                 "several files"));
  CHECK(contains(refusal("--- a\n+++ b\n"), "no hunk"));
}

TEST_CASE(
    "a diff between random texts leads from the one to the other, wherever lines were put before "
    "it") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "patch");
    std::string before, after;
    const std::uint64_t lines = 1 + rng.below(40);
    for (std::uint64_t i = 0; i < lines; ++i) {
      const std::string line = "line " + std::to_string(i) + std::string(rng.below(3), ' ') + "\n";
      if (rng.below(8) != 0) before += line;
      if (rng.below(8) == 0) after += "new " + std::to_string(i) + "\n";
      if (rng.below(8) != 0) after += line;
    }
    if (before == after) continue;
    const std::string diff = unified_diff(before, after, "a", "b");
    std::string why;
    const auto out = apply_patch(before, diff, why);
    REQUIRE_MESSAGE(out.has_value(), why);
    CHECK(*out == after);
    if (before.empty()) continue;
    const std::string shift = "first\nsecond\n";
    const auto moved = apply_patch(shift + before, diff, why);
    if (moved) CHECK(*moved == shift + after);
  }
}

TEST_CASE("no text crashes it, and an answer is a change or a reason") {
  const std::vector<std::string> pieces{
      "<<<<<<< SEARCH\n",
      "=======\n",
      ">>>>>>> REPLACE\n",
      "@@ -1,2 +3,4 @@\n",
      "@@\n",
      "--- a\n",
      "+++ b\n",
      "-x\n",
      "+y\n",
      " x\n",
      "x\n",
      "\\ No newline\n",
      "\n",
      "```\n",
      "\r\n",
      "@@ -99999999999999999999 +1 @@\n",
      "@@ -18446744073709551615,18446744073709551615 +1,18446744073709551615 @@\n",
      "__global__",
      "\t",
      std::string(1, '\0'),
      "y"};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "patch-fuzz");
    std::string source, patch;
    for (std::uint64_t i = rng.below(12); i > 0; --i) source += rng.below(2) == 0 ? "x\n" : "y\n";
    for (std::uint64_t i = rng.below(16); i > 0; --i) patch += pieces[rng.below(pieces.size())];
    std::string why;
    const auto out = apply_patch(source, patch, why);
    CHECK((out ? *out != source : !why.empty()));
  }
}

TEST_SUITE_END();
