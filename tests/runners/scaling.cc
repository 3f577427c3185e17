#include "runners/inputs/scaling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace warpath;

namespace {

Tensor tensor(DType dtype, const std::vector<double>& values) {
  Tensor out = make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return out;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_SUITE("scaling") {
  TEST_CASE("the power between two results is found, also 0, a half and negative ones") {
    const std::vector<double> values{1.5, -0.3, 0, 7e3};
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      for (const int power : {0, 5, 10, 20, -10}) {
        CAPTURE(power);
        const Tensor before = tensor(dtype, values);
        Tensor after = before;
        for (std::int64_t i = 0; i < before.elements(); ++i)
          after.set(i, std::ldexp(before.at(i), power));
        CHECK(power_between(before, after, 10) == power);
        CHECK(first_not_scaled(before, after, power) == -1);
      }
    }
  }

  TEST_CASE("one bit of one element is seen") {
    const Tensor before = tensor(DType::f32, {1, 2, 3});
    Tensor after = tensor(DType::f32, {1024, 2048, 3072});
    after.set(2, static_cast<double>(std::nextafterf(3072, 4000)));
    CHECK(first_not_scaled(before, after, 10) == 2);
    CHECK_FALSE(power_between(before, after, 10).has_value());
  }

  TEST_CASE("a rounding error may be allowed, measured by the results' size") {
    const Tensor before = tensor(DType::f32, {1, 2, -3});
    Tensor after = tensor(DType::f32, {1024, 2048, -3072});
    after.set(0, 1024 * (1 + 0x1p-22));
    CHECK(first_not_scaled(before, after, 10) == 0);
    CHECK(first_not_scaled(before, after, 10, 0x1p-21) == -1);
    after.set(0, 1024 * (1 + 0x1p-11));
    CHECK(first_not_scaled(before, after, 10, 0x1p-20) == 0);
  }

  TEST_CASE("NaNs agree, what leaves the normal range is not judged, a lost NaN is seen") {
    CHECK(first_not_scaled(tensor(DType::f16, {kNan, 60000, 0x1p-20}),
                           tensor(DType::f16, {kNan, INFINITY, 3}), 4) == -1);
    CHECK(first_not_scaled(tensor(DType::f16, {kNan, 1}), tensor(DType::f16, {5, 16}), 4) == 0);
  }

  TEST_CASE("integers must be equal") {
    CHECK(first_not_scaled(tensor(DType::i32, {1, -5}), tensor(DType::i32, {1, -5}), 10) == -1);
    CHECK(first_not_scaled(tensor(DType::i32, {1, -5}), tensor(DType::i32, {1, -6}), 0) == 1);
    CHECK(power_between(tensor(DType::i32, {1, -5}), tensor(DType::i32, {1, -5}), 10) == 0);
  }

  TEST_CASE("zeros and NaNs alone tell nothing") {
    CHECK_FALSE(power_between(tensor(DType::f32, {0, kNan}), tensor(DType::f32, {0, kNan}), 10)
                    .has_value());
  }

  TEST_CASE("one power of two for all, whatever it is, and nothing beyond the range") {
    const Tensor before = tensor(DType::f32, {0, 0.5, -3});
    CHECK(is_times_power_of_two(before, tensor(DType::f32, {0, 0x1p101, -0x1.8p103})));
    CHECK(is_times_power_of_two(before, tensor(DType::f32, {0, 0x1p-149, -6 * 0x1p-149})));
    CHECK(is_times_power_of_two(before, before));
    CHECK_FALSE(is_times_power_of_two(before, tensor(DType::f32, {0, 0x1p101, -0x1.8p102})));
    CHECK_FALSE(is_times_power_of_two(before, tensor(DType::f32, {0, 0, -3})));
    CHECK_FALSE(is_times_power_of_two(before, tensor(DType::f32, {1, 0.5, -3})));
    CHECK_FALSE(is_times_power_of_two(before, tensor(DType::f32, {0, INFINITY, -INFINITY})));
    CHECK_FALSE(
        is_times_power_of_two(tensor(DType::f32, {kNan, 1}), tensor(DType::f32, {kNan, 1})));
    CHECK(is_times_power_of_two(tensor(DType::i32, {1, -5}), tensor(DType::i32, {1, -5})));
    CHECK_FALSE(is_times_power_of_two(tensor(DType::i32, {1, -5}), tensor(DType::i32, {2, -10})));
  }

  TEST_CASE("of many elements the first that is wrong is found, wherever it lies") {
    Tensor before = make_tensor(DType::f32, {300'000});
    for (std::int64_t i = 0; i < before.elements(); ++i)
      before.set(i, 1 + 1e-3 * static_cast<double>(i % 977));
    Tensor after = before;
    for (std::int64_t i = 0; i < before.elements(); ++i) after.set(i, 4 * before.at(i));
    CHECK(first_not_scaled(before, after, 2) == -1);
    for (const std::int64_t wrong : {299'999, 131'072, 131'071, 70'000, 0}) {
      after.set(wrong, 5 * before.at(wrong));
      CHECK(first_not_scaled(before, after, 2) == wrong);
      CHECK(first_not_scaled(before, after, 2, 0x1p-20) == wrong);
    }
    // within the rounding of the typical element, but not of its own
    after = before;
    before.set(200'000, 1e-9);
    after.set(200'000, 2e-9);
    CHECK(first_not_scaled(before, after, 0) == 200'000);
    CHECK(first_not_scaled(before, after, 0, 0x1p-20) == -1);
  }
}
