#include "runners/inputs/scaling.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace warpath {
namespace {

/// Least normal and greatest finite magnitude.
std::pair<double, double> normal_range(DType dtype) {
  const double least = dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
  return {least, greatest_finite(dtype)};
}

using Elements = tbb::blocked_range<std::int64_t>;
constexpr std::size_t kGrain = 1 << 16;

Elements all_of(const Tensor& values) {
  return {0, values.elements(), kGrain};
}

/// Over the finite elements; the same whatever runs beside it.
double root_mean_square(const Tensor& values) {
  struct Sum {
    double squares = 0;
    std::int64_t finite = 0;
  };
  const Sum sum = tbb::parallel_deterministic_reduce(
      all_of(values), Sum{},
      [&](const Elements& range, Sum part) {
        for (std::int64_t i = range.begin(); i < range.end(); ++i) {
          const double x = values.at(i);
          if (!std::isfinite(x)) continue;
          part.squares += x * x;
          ++part.finite;
        }
        return part;
      },
      [](const Sum& a, const Sum& b) { return Sum{a.squares + b.squares, a.finite + b.finite}; });
  return sum.finite > 0 ? std::sqrt(sum.squares / static_cast<double>(sum.finite)) : 0;
}

/// The least index that `is_wrong`; -1 if none is. `is_plain(range)`: certainly none of these.
template <class Plain, class Wrong>
std::int64_t first_wrong(const Tensor& values, const Plain& is_plain, const Wrong& is_wrong) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = tbb::parallel_reduce(
      all_of(values), kNone,
      [&](const Elements& range, std::int64_t known) {
        if (known < range.begin() || is_plain(range)) return known;
        for (std::int64_t i = range.begin(); i < range.end(); ++i) {
          if (is_wrong(i)) return std::min(known, i);
        }
        return known;
      },
      [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  return first == kNone ? -1 : first;
}

/// Whether each of these is exactly its counterpart times `factor`.
template <class T>
bool is_scaled(const Tensor& before, const Tensor& after, const Elements& range, double factor) {
  bool all = true;
  for (auto i = static_cast<std::size_t>(range.begin()); i < static_cast<std::size_t>(range.end());
       ++i) {
    T x, y;
    std::memcpy(&x, before.bytes.data() + i * sizeof x, sizeof x);
    std::memcpy(&y, after.bytes.data() + i * sizeof y, sizeof y);
    all = all && static_cast<double>(x) * factor == static_cast<double>(y);
  }
  return all;
}

}  // namespace

std::int64_t first_not_scaled(const Tensor& before,
                              const Tensor& after,
                              int power,
                              double rounding) {
  if (!info(before.dtype).is_float) {
    if (before.bytes == after.bytes) return -1;
    return first_wrong(
        before, [](const Elements&) { return false; },
        [&](std::int64_t i) { return before.at(i) != after.at(i); });
  }
  const double factor = std::ldexp(1.0, power);
  const auto is_plain = [&](const Elements& range) {
    return before.dtype == DType::f32   ? is_scaled<float>(before, after, range, factor)
           : before.dtype == DType::f64 ? is_scaled<double>(before, after, range, factor)
                                        : false;
  };
  const auto [least, most] = normal_range(before.dtype);
  const auto is_wrong = [&, least = least, most = most](std::int64_t i, double slack) {
    const double x = before.at(i), y = after.at(i);
    const double scaled = x * factor;
    if (scaled == y || (std::isnan(x) && std::isnan(y))) return false;
    if (std::isfinite(y) && std::fabs(scaled - y) <= rounding * std::fabs(scaled) + slack)
      return false;
    const bool subnormal = std::fabs(x) < least || std::fabs(scaled) < least;
    return !subnormal && !(std::fabs(scaled) > most);
  };
  const std::int64_t first =
      first_wrong(before, is_plain, [&](std::int64_t i) { return is_wrong(i, 0); });
  if (first < 0 || rounding <= 0) return first;
  const double slack = rounding * std::ldexp(root_mean_square(before), power);
  return first_wrong(before, is_plain, [&](std::int64_t i) { return is_wrong(i, slack); });
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

bool is_times_power_of_two(const Tensor& before, const Tensor& after) {
  if (!info(before.dtype).is_float) return before.bytes == after.bytes;
  int power = 0;
  for (std::int64_t i = 0, n = before.elements(); i < n; ++i) {
    const double x = before.at(i), y = after.at(i);
    if (x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(y)) continue;
    power = std::ilogb(y) - std::ilogb(x);
    break;
  }
  return first_wrong(
             before, [](const Elements&) { return false; },
             [&](std::int64_t i) {
               const double x = before.at(i), y = after.at(i);
               return !std::isfinite(x) || !std::isfinite(y) || std::ldexp(x, power) != y;
             }) < 0;
}

}  // namespace warpath
