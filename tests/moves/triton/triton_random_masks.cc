#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/rng.h"
#include "moves/triton/triton_bounds.h"
#include "tests/moves/triton/triton_case.h"
#include "tests/support/figure.h"
#include "tests/support/triton_interpreter.h"

using namespace warpath;
using test::InterpretedLaunch;
using test::TritonCase;
using test::TritonInterpreter;

namespace {

/// Random integers of a kernel, as Python.
class Integers {
 public:
  explicit Integers(std::uint64_t seed) : rng_(seed, "integers") {}

  std::string text(int depth) {
    if (depth == 0 || rng_.below(6) == 0) return pick(leaves_);
    const std::string a = text(depth - 1), b = text(depth - 1);
    switch (rng_.below(9)) {
      case 0:
      case 1:
        return "(" + a + " + " + b + ")";
      case 2:
        return "(" + a + " - " + b + ")";
      case 3:
        return "(" + a + " * " + pick(small_) + ")";
      case 4:
        return "(" + a + " // " + pick(small_) + ")";
      case 5:
        return "(" + a + " % " + pick(small_) + ")";
      case 6:
        return "tl.minimum(" + a + ", " + b + ")";
      case 7:
        return "tl.maximum(" + a + ", " + b + ")";
      default:
        return "tl.cdiv(" + a + ", " + pick(small_) + ")";
    }
  }
  /// "range(begin, end, step)" of a few small iterations.
  std::string range() {
    const std::vector<std::string> begins{"0", "p", "3", "m"}, ends{"8", "m + 5", "S + 1", "p + 4"},
        steps{"1", "S", "3"};
    const std::string begin = pick(begins), end = pick(ends), step = pick(steps);
    return rng_.below(3) == 0 ? "range(" + end + ", " + begin + ", -" + step + ")"
                              : "range(" + begin + ", " + end + ", " + step + ")";
  }
  /// A name for a value, for what comes behind it.
  void name(const std::string& local) { leaves_.push_back(local); }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[rng_.below(from.size())]; }

  Rng rng_;
  std::vector<std::string> leaves_{"i", "i", "p", "p", "k", "k",
                                   "n", "m", "T", "S", "3", "tl.num_programs(0)"},
      small_{"2", "3", "S", "T", "m", "(p + 1)", "(k + 1)", "(k + 2)"};
};

/// Marks the elements of every iteration for which `mask` holds.
TritonCase marking(const std::string& range, const std::string& a, const std::string& mask) {
  return {
      "inout: float32 y[m, 16, n + 32]\nscalar: int32 n = 64\nscalar: int32 m = 2\ngrid: "
      "ceil_div(n, T); m\nblock: 128\ntunable: T = 16 of 16, 32\ntunable: S = 2 of 2, 4\n",
      "(y, n, m, T: tl.constexpr, S: tl.constexpr):\n    p = tl.program_id(1)\n    i = "
      "tl.program_id(0) * T + tl.arange(0, T)\n    for k in " +
          range + ":\n        a = " + a +
          "\n        tl.store(y + (p * 16 + k) * (n + 32) + i, 1000.0, mask=" + mask + ")\n"};
}

/// A number as bounds read it.
std::string literal(std::int64_t value) {
  return value < 0 ? "0 - " + std::to_string(-value) : std::to_string(value);
}

}  // namespace

TEST_SUITE_BEGIN("triton_arithmetic");

TEST_CASE("masks of random integers are dropped where they hold, up to the bounds") {
  struct Launches {
    std::string text;
    std::size_t own, made;
    bool may_assert;
  };
  TritonInterpreter interpreter;
  std::vector<Launches> all;
  const char* const wanted = std::getenv("WARPATH_FUZZ_SEEDS");
  const std::uint64_t seeds = wanted == nullptr ? 80 : std::stoull(wanted);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Integers integers(seed);
    const std::string range = integers.range(), a = integers.text(2);
    integers.name("a");
    const std::string value = integers.text(2);
    // what the bounds say of the value, put to the test as a mask
    const TritonCase asked = marking(range, a, value + " < 0");
    const MoveContext context = asked.context();
    const TritonKernel kernel(context);
    REQUIRE(kernel.problem().empty());
    TritonBounds bounds(kernel, context, asked.spec.workloads.front());
    const auto found =
        bounds.of(*kernel.accesses().front().call->argument("mask")->children.front());
    if (!found) continue;
    for (const std::string& mask :
         {"(" + value + " <= " + literal(found->greatest.value) + ") & (i < n)",
          value + " >= " + literal(found->least.value)}) {
      TritonCase one = marking(range, a, mask);
      const Variant own = one.variant;
      if (one.offered("triton_mask_off").empty()) continue;
      one.take("triton_mask_off@masks");
      for (const auto& [tile, step] : {std::pair{16, 2}, {32, 4}}) {
        Variant before = own;
        before.tunables["T"] = one.variant.tunables["T"] = tile;
        before.tunables["S"] = one.variant.tunables["S"] = step;
        const Workload& workload = one.spec.workloads.front();
        all.push_back({one.variant.source, interpreter.add(one.spec, workload, before),
                       interpreter.add(one.spec, workload, one.variant), tile != 16});
      }
    }
  }
  const std::vector<InterpretedLaunch> launches = interpreter.run();
  std::size_t compared = 0, asserted = 0;
  for (const Launches& one : all) {
    CAPTURE(one.text);
    const InterpretedLaunch &own = launches[one.own], &made = launches[one.made];
    if (!own.end.empty()) continue;  // an element outside, or a division by zero
    if (one.may_assert && made.end.starts_with("AssertionError")) {
      ++asserted;
      continue;
    }
    CHECK(made.end == "");
    CHECK(made.written == own.written);
    ++compared;
  }
  testing::report_figure("triton_masks", compared);
  CHECK(compared > seeds);
  CHECK(asserted > 0);
}

TEST_SUITE_END();
