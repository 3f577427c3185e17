#include "runners/cuda/gates/scaling.h"

#include <array>
#include <cmath>
#include <utility>

namespace warpath::cuda {
namespace {

/// Least normal and greatest finite magnitude.
std::pair<double, double> normal_range(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {0x1p-14, 65504};
    case DType::bf16:
      return {0x1p-126, 0x1.fep127};
    case DType::f32:
      return {0x1p-126, 0x1.fffffep127};
    default:
      return {0x1p-1022, 0x1.fffffffffffffp1023};
  }
}

/// Over the finite elements.
double root_mean_square(const Tensor& values) {
  double squares = 0;
  std::int64_t finite = 0;
  for (std::int64_t i = 0, n = values.elements(); i < n; ++i) {
    const double x = values.at(i);
    if (!std::isfinite(x)) continue;
    squares += x * x;
    ++finite;
  }
  return finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
}

}  // namespace

std::int64_t first_not_scaled(const Tensor& before,
                              const Tensor& after,
                              int power,
                              double rounding) {
  if (!info(before.dtype).is_float) {
    if (before.bytes == after.bytes) return -1;
    for (std::int64_t i = 0, n = before.elements(); i < n; ++i) {
      if (before.at(i) != after.at(i)) return i;
    }
    return -1;
  }
  const auto [least, most] = normal_range(before.dtype);
  const double typical = rounding > 0 ? std::ldexp(root_mean_square(before), power) : 0;
  for (std::int64_t i = 0, n = before.elements(); i < n; ++i) {
    const double x = before.at(i), y = after.at(i);
    const double scaled = std::ldexp(x, power);
    if (scaled == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::isfinite(y) && std::fabs(scaled - y) <= rounding * (std::fabs(scaled) + typical))
      continue;
    const bool subnormal = std::fabs(x) < least || std::fabs(scaled) < least;
    if (subnormal || std::fabs(scaled) > most) continue;
    return i;
  }
  return -1;
}

std::optional<int> power_between(const Tensor& before, const Tensor& after, int exponent) {
  bool tells = false;
  for (std::int64_t i = 0, n = before.elements(); i < n && !tells; ++i) {
    const double x = before.at(i);
    tells = x != 0 && std::isfinite(x);
  }
  if (!tells) return std::nullopt;
  for (const int power : std::array{0, exponent / 2, exponent, 2 * exponent, -exponent}) {
    if (first_not_scaled(before, after, power) < 0) return power;
  }
  return std::nullopt;
}

}  // namespace warpath::cuda
