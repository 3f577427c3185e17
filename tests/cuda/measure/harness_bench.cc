#include "tests/cuda/measure/harness_bench.h"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "engine/portable/random.h"

namespace harness_test {

using warpath::DType;
using warpath::InitRule;
using warpath::Tensor;

std::vector<std::pair<InitRule, std::string>> rules() {
  using Kind = InitRule::Kind;
  std::vector<std::pair<InitRule, std::string>> out;
  const auto add = [&](Kind kind, const char* name, auto&& change) {
    InitRule rule;
    rule.kind = kind;
    change(rule);
    out.emplace_back(rule, name);
  };
  add(Kind::randn, "randn", [](InitRule& r) { r.mean = -0.25, r.std = 1.5; });
  add(Kind::uniform, "uniform", [](InitRule& r) { r.low_value = -3.5, r.high_value = 100.25; });
  add(Kind::zeros, "zeros", [](InitRule&) {});
  add(Kind::ones, "ones", [](InitRule&) {});
  add(Kind::full, "full", [](InitRule& r) { r.fill_value = -70000.3; });
  add(Kind::arange, "arange", [](InitRule& r) { r.start = -2, r.step = 0.75; });
  add(Kind::randint, "randint",
      [](InitRule& r) { r.low = warpath::Expression(-5), r.high = warpath::Expression(1000); });
  add(Kind::randint, "randint with skew", [](InitRule& r) {
    r.low = warpath::Expression(0), r.high = warpath::Expression(7), r.skew = 0.5;
  });
  add(Kind::permutation, "permutation", [](InitRule&) {});
  return out;
}

const std::vector<std::vector<std::int64_t>>& shapes() {
  static const std::vector<std::vector<std::int64_t>> all{{3, 7}, {2, 5, 101}};
  return all;
}

Tensor special_values(DType dtype, std::int64_t n, std::uint64_t seed) {
  Tensor out = warpath::make_tensor(dtype, {n});
  const bool real = warpath::info(dtype).is_float;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto bits = warpath::portable::random_word(seed, static_cast<std::uint64_t>(i));
    const double u = warpath::portable::unit(bits) * 2 - 1;
    const double scale[] = {1, 100, 1e-3, 60000};
    double value = u * scale[bits % 4];
    if (real && i % 97 == 13) value = -std::numeric_limits<double>::infinity();
    if (real && i % 97 == 29) value = std::numeric_limits<double>::quiet_NaN();
    if (i % 41 == 7) value = 0;
    if (dtype == DType::f64 && i % 53 == 3) value *= 1e300;
    if (dtype == DType::f64 && i % 53 == 4) value *= 1e-300;
    out.set(i, value);
  }
  return out;
}

Tensor with_errors(const Tensor& reference, DType dtype, std::uint64_t seed) {
  Tensor out = warpath::make_tensor(dtype, reference.shape);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    const auto bits = warpath::portable::random_word(seed, static_cast<std::uint64_t>(i));
    double value = reference.at(i);
    if (bits % 5 == 0) value *= 1 + 1e-3 * warpath::portable::unit(bits);
    if (bits % 211 == 0) value = -value + 1;
    if (bits % 307 == 0) value = std::numeric_limits<double>::quiet_NaN();
    out.set(i, value);
  }
  return out;
}

void check_equal(const warpath::Comparison& device, const warpath::Comparison& host) {
  CHECK(device.passed == host.passed);
  CHECK(device.bad_elements == host.bad_elements);
  CHECK(device.worst_index == host.worst_index);
  CHECK(std::bit_cast<std::uint64_t>(device.worst_ratio) ==
        std::bit_cast<std::uint64_t>(host.worst_ratio));
  CHECK(device.max_abs_error == host.max_abs_error);
  CHECK((device.relative_norm == host.relative_norm ||
         device.relative_norm == doctest::Approx(host.relative_norm).epsilon(1e-13)));
  CHECK(device.detail == host.detail);
}

}  // namespace harness_test
