#include "moves/triton/triton_shapes.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/moves/triton/triton_case.h"

using namespace warpath;
using test::TritonCase;

namespace {

/// Extents of the last line's value, with blanks between; "?" if they are not known.
std::string shape(const std::string& lines) {
  const TritonCase one(
      "output: float32 y[n]\nscalar: int32 n = 1000\ngrid: n\nblock: 128\ntunable: T = 32 of 32\n",
      "(y, n, T: tl.constexpr):\n    i = tl.arange(0, T)\n    r = tl.arange(0, 8)\n" + lines);
  const TritonKernel kernel(one.context());
  REQUIRE(kernel.problem().empty());
  const auto found = TritonShapes(kernel).of(*kernel.statement(kernel.last() - 1).value);
  if (!found) return "?";
  std::string out;
  for (const std::string& extent : *found) out += (out.empty() ? "" : " ") + extent;
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("triton_shapes");

TEST_CASE("blocks have the extents of arange, and axes of one element") {
  CHECK(shape("    y + n * 3\n") == "");
  CHECK(shape("    i\n") == "T");
  CHECK(shape("    tl.arange(4, T)\n") == "T - 4");
  CHECK(shape("    y + i[None, :]\n") == "1 T");
  CHECK(shape("    (i < n)[:, None].to(tl.int32)\n") == "T 1");
}

TEST_CASE("operands are brought to one shape") {
  CHECK(shape("    r[:, None] * n + i[None, :]\n") == "8 T");
  CHECK(shape("    r[:, None] + i\n") == "8 T");
  CHECK(shape("    tl.load(y + r[:, None], mask=i[None, :] < n)\n") == "8 T");
  CHECK(shape("    tl.where(i < n, i, float(\"-inf\"))\n") == "T");
  CHECK(shape("    i + r\n") == "?");
}

TEST_CASE("a name has one shape, which what a loop adds to it keeps") {
  CHECK(
      shape("    p = y + i\n    for k in range(n):\n        p += T\n        p = p + k\n    p\n") ==
      "T");
  CHECK(shape("    y += n\n    y + i\n") == "T");
  CHECK(shape("    a, b = i, n\n    a * b\n") == "T");
  CHECK(shape("    p = y\n    p += i\n    p\n") == "?");
  CHECK(shape("    i = i[:, None]\n    i\n") == "?");
  CHECK(shape("    p = i\n    p = r\n    p\n") == "?");
}

TEST_CASE("what is not followed has no shape") {
  for (const char* const line : {"    tl.sum(i)\n", "    i.T\n", "    i[0]\n",
                                 "    i[:, None][None, :]\n", "    f(i)\n", "    (i, r)\n"})
    CHECK_MESSAGE(shape(line) == "?", line);
}

TEST_SUITE_END();
