#include "engine/spec/tensor_init.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/base/counter_random.h"
#include "engine/base/rng.h"
#include "tests/support/spec_fixtures.h"

using namespace warpath;
using Kind = InitRule::Kind;

namespace {

InitRule rule_of(Kind kind) {
  InitRule rule;
  rule.kind = kind;
  return rule;
}
Tensor filled(const InitRule& rule,
              DType dtype,
              std::vector<std::int64_t> shape,
              std::uint64_t seed = 7,
              const Tensor* row_pointers = nullptr) {
  return fill_tensor(rule, seed, dtype, std::move(shape), {{"N", 50}}, row_pointers, "here");
}
std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) out.push_back(tensor.at(i));
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("tensor_init");

TEST_CASE("philox4x32-10 gives the published known answers") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the portable logarithm is within one unit in the last place of the true one") {
  Rng rng(1, "log");
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(1 + rng.uniform(), static_cast<int>(rng.below(600)) - 300);
    const double truth = std::log(x);
    CHECK(std::abs(portable_log(x) - truth) <= std::abs(truth) * 0x1p-52);
  }
  CHECK(portable_log(1) == 0);
}

TEST_CASE(
    "the inverse normal undoes the normal distribution in the centre, the shoulders and the "
    "tails") {
  for (const double x : {-8.0, -5.5, -3.0, -1.5, -0.3, 0.0, 0.1, 0.9, 2.5, 4.0}) {
    const double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
    CHECK(inverse_normal(p) == doctest::Approx(x).epsilon(x > 3 ? 1e-11 : 1e-14));
  }
  const double deepest = inverse_normal(0x1p-54);  // the smallest argument that randn has
  CHECK(0.5 * std::erfc(-deepest / std::sqrt(2.0)) == doctest::Approx(0x1p-54).epsilon(1e-12));
}

TEST_CASE(
    "fixed values pin the streams: a change of any bit changes what every recorded run measured") {
  CHECK(random_bits(1, 0) == 0xe50a0ebce3e80670ULL);
  CHECK(random_bits(1, 1) == 0xb615aa2795f222c0ULL);
  const Tensor t = filled(rule_of(Kind::randn), DType::f64, {1000});
  CHECK(std::bit_cast<std::uint64_t>(t.at(0)) == 0x3fe5995846174580ULL);
  CHECK(std::bit_cast<std::uint64_t>(t.at(999)) == 0x3fda9bb7a204d57eULL);
  CHECK(tensor_seed(1, "x", 0) == 0x1281880f9eb3f0cbULL);
}

TEST_CASE("element i does not depend on the size of the tensor") {
  for (const Kind kind : {Kind::randn, Kind::uniform, Kind::randint}) {
    InitRule rule = rule_of(kind);
    if (kind == Kind::randint) rule.low = Expression(-5), rule.high = Expression(1000);
    const auto small = values(filled(rule, DType::f32, {10}));
    const auto large = values(filled(rule, DType::f32, {100, 10}));
    CHECK(std::equal(small.begin(), small.end(), large.begin()));
    CHECK(values(filled(rule, DType::f32, {10}, 8)) != small);
  }
}

TEST_CASE("randn has its mean and deviation, integers use all bits of the type") {
  InitRule rule = rule_of(Kind::randn);
  rule.mean = 3;
  rule.std = 0.5;
  const auto x = values(filled(rule, DType::f32, {100000}));
  double sum = 0, squares = 0;
  for (const double v : x) sum += v, squares += (v - 3) * (v - 3);
  CHECK(sum / 1e5 == doctest::Approx(3).epsilon(0.002));
  CHECK(std::sqrt(squares / 1e5) == doctest::Approx(0.5).epsilon(0.01));
  const auto bytes = values(filled(rule, DType::i8, {5000}));
  CHECK(*std::min_element(bytes.begin(), bytes.end()) == -128);
  CHECK(*std::max_element(bytes.begin(), bytes.end()) == 127);
  for (const double b : values(filled(rule, DType::boolean, {64}))) CHECK((b == 0 || b == 1));
}

TEST_CASE("zeros, ones, full and arange are what they say; arange tiles the last dimension") {
  CHECK(values(filled(rule_of(Kind::zeros), DType::f16, {2})) == std::vector<double>{0, 0});
  CHECK(values(filled(rule_of(Kind::ones), DType::bf16, {2})) == std::vector<double>{1, 1});
  InitRule full = rule_of(Kind::full);
  full.fill_value = -2.5;
  CHECK(values(filled(full, DType::f32, {2})) == std::vector<double>{-2.5, -2.5});
  InitRule arange = rule_of(Kind::arange);
  arange.start = 1;
  arange.step = 2;
  CHECK(values(filled(arange, DType::i32, {2, 3})) == std::vector<double>{1, 3, 5, 1, 3, 5});
}

TEST_CASE("randint covers its bounds and no more; skew puts its share on the lower one") {
  InitRule rule = rule_of(Kind::randint);
  rule.low = Expression(3);
  rule.high = Expression::parse("N / 5", "");
  auto x = values(filled(rule, DType::u8, {1000}));
  CHECK(*std::min_element(x.begin(), x.end()) == 3);
  CHECK(*std::max_element(x.begin(), x.end()) == 9);
  rule.skew = 0.9;
  x = values(filled(rule, DType::u8, {10000}));
  const auto lows = static_cast<double>(std::count(x.begin(), x.end(), 3.0));
  CHECK(lows / 1e4 == doctest::Approx(0.9 + 0.1 / 7).epsilon(0.02));
  rule.low = Expression(std::numeric_limits<std::int64_t>::min());
  rule.high = Expression(std::numeric_limits<std::int64_t>::max());
  CHECK(filled(rule, DType::i64, {4}).elements() == 4);
}

TEST_CASE("uniform stays in its bounds and integers of it are rounded down") {
  InitRule rule = rule_of(Kind::uniform);
  rule.low_value = -0.5;
  rule.high = Expression(2);
  for (const double v : values(filled(rule, DType::f64, {1000}))) CHECK((v >= -0.5 && v < 2));
  const auto whole = values(filled(rule, DType::i32, {1000}));
  CHECK(*std::min_element(whole.begin(), whole.end()) == -1);
  CHECK(*std::max_element(whole.begin(), whole.end()) == 1);
}

TEST_CASE("permutation is one in every row, another in each") {
  for (const std::int64_t n : {1, 2, 3, 16, 100, 1025}) {
    const auto x = values(filled(rule_of(Kind::permutation), DType::i32, {3, n}));
    for (std::int64_t row = 0; row < 3; ++row) {
      std::vector<double> sorted(x.begin() + row * n, x.begin() + (row + 1) * n);
      std::sort(sorted.begin(), sorted.end());
      for (std::int64_t i = 0; i < n; ++i)
        CHECK(sorted[static_cast<std::size_t>(i)] == static_cast<double>(i));
    }
    if (n == 1025) CHECK_FALSE(std::equal(x.begin(), x.begin() + n, x.begin() + n));
  }
}

TEST_CASE("row pointers ascend to rows * mean exactly and skew makes a long tail") {
  for (const double skew : {0.0, 0.5, 1.0}) {
    CAPTURE(skew);
    InitRule rule = rule_of(Kind::csr_row_pointers);
    rule.mean = 20.5;
    rule.skew = skew;
    const auto x = values(filled(rule, DType::i32, {1001}));
    CHECK(x.front() == 0);
    CHECK(x.back() == 20500);
    double longest = 0;
    for (std::size_t i = 1; i < x.size(); ++i) {
      CHECK(x[i] >= x[i - 1]);
      longest = std::max(longest, x[i] - x[i - 1]);
    }
    if (skew == 0) CHECK(longest <= 22);
    if (skew == 0.5) CHECK(longest > 60);
  }
}

TEST_CASE("column indices are distinct, ascending and in range within each row") {
  InitRule pointers = rule_of(Kind::csr_row_pointers);
  pointers.mean = 8;
  pointers.skew = 0.3;
  const Tensor rows = filled(pointers, DType::i32, {101});
  InitRule rule = rule_of(Kind::csr_column_indices);
  rule.high = Expression::parse("20 * N", "");
  const Tensor columns = filled(rule, DType::i32, {800}, 3, &rows);
  for (std::int64_t row = 0; row < 100; ++row) {
    for (auto i = static_cast<std::int64_t>(rows.at(row));
         i < static_cast<std::int64_t>(rows.at(row + 1)); ++i) {
      CHECK((columns.at(i) >= 0 && columns.at(i) < 1000));
      if (i > static_cast<std::int64_t>(rows.at(row))) CHECK(columns.at(i) > columns.at(i - 1));
    }
  }
}

TEST_CASE(
    "materialize follows the workload, gives equal seeds of two arguments different values, and "
    "honours the run seed") {
  const KernelSpec spec = test::gather_spec();
  const ArgSpec& x = *spec.io.find("x");
  const Tensor main = materialize(spec, x, spec.workloads[0]);
  CHECK(main.shape == std::vector<std::int64_t>{64, 2});
  CHECK(materialize(spec, x, spec.workloads[0]) == main);
  CHECK_FALSE(materialize(spec, x, spec.workloads[0], 5) == main);
  CHECK(values(materialize(spec, x, spec.workloads[1])) == std::vector<double>(128, 1.0));
  ArgSpec other = x;
  other.name = "w";
  CHECK_FALSE(materialize(spec, other, spec.workloads[0]) == main);
  const Tensor poisoned = materialize(spec, *spec.io.find("o"), spec.workloads[0]);
  CHECK(std::isnan(poisoned.at(0)));
  for (const double i : values(materialize(spec, *spec.io.find("idx"), spec.workloads[0], 9)))
    CHECK((i >= 0 && i < 64));
}

TEST_CASE("binary16 and bfloat16 round to nearest even, once") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(half_to_float(half))) CHECK(float_to_half(half_to_float(half)) == half);
    if (!std::isnan(bfloat16_to_float(half)))
      CHECK(float_to_bfloat16(bfloat16_to_float(half)) == half);
  }
  CHECK(half_to_float(float_to_half(65519.0F)) == 65504);
  CHECK(std::isinf(half_to_float(float_to_half(65520.0F))));
  CHECK(half_to_float(float_to_half(1 + 0x1p-11F)) == 1);
  CHECK(half_to_float(float_to_half(1 + 3 * 0x1p-11F)) == 1 + 0x1p-9F);
  CHECK(float_to_half(0x1p-25F) == 0);
  CHECK(float_to_half(0x1.8p-25F) == 1);
  CHECK(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  Tensor t = make_tensor(DType::bf16, {1});
  t.set(0, 1 + 0x1p-8 + 0x1p-40);  // rounding through float would make this a tie
  CHECK(t.at(0) == 1 + 0x1p-7);
}

TEST_SUITE_END();
