#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/runners/host_bench.h"
#include "tests/support/figure.h"

using namespace warpath;
using namespace warpath::host;
using warpath::testing::report_figure;

TEST_SUITE_BEGIN("host_conformance");

TEST_CASE("integers of 8 and 16 bits in words, pairs of halves that are compared, and inverses") {
  HostBench bench;
  bench.open("packed_words.cu", {"packed_words", "pair_comparisons", "inverse_functions"});
  const int n = 64;
  const auto words = [&](unsigned factor) {
    return filled<unsigned>(n, [&](int i) { return static_cast<unsigned>(i + 1) * factor; });
  };
  const auto a = words(0x9e3779b9U), b = words(0x7f4a7c15U);
  const auto got = bench.in(a).in(b).out<unsigned>(640).scalar(n).values<unsigned>(
      "packed_words", {2, 1, 1}, {32, 1, 1});
  // `f` of the elements of `width` bits, as signed or unsigned numbers
  const auto each = [](unsigned x, unsigned y, unsigned width, bool is_signed, const auto& f) {
    unsigned out = 0;
    const auto element = [&](unsigned word, unsigned at) {
      const unsigned bits = word >> at & ((1U << width) - 1);
      const bool below = is_signed && (bits >> (width - 1)) != 0;
      return static_cast<int>(bits) - (below ? 1 << width : 0);
    };
    for (unsigned at = 0; at < 32; at += width)
      out |= (static_cast<unsigned>(f(element(x, at), element(y, at))) & ((1U << width) - 1)) << at;
    return out;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned x = a[i], y = b[i];
    const auto distance = [](int p, int q) { return std::abs(p - q); };
    unsigned sum = 0;
    each(x, y, 8, false,
         [&](int p, int q) { return sum += static_cast<unsigned>(distance(p, q)); });
    const unsigned expected[] = {
        each(x, y, 8, false, [](int p, int q) { return p + q; }),
        each(x, y, 8, false, [](int p, int q) { return std::max(p - q, 0); }),
        each(x, y, 8, false, [](int p, int q) { return std::max(p, q); }),
        each(x, y, 8, true, [](int p, int q) { return p > q ? -1 : 0; }),
        each(x, y, 8, false, distance),
        each(x, y, 16, true, [](int p, int q) { return std::clamp(p + q, -32768, 32767); }),
        each(x, y, 16, true, [](int p, int q) { return std::min(p, q); }),
        each(x, y, 16, false, [](int p, int q) { return p >= q ? 1 : 0; }),
        sum,
        static_cast<unsigned>(std::max({static_cast<int>(x), static_cast<int>(y), 0}))};
    for (std::size_t k = 0; k < std::size(expected); ++k) {
      CAPTURE(k);
      CHECK(got[k * n + i] == expected[k]);
    }
  }
  const std::vector<float> left{1, 2, -1, 3, NAN, 0, 0, 5}, right{2, 1, -1, 3, 1, 0, 1, NAN};
  const auto halves = [](const std::vector<float>& values) {
    std::vector<std::uint16_t> out;
    for (const float x : values) out.push_back(float_to_half(x));
    return out;
  };
  CHECK(bench.in(halves(left))
            .in(halves(right))
            .out<unsigned>(16)
            .scalar(4)
            .values<unsigned>("pair_comparisons", {1, 1, 1}, {4, 1, 1}) ==
        std::vector<unsigned>{0xffff0000U, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0});
  const auto share = filled<float>(32, [](int i) { return 0.98 * i / 31; });
  const auto back = bench.in(share).out<float>(96).scalar(32).values<float>("inverse_functions",
                                                                            {1, 1, 1}, {32, 1, 1});
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(back[i] == doctest::Approx(share[i]).epsilon(2e-6));
    CHECK(back[32 + i] == doctest::Approx(1 - share[i]).epsilon(2e-6));
    CHECK(back[64 + i] == doctest::Approx(0.5 + 0.5 * share[i]).epsilon(2e-6));
  }
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_SUITE_END();
