#include <doctest/doctest.h>

#include <string>

#include "tests/moves/triton/triton_case.h"

using namespace warpath;
using test::TritonCase;

namespace {

/// Rows of n; m of them.
TritonCase rows(std::int64_t n, std::int64_t m, const std::string& body) {
  return {"output: float16 y[m, n]\ninput: float16 x[m, n]\nscalar: int32 m = " +
              std::to_string(m) + "\nscalar: int32 n = " + std::to_string(n) +
              "\ngrid: m\nblock: 128\ntunable: T = 1024 of 512, 1024\n",
          "(y, x, m, n, T: tl.constexpr):\n    row = tl.program_id(0)\n    i = tl.arange(0, T)\n" +
              body};
}

constexpr const char* kCopy =
    "    tl.store(y + row * n + i, tl.load(x + row * n + i, mask=i < n), mask=i < n)\n";

std::string step(int multiple) {
  return "triton_size_multiple@argument:n(multiple=" + std::to_string(multiple) + ")";
}

}  // namespace

TEST_SUITE_BEGIN("triton_moves");

TEST_CASE("a size is written as the greatest multiple that it is at all sizes") {
  CHECK(rows(1000, 7, kCopy).offered("triton_size_multiple") == "@argument:n(multiple=8)");
  CHECK(rows(1004, 7, kCopy).offered("triton_size_multiple") == "@argument:n(multiple=4)");
  CHECK(rows(1006, 7, kCopy).offered("triton_size_multiple") == "@argument:n(multiple=2)");
  CHECK(rows(1007, 7, kCopy).offered("triton_size_multiple").empty());
  CHECK(rows(1008, 8, kCopy).offered("triton_size_multiple").empty());
  CHECK(rows(1008, 8, kCopy).after(step(8)) == "Triton knows what it is a multiple of");
  CHECK(rows(1000, 7, kCopy).after(step(4)) ==
        "it is not a multiple of that, or of more, at all sizes");
  CHECK(rows(1000, 7, kCopy).after("triton_size_multiple@argument:k(multiple=8)") ==
        "no size is passed at argument:k");
  TritonCase one = rows(1000, 7, kCopy);
  KernelSpec& spec = one.spec;
  spec.workloads.push_back(spec.workloads.front());
  spec.workloads.back().scalars["n"] = std::int64_t{1016};
  CHECK(one.offered("triton_size_multiple") == "@argument:n(multiple=8)");
  CHECK(one.after(step(8)) ==
        "(y, x, m, n, T: tl.constexpr):\n    n_multiple = n // 8 * 8\n    row = tl.program_id(0)\n"
        "    i = tl.arange(0, T)\n    tl.store(y + row * n_multiple + i, tl.load(x + row * "
        "n_multiple + i, mask=i < n_multiple), mask=i < n_multiple)\n");
  spec.workloads.back().scalars["n"] = std::int64_t{1020};
  one.variant.versions.clear();
  CHECK(one.take(step(8)).after(step(8)) == "it is written as one already");
}

TEST_CASE("a size on which no address or mask depends stays") {
  CHECK(rows(1000, 8, "    tl.store(y + row * T + i, n)\n").after(step(8)) ==
        "no address or mask depends on it");
  CHECK(rows(1000, 8, "    tl.store(y + row * n, 1.0)\n").after(step(8)) ==
        "no address or mask depends on it");
  CHECK(rows(1000, 8, "    n = n + 1\n" + std::string(kCopy)).after(step(8)) ==
        "the kernel changes it");
  CHECK(rows(1000, 8, "    width = n.to(tl.int64)\n    tl.store(y + row * width + i, 1.0)\n")
            .after(step(8))
            .find("width = n_multiple.to(tl.int64)") != std::string::npos);
}

TEST_CASE("masks go with a size as a multiple, and in either order to the same text") {
  const std::string mask = "triton_mask_off@masks";
  TritonCase one = rows(1000, 8,
                        "    for k in range(0, n, 8):\n        tl.store(y + row * n + k + "
                        "tl.arange(0, 8), 1.0, mask=k + tl.arange(0, 8) < n)\n"),
             other = one;
  CHECK(one.take(step(8)).after(mask) == other.take(mask).after(step(8)));
  CHECK(one.after(mask).find("mask") == std::string::npos);
}

TEST_SUITE_END();
