#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tests/runners/host_bench.h"
#include "tests/support/figure.h"

using namespace warpath;
using namespace warpath::host;
using warpath::testing::report_figure;

namespace {

std::vector<int> iota(int count, int first = 0) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), first);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("host_conformance");

TEST_CASE("block barriers and shared memory") {
  HostBench bench;
  bench.open("barriers.cu", {"reverse_block", "block_sum", "predicates", "transpose", "indices",
                             "carved_arena", "sized_arena", "inclusive_scan"});

  CHECK(bench.in(iota(512)).out<int>(512).values<int>("reverse_block", {2, 1, 1}, {256, 1, 1}) ==
        filled<int>(512, [](int i) { return i / 256 * 256 + 255 - i % 256; }));

  const auto x = filled<float>(1000, [](int i) { return i % 7; });
  const auto sums = bench.in(x).out<float>(3).scalar(1000).values<float>("block_sum", {3, 1, 1},
                                                                         {64, 1, 1}, 64 * 4);
  CHECK(std::accumulate(sums.begin(), sums.end(), 0.0F) ==
        std::accumulate(x.begin(), x.end(), 0.0F));

  CHECK(bench.in(iota(96, 1)).out<int>(96).values<int>("predicates", {1, 1, 1}, {96, 1, 1}) ==
        std::vector<int>(96, 11048));
  CHECK(bench.in(iota(96, 0)).out<int>(96).values<int>("predicates", {1, 1, 1}, {96, 1, 1}) ==
        std::vector<int>(96, 1048));

  CHECK(bench.in(filled<float>(169, [](int i) { return i; }))
            .out<float>(169)
            .scalar(13)
            .values<float>("transpose", {2, 2, 1}, {8, 8, 1}) ==
        filled<float>(169, [](int i) { return i % 13 * 13 + i / 13; }));

  const auto indices =
      bench.out<int>(2 * 3 * 2 * 4 * 3 * 2).values<int>("indices", {2, 3, 2}, {4, 3, 2});
  CHECK(indices.front() == 0);
  CHECK(indices.back() == 3 + 20 + 100 + 1000 + 20000 + 100000);
  CHECK(indices[24 * 5 + 7] == 3 + 10 + 1000 + 20000);

  CHECK(bench.in(iota(40)).out<int>(40).values<int>("carved_arena", {1, 1, 1}, {40, 1, 1}, 320) ==
        filled<int>(40, [](int i) { return 2 * ((i + 1) % 40); }));
  CHECK(bench.in(iota(64)).out<int>(64).values<int>("sized_arena", {1, 1, 1}, {64, 1, 1}, 256) ==
        filled<int>(64, [](int i) { return i % 8 * 8 + i / 8; }));
  CHECK(bench.in(iota(128)).out<int>(128).values<int>("inclusive_scan", {1, 1, 1}, {128, 1, 1}) ==
        filled<int>(128, [](int i) { return i * (i + 1) / 2; }));
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("sums of a launch that rounds upwards are above those of one that rounds downwards") {
  HostBench bench;
  bench.open("barriers.cu", {"block_sum"});  // with barriers: its threads are contexts
  const auto sum = [&](Rounding rounding) {
    bench.in(std::vector<float>(999, 0.1F)).out<float>(1).scalar(999);
    const auto answer = bench.launch("block_sum", {1, 1, 1}, {32, 1, 1}, 32 * 4, Schedule::forward,
                                     Placement::canaries, rounding);
    REQUIRE_FALSE(answer.loss);
    REQUIRE(answer.reply.end == BlockEnd::done);
    return std::bit_cast<float>(
        *reinterpret_cast<const std::array<std::byte, 4>*>(answer.reply.outputs.at(0).data()));
  };
  const float nearest = sum(Rounding::nearest);
  CHECK(sum(Rounding::upward) > nearest);
  CHECK(sum(Rounding::downward) < nearest);
  CHECK(sum(Rounding::nearest) == nearest);
}

TEST_CASE("warp operations") {
  HostBench bench;
  bench.open("warps.cu",
             {"shuffles", "shuffles_in_segments", "shuffles_of_types", "warp_sums", "votes",
              "matches", "warp_reductions", "partial_warps", "warp_exchange", "active_masks"});
  const auto lane_of = [](int i) { return i % 32; };

  CHECK(bench.in(iota(64, 100)).out<int>(256).values<int>("shuffles", {1, 1, 1}, {64, 1, 1}) ==
        filled<int>(256, [&](int k) {
          const int i = k % 64, base = i - lane_of(i), lane = lane_of(i);
          const int source = k < 64    ? 3
                             : k < 128 ? (lane < 5 ? lane : lane - 5)
                             : k < 192 ? (lane + 7 > 31 ? lane : lane + 7)
                                       : lane ^ 9;
          return 100 + base + source;
        }));
  CHECK(bench.in(iota(32)).out<int>(128).values<int>("shuffles_in_segments", {1, 1, 1},
                                                     {32, 1, 1}) == filled<int>(128, [](int k) {
          const int i = k % 32;
          if (k < 32) return i / 8 * 8 + (i + 1) % 8;
          if (k < 64) return i % 8 < 2 ? i : i - 2;
          if (k < 96) return i % 16 + 2 > 15 ? i : i + 2;
          return i ^ 1;
        }));
  CHECK(bench.in(filled<double>(32, [](int i) { return i; }))
            .out<double>(32)
            .values<double>("shuffles_of_types", {1, 1, 1}, {32, 1, 1}) ==
        filled<double>(32, [](int i) { return (i ^ 1) + (i ^ 2) + (i ^ 4) + (i ^ 8); }));
  CHECK(bench.in(filled<float>(128, [](int i) { return i; }))
            .out<float>(4)
            .values<float>("warp_sums", {2, 1, 1}, {64, 1, 1}) ==
        filled<float>(4, [](int w) { return 32 * (32 * w) + 496; }));
  CHECK(bench.in(filled<int>(64, [](int i) { return i == 35 ? 3 : i % 2; }))
            .out<unsigned>(128)
            .values<unsigned>("votes", {1, 1, 1}, {64, 1, 1}) == filled<unsigned>(128, [](int i) {
          return i < 64 ? 0xaaaaaaaaU : i < 96 ? 1U : 3U;
        }));
  CHECK(bench.in(filled<int>(32, [](int i) { return i % 3; }))
            .out<unsigned>(64)
            .values<unsigned>("matches", {1, 1, 1}, {32, 1, 1}) == filled<unsigned>(64, [](int i) {
          unsigned mask = 0;
          for (int k = i % 3; k < 32; k += 3) mask |= 1U << k;
          return i < 32 ? mask : 0U;
        }));

  const auto v = filled<int>(32, [](int i) { return (i * 37 % 32 - 16) * 3; });
  const auto fold = [&](auto combine) {
    return std::accumulate(v.begin() + 1, v.end(), v[0], combine);
  };
  const std::vector<int> expected{
      fold([](int a, int b) { return a + b; }),
      fold([](int a, int b) { return std::min(a, b); }),
      fold([](int a, int b) { return std::max(a, b); }),
      fold([](int a, int b) { return a ^ b; }),
      fold([](int a, int b) { return a & b; }),
      fold([](int a, int b) { return a | b; }),
      fold([](int a, int b) {
        return static_cast<int>(std::max(static_cast<unsigned>(a), static_cast<unsigned>(b)));
      })};
  CHECK(bench.in(v).out<int>(224).values<int>("warp_reductions", {1, 1, 1}, {32, 1, 1}) ==
        filled<int>(224, [&](int i) { return expected[static_cast<std::size_t>(i / 32)]; }));

  const auto partial =
      bench.in(iota(32)).out<int>(48).scalar(24).launch("partial_warps", {1, 1, 1}, {32, 1, 1});
  REQUIRE_FALSE(partial.loss);
  const auto got = HostBench::as<int>(partial.reply.outputs.at(0));
  for (int i = 0; i < 24; ++i) CHECK(got[static_cast<std::size_t>(i)] == (i ^ 1));
  for (int i = 0; i < 16; ++i) CHECK(got[static_cast<std::size_t>(32 + i)] == 15 - i);

  CHECK(bench.in(iota(64)).out<int>(64).values<int>("warp_exchange", {1, 1, 1}, {64, 1, 1}) ==
        filled<int>(64, [](int i) { return i / 32 * 32 + (i % 32 + 2) % 32; }));
  const auto active = bench.inout(std::vector<unsigned>(32, 0))
                          .values<unsigned>("active_masks", {1, 1, 1}, {32, 1, 1});
  CHECK(active == filled<unsigned>(32, [](int i) { return i % 2 == 0 ? 0x55555555U : 0U; }));
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("atomics") {
  HostBench bench;
  bench.open("atomics.cu", {"integer_atomics", "wide_atomics", "floating_atomics", "half_atomics",
                            "float_max", "shared_histogram", "last_block", "handshake"});

  const auto integers = bench.inout(std::vector<int>{0, 0, 0, 0, -1, 0, 0})
                            .inout(std::vector<unsigned>{0, 0, 0})
                            .agree("integer_atomics", {4, 1, 1}, {64, 1, 1});
  CHECK(HostBench::as<int>(integers[0]) ==
        std::vector<int>{32640, -32640, -100, 155, ~255, (1 << 20) - 1, 0});
  CHECK(HostBench::as<unsigned>(integers[1]) ==
        std::vector<unsigned>{256 % 10, (10 - 256 % 10) % 10, 255});

  const auto wide = bench.inout(std::vector<unsigned long long>{5, 0, 7})
                        .inout(std::vector<long long>{0})
                        .agree("wide_atomics", {2, 1, 1}, {32, 1, 1});
  CHECK(HostBench::as<unsigned long long>(wide[0]) ==
        std::vector<unsigned long long>{5 + (2016ULL << 32U), 63ULL << 40U, 1ULL << 50U});
  CHECK(HostBench::as<long long>(wide[1]) == std::vector<long long>{-(63LL << 33)});

  const auto floating = bench.inout(std::vector<float>(4, 1))
                            .inout(std::vector<double>{0})
                            .agree("floating_atomics", {3, 1, 1}, {64, 1, 1});
  CHECK(HostBench::as<float>(floating[0]) == std::vector<float>(4, 25));
  CHECK(HostBench::as<double>(floating[1]) == std::vector<double>{48});

  using U16 = std::vector<std::uint16_t>;
  const auto halves = bench.inout(U16{0}).inout(U16{0}).inout(U16{0, 0}).agree(
      "half_atomics", {1, 1, 1}, {100, 1, 1});
  CHECK(HostBench::as<std::uint16_t>(halves[0]) == U16{float_to_half(100)});
  CHECK(HostBench::as<std::uint16_t>(halves[1]) == U16{float_to_bfloat16(100)});
  CHECK(HostBench::as<std::uint16_t>(halves[2]) == U16{float_to_half(100), float_to_half(200)});

  CHECK(bench.in(filled<float>(128, [](int i) { return (i * 53 % 128) - 200.5; }))
            .inout(std::vector<float>{-1e30F})
            .values<float>("float_max", {2, 1, 1}, {64, 1, 1}) == std::vector<float>{-73.5F});
  CHECK(bench.in(filled<unsigned char>(3000, [](int i) { return i; }))
            .inout(std::vector<unsigned>(16, 0))
            .scalar(3000)
            .values<unsigned>("shared_histogram", {3, 1, 1}, {96, 1, 1}) ==
        filled<unsigned>(16, [](int b) {
          return 11 * 16 + (b * 16 < 3000 % 256 ? std::min(16, 3000 % 256 - b * 16) : 0);
        }));
  const auto last = bench.in(iota(32))
                        .out<int>(8)
                        .out<int>(1)
                        .inout(std::vector<unsigned>{0})
                        .agree("last_block", {8, 1, 1}, {32, 1, 1});
  CHECK(HostBench::as<int>(last[1]) == std::vector<int>{496});
  CHECK(bench.inout(std::vector<int>{0})
            .out<int>(1)
            .agree("handshake", {1, 1, 1}, {64, 1, 1})
            .at(1) ==
        std::vector<std::byte>{std::byte{42}, std::byte{0}, std::byte{0}, std::byte{0}});
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("half and bfloat16 round once, to nearest even") {
  HostBench bench;
  bench.open("halves.cu", {"half_arithmetic", "bfloat16_arithmetic", "float_to_half",
                           "every_half_to_float", "packed_pairs"});
  // Exponents near each other, so that sums and products round often.
  const int n = 4096;
  const auto bits = [&](int salt, unsigned low, unsigned span) {
    return filled<std::uint16_t>(n, [&](int i) {
      const unsigned h = static_cast<unsigned>(i * 40503 + salt * 9973) * 2654435761U >> 8U;
      return (h & 0x8000U) | (low + h % span);
    });
  };
  const auto a = bits(1, 0x3000, 0x1800), b = bits(2, 0x3000, 0x1800), c = bits(3, 0x2c00, 0x2400);
  const auto got =
      bench.in(a).in(b).in(c).out<std::uint16_t>(4 * n).scalar(n).values<std::uint16_t>(
          "half_arithmetic", {16, 1, 1}, {256, 1, 1});
  int wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    // All operations but division are exact in long double here; division by half's 11 bits cannot
    // land near a tie.
    const long double x = half_to_float(a[i]), y = half_to_float(b[i]), z = half_to_float(c[i]);
    const auto round = [](long double v) { return float_to_half(static_cast<float>(v)); };
    wrong += got[i] != round(x + y) || got[n + i] != round(x * y) || got[2 * n + i] != round(x / y);
    const long double fused = x * y + z;  // exact; to half by hand: to float would round twice
    const long double near = half_to_float(got[3 * n + i]);
    const long double up = half_to_float(static_cast<std::uint16_t>(got[3 * n + i] + 1)),
                      down = half_to_float(static_cast<std::uint16_t>(got[3 * n + i] - 1));
    if ((got[3 * n + i] & 0x7fffU) != 0)
      wrong += std::abs(fused - near) > std::abs(fused - up) ||
               std::abs(fused - near) > std::abs(fused - down);
  }
  CHECK(wrong == 0);

  const auto p = bits(4, 0x3e80, 0x0400), q = bits(5, 0x3e80, 0x0400), r = bits(6, 0x3e00, 0x0500);
  const auto brain =
      bench.in(p).in(q).in(r).out<std::uint16_t>(4 * n).scalar(n).values<std::uint16_t>(
          "bfloat16_arithmetic", {16, 1, 1}, {256, 1, 1});
  for (std::size_t i = 0; i < n; ++i) {
    const long double x = bfloat16_to_float(p[i]), y = bfloat16_to_float(q[i]),
                      z = bfloat16_to_float(r[i]);
    const auto round = [](long double v) { return float_to_bfloat16(static_cast<float>(v)); };
    wrong += brain[i] != round(x + y) || brain[n + i] != round(x * y) ||
             brain[2 * n + i] != round(x - y);
    const long double fused = x * y + z, near = bfloat16_to_float(brain[3 * n + i]);
    const long double up = bfloat16_to_float(static_cast<std::uint16_t>(brain[3 * n + i] + 1)),
                      down = bfloat16_to_float(static_cast<std::uint16_t>(brain[3 * n + i] - 1));
    if ((brain[3 * n + i] & 0x7fffU) != 0)
      wrong += std::abs(fused - near) > std::abs(fused - up) ||
               std::abs(fused - near) > std::abs(fused - down);
  }
  CHECK(wrong == 0);

  std::vector<float> floats{0.0F,     -0.0F,          1.0F,           65504.0F, 65519.9F,
                            65520.0F, 1e-8F,          6e-8F,          2.98e-8F, 3e-8F,
                            6.1e-5F,  1e38F,          3.4e38F,        INFINITY, -INFINITY,
                            NAN,      1.00048828125F, 1.00146484375F, 2049.0F,  2051.0F};
  for (int i = 0; i < 2000; ++i)
    floats.push_back(std::bit_cast<float>(static_cast<unsigned>(i) * 2147483U + 12345U));
  const int m = static_cast<int>(floats.size());
  const auto converted = bench.in(floats)
                             .out<std::uint16_t>(floats.size())
                             .out<std::uint16_t>(floats.size())
                             .scalar(m)
                             .agree("float_to_half", {9, 1, 1}, {256, 1, 1});
  const auto to_half = HostBench::as<std::uint16_t>(converted[0]),
             to_brain = HostBench::as<std::uint16_t>(converted[1]);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (std::isnan(floats[i])) {
      wrong +=
          !std::isnan(half_to_float(to_half[i])) || !std::isnan(bfloat16_to_float(to_brain[i]));
    } else {
      wrong +=
          to_half[i] != float_to_half(floats[i]) || to_brain[i] != float_to_bfloat16(floats[i]);
    }
  }
  CHECK(wrong == 0);

  const auto every = bench.out<float>(65536).out<float>(65536).agree("every_half_to_float",
                                                                     {256, 1, 1}, {256, 1, 1});
  const auto halves = HostBench::as<float>(every[0]), brains = HostBench::as<float>(every[1]);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto h = half_to_float(static_cast<std::uint16_t>(i)),
               f = bfloat16_to_float(static_cast<std::uint16_t>(i));
    wrong += !(std::isnan(h) ? std::isnan(halves[i])
                             : std::bit_cast<unsigned>(h) == std::bit_cast<unsigned>(halves[i]));
    wrong += !(std::isnan(f) ? std::isnan(brains[i])
                             : std::bit_cast<unsigned>(f) == std::bit_cast<unsigned>(brains[i]));
  }
  CHECK(wrong == 0);

  const auto small =
      filled<std::uint16_t>(64, [](int i) { return float_to_half(static_cast<float>(i) / 8); });
  CHECK(bench.in(small).in(small).out<std::uint16_t>(64).scalar(64).values<std::uint16_t>(
            "packed_pairs", {1, 1, 1}, {8, 1, 1}) == filled<std::uint16_t>(64, [](int i) {
          return float_to_half(static_cast<float>(i * i) / 64 + 1);
        }));
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("vector types, casts and bit operations") {
  HostBench bench;
  bench.open("vectors.cu", {"float4_axpy", "vector_types", "bit_operations", "conversions"});
  const auto x = filled<float>(100, [](int i) { return i; });
  CHECK(bench.in(x).inout(x).scalar(2.0F).scalar(100).values<float>("float4_axpy", {1, 1, 1},
                                                                    {32, 1, 1}) ==
        filled<float>(100, [](int i) { return 3 * i; }));
  CHECK(bench.in(iota(32)).out<int>(32).values<int>("vector_types", {1, 1, 1}, {32, 1, 1}) ==
        filled<int>(32, [](int i) { return i + 2 - 2 + i - 5 + 255 + 2 + 2 + 3 + 16 + 16 + 12; }));

  const auto words = filled<unsigned>(
      32, [](int i) { return i == 0 ? 0U : static_cast<unsigned>(i) * 0x08040201U; });
  const auto bits = bench.in(words).out<unsigned>(9 * 32).scalar(32).values<unsigned>(
      "bit_operations", {1, 1, 1}, {32, 1, 1});
  for (std::size_t i = 0; i < 32; ++i) {
    const unsigned w = words[i];
    unsigned reversed = 0;
    for (unsigned b = 0; b < 32; ++b) reversed |= (w >> b & 1U) << (31 - b);
    int dot = 5;
    const int other[4] = {-2, 2, -1, 1};
    for (unsigned b = 0; b < 4; ++b) dot += static_cast<std::int8_t>(w >> (8 * b)) * other[b];
    CHECK(bits[i] == static_cast<unsigned>(std::popcount(w)));
    CHECK(bits[32 + i] == static_cast<unsigned>(std::countl_zero(w)));
    CHECK(bits[64 + i] == (w == 0 ? 0U : static_cast<unsigned>(std::countr_zero(w)) + 1U));
    CHECK(bits[96 + i] == reversed);
    CHECK(bits[128 + i] == ((w & 0xffU) | 0x0400U | (w >> 8U & 0xffU) << 16U | 0x03000000U));
    CHECK(bits[160 + i] ==
          static_cast<unsigned>(static_cast<std::uint64_t>(w) * 0x9e3779b9U >> 32U));
    CHECK(bits[192 + i] == (~w << 7U | w >> 25U));
    CHECK(bits[224 + i] == static_cast<unsigned>(dot));
    CHECK(bits[256 + i] == static_cast<unsigned>(std::popcount(w)) + (w | 1U));
  }

  const std::vector<float> f{0.5F, 1.5F, -0.5F, -1.5F, 2.3F, -2.3F, 3e9F, -3e9F, NAN, INFINITY};
  const auto to =
      bench.in(f).out<int>(50).scalar(10).values<int>("conversions", {1, 1, 1}, {10, 1, 1});
  const int high = 2147483647, low = -2147483647 - 1;
  CHECK(std::vector(to.begin(), to.begin() + 10) ==
        std::vector<int>{0, 2, 0, -2, 2, -2, high, low, 0, high});
  CHECK(std::vector(to.begin() + 10, to.begin() + 20) ==
        std::vector<int>{0, 1, 0, -1, 2, -2, high, low, 0, high});
  CHECK(std::vector(to.begin() + 20, to.begin() + 30) ==
        std::vector<int>{1, 2, 0, -1, 3, -2, high, low, 0, high});
  CHECK(std::vector(to.begin() + 30, to.begin() + 40) ==
        std::vector<int>{0, 1, -1, -2, 2, -3, high, low, 0, high});
  CHECK(std::vector(to.begin() + 40, to.end()) ==
        std::vector<int>{0, 1, 0, 0, 2, 0, static_cast<int>(3000000000U), 0, 0, -1});
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("math functions") {
  HostBench bench;
  bench.open("math.cu", {"functions", "nan_rules", "constants"});
  const int n = 64;
  const auto x = filled<float>(n, [](int i) { return 0.05 + i * 0.11; });
  const auto got =
      bench.in(x).out<float>(11 * n).scalar(n).values<float>("functions", {1, 1, 1}, {n, 1, 1});
  for (std::size_t i = 0; i < n; ++i) {
    const double v = x[i];
    const double expected[] = {std::exp(v),
                               1 / std::sqrt(v),
                               1 / v,
                               std::erf(v),
                               std::tanh(v),
                               v * v - v,
                               std::sin(v) * std::cos(v),
                               std::log(v) + std::log1p(v) + std::pow(v, 1.5),
                               0.5 * std::erfc(-v / std::sqrt(2.0)) + std::exp2(v) + std::cbrt(v),
                               std::min(v, 1.0) + std::max(v, 1.0) + std::max(v, 0.5) +
                                   std::min(2, static_cast<int>(v)) + std::floor(v) + v,
                               std::clamp(v, 0.0, 1.0) + std::sqrt(v) + 1 / v + std::sin(v)};
    for (std::size_t k = 0; k < 11; ++k) {
      CAPTURE(k);
      CAPTURE(v);
      CHECK(got[k * n + i] == doctest::Approx(expected[k]).epsilon(2e-6));
    }
  }
  CHECK(bench.out<float>(6).values<float>("nan_rules", {1, 1, 1}, {1, 1, 1}) ==
        std::vector<float>{1, 2, 1, 3, 0, 2147483648.0F});
  const float expected[] = {1, 1, 2, 1, 0, 1};
  const auto constants = bench.out<float>(6).values<float>("constants", {1, 1, 1}, {1, 1, 1});
  for (std::size_t k = 0; k < 6; ++k) CHECK(constants[k] == doctest::Approx(expected[k]));
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_CASE("templates, lambdas, constants, macros and scalar types") {
  HostBench bench;
  bench.open("language.cu",
             {"row_sum<float, 4>", "row_sum<double, 3, Mode::doubled>", "smooth", "scalars"},
             {{"BLOCK", "64"}});
  CHECK(bench.in(filled<float>(40, [](int i) { return i; }))
            .out<float>(10)
            .scalar(10)
            .values<float>("row_sum<float, 4>", {2, 1, 1}, {8, 1, 1}) ==
        filled<float>(10, [](int i) { return 16 * i + 6; }));
  CHECK(bench.in(filled<double>(30, [](int i) { return i; }))
            .out<double>(10)
            .scalar(10)
            .values<double>("row_sum<double, 3, Mode::doubled>", {2, 1, 1}, {8, 1, 1}) ==
        filled<double>(10, [](int i) { return 2 * (9 * i + 3); }));
  const int primes[] = {2, 3, 5, 7};
  CHECK(bench.in(filled<float>(64, [](int i) { return 4 * i; }))
            .out<float>(64)
            .scalar(64)
            .scalar(true)
            .values<float>("smooth", {2, 1, 1}, {16, 1, 1}) == filled<float>(64, [&](int i) {
          return ((i + 63) % 64 + 2 * i + (i + 1) % 64) + primes[i % 4] + 5;
        }));
  CHECK(bench.scalar(1.5)
            .scalar(2.25F)
            .scalar(1LL << 40)
            .scalar(static_cast<unsigned char>(200))
            .scalar(true)
            .scalar(static_cast<short>(-7))
            .out<double>(3)
            .values<double>("scalars", {1, 1, 1}, {1, 1, 1}) ==
        std::vector<double>{1006 + 2.25 + 1099511627776.0 + 200 + 1 - 7, 64 + 32 + 12,
                            std::bit_cast<int>(2.25F)});
  report_figure("host_conformance_kernels", bench.agreed());
}

TEST_SUITE_END();
