#include "engine/base/bfloat16.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

float rounded(float x) {
  return BFloat16(x).value();
}

}  // namespace

TEST_SUITE_BEGIN("bfloat16");

TEST_CASE("zero, powers of two and infinity are kept") {
  CHECK(BFloat16().value() == 0);
  CHECK(std::bit_cast<std::uint32_t>(rounded(0.0F)) == 0);
  CHECK(std::signbit(rounded(-0.0F)));
  for (int e = -133; e < 128; ++e) {  // from the least subnormal
    CAPTURE(e);
    CHECK(rounded(std::ldexp(1.0F, e)) == std::ldexp(1.0F, e));
    CHECK(rounded(-std::ldexp(1.0F, e)) == -std::ldexp(1.0F, e));
  }
  CHECK(rounded(std::numeric_limits<float>::infinity()) == std::numeric_limits<float>::infinity());
}

TEST_CASE("every number of 16 bits is kept") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto x = std::bit_cast<float>(bits << 16U);
    if (!std::isnan(x)) REQUIRE(std::bit_cast<std::uint32_t>(rounded(x)) == bits << 16U);
  }
}

TEST_CASE("ties go to the even neighbour") {
  CHECK(rounded(1 + 0x1p-8F) == 1);
  CHECK(rounded(1 + 0x3p-8F) == 1 + 0x1p-6F);
  CHECK(rounded(1 + 0x1p-8F + 0x1p-23F) == 1 + 0x1p-7F);
  CHECK(rounded(2 - 0x1p-8F) == 2);
}

TEST_CASE("rounding is to the nearest, off by at most 2^-8, and keeps the order") {
  Rng rng(1, "floats");
  for (int i = 0; i < 200'000; ++i) {
    const auto x = static_cast<float>(
        std::ldexp(0.5 + rng.uniform() / 2, static_cast<int>(rng.below(240)) - 120));
    const auto y = std::nextafter(x * (1 + static_cast<float>(rng.uniform()) * 0x1p-6F),
                                  std::numeric_limits<float>::infinity());
    CAPTURE(x);
    REQUIRE(std::abs(rounded(x) - x) <= x * 0x1p-8F);
    REQUIRE(rounded(x) <= rounded(y));
    REQUIRE(rounded(-x) == -rounded(x));
    const auto bits = std::bit_cast<std::uint32_t>(x) & 0xFFFF0000U;
    const auto below = std::bit_cast<float>(bits), above = std::bit_cast<float>(bits + 0x10000U);
    REQUIRE(std::abs(rounded(x) - x) == std::min(x - below, above - x));
  }
}

TEST_SUITE_END();
