#include "moves/triton/triton_bounds.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/moves/triton/triton_case.h"

using namespace warpath;
using test::TritonCase;

namespace {

/// "least .. greatest", each as a value and as Python, of the last line's value; "?" if unknown.
std::string bounds(const std::string& lines) {
  const TritonCase one(
      "output: float32 y[n]\nscalar: int32 n = 1000\nscalar: int32 m = 64\nscalar: uint32 u = "
      "8\nscalar: int32 w = 5\ngrid: ceil_div(n, T); "
      "m\n"
      "block: 128\ntunable: T = 32 of 16, 32, 64\ntunable: num_warps = 4 of 4, 8\n",
      "(y, n, m, u, v, T: tl.constexpr, D: tl.constexpr = 3, w: tl.constexpr = 4):\n" + lines);
  const MoveContext context = one.context();
  const TritonKernel kernel(context);
  REQUIRE(kernel.problem().empty());
  TritonBounds bounds(kernel, context, one.spec.workloads.front());
  const auto found = bounds.of(*kernel.statement(kernel.last() - 1).value);
  if (!found) return "?";
  const auto text = [](const TritonBound& bound) {
    const std::string value = std::to_string(bound.value);
    return bound.text == value ? value : value + " = " + bound.text;
  };
  return text(found->least) + (found->exact ? "" : " .. " + text(found->greatest));
}

}  // namespace

TEST_SUITE_BEGIN("triton_bounds");

TEST_CASE("programs are those of the grid, blocks count up") {
  CHECK(bounds("    tl.program_id(0)\n") == "0 .. 31 = (1000 + T - 1) // T - 1");
  CHECK(bounds("    tl.program_id(axis=1)\n") == "0 .. 63");
  CHECK(bounds("    tl.num_programs(0)\n") == "32 = (1000 + T - 1) // T");
  CHECK(bounds("    tl.arange(0, T)[None, :]\n") == "0 .. 31 = T - 1");
  CHECK(bounds("    i = tl.program_id(0) * T + tl.arange(0, T)\n    i[:, None].to(tl.int64)\n") ==
        "0 .. 1023 = ((1000 + T - 1) // T - 1) * T + T - 1");
}

TEST_CASE("arithmetic of constants, arguments and what they bound") {
  CHECK(bounds("    n - m * 2\n") == "872");
  CHECK(bounds("    tl.cdiv(n, T) + T\n") == "64 = (1000 + T - 1) // T + T");
  CHECK(bounds("    n - tl.arange(0, T)\n") == "969 = 1000 - (T - 1) .. 1000");
  CHECK(bounds("    tl.arange(0, 64) // 16\n") == "0 .. 3");
  CHECK(bounds("    tl.arange(0, 64) % 16\n") == "0 .. 15");
  CHECK(bounds("    min(tl.arange(0, 8), m)\n") == "0 .. 7");
  CHECK(bounds("    a, b = T, n\n    a * b\n") == "32000 = T * 1000");
}

TEST_CASE("a loop's variable is below its end, and one step below where all is known") {
  CHECK(bounds("    for i in range(0, n, T):\n        i\n") == "0 .. 992 = 999 // T * T");
  CHECK(bounds("    for i in tl.range(m):\n        i + 1\n") == "1 .. 64");
  CHECK(bounds("    p = tl.program_id(1)\n    for i in range(p, n, 7):\n        i\n") ==
        "0 .. 999");
  CHECK(bounds("    for i in range(m, n, 0 - T):\n        i\n") == "?");
  CHECK(bounds("    p = tl.program_id(1)\n    for i in tl.range(p, 0, step=-1):\n        i\n") ==
        "?");
}

TEST_CASE("a loop that counts down is above its end") {
  CHECK(bounds("    for i in range((tl.cdiv(n, T) - 1) * T, -1, -T):\n        i\n") ==
        "0 .. 992 = ((1000 + T - 1) // T - 1) * T");
  CHECK(bounds("    for i in tl.range(n - 1, m - 1, -1):\n        i\n") == "64 .. 999");
  CHECK(bounds("    -tl.arange(0, T) - 1\n") == "-32 = 0 - (T - 1) - 1 .. -1");
}

TEST_CASE("what is not certain has no bounds") {
  for (const char* const lines :
       {"    tl.load(y)\n", "    D\n", "    num_warps\n", "    i = 1\n    i = 2\n    i\n",
        "    i = 1\n    i += 2\n    i\n", "    n = 3\n    n\n", "    i = i + 1\n    i\n",
        "    (0 - tl.arange(0, 4)) * 2\n", "    n // (m - 64)\n", "    tl.arange(0, 4)[2]\n",
        "    n * n * n * n\n", "    tl.arange(0, 256).to(tl.int8)\n",
        "    i = 0 - n\n    i.to(tl.uint32)\n", "    u\n", "    w\n",
        "    for i in tl.static_range(4):\n        i\n"})
    CHECK_MESSAGE(bounds(lines) == "?", lines);
}

TEST_SUITE_END();
