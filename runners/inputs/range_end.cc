#include "runners/inputs/range_end.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <unordered_set>

#include "engine/portable/family.h"
#include "runners/inputs/input_family.h"
#include "runners/inputs/scaling.h"

namespace warpath {
namespace {

/// Elements of `result`, evenly spaced, are elements of the inputs.
bool is_selection(const Tensor& result, const std::vector<Tensor>& inputs) {
  constexpr std::int64_t kMost = 4096;
  std::unordered_set<double> wanted;
  const std::int64_t count = result.elements(), step = std::max<std::int64_t>(1, count / kMost);
  for (std::int64_t i = 0; i < count; i += step) wanted.insert(result.at(i));
  for (const Tensor& input : inputs) {
    if (!info(input.dtype).is_float) continue;
    for (std::int64_t i = 0, n = input.elements(); i < n && !wanted.empty(); ++i)
      wanted.erase(input.at(i));
  }
  return wanted.empty();
}

/// Element `i` of both has the same bytes.
bool is_same(const Tensor& a, const Tensor& b, std::int64_t i) {
  const std::size_t width = info(a.dtype).size_bytes, at = static_cast<std::size_t>(i) * width;
  return std::memcmp(&a.bytes[at], &b.bytes[at], width) == 0;
}

/// Both tensors have one type and shape, and each pair of elements that differ fits.
template <class Fits>
bool agrees(const Tensor& result, const Tensor& other, const Fits& fits) {
  if (result.dtype != other.dtype || result.bytes.size() != other.bytes.size()) return false;
  for (std::int64_t i = 0, n = result.elements(); i < n; ++i) {
    if (!is_same(result, other, i) &&
        (!info(result.dtype).is_float || !fits(result.at(i), other.at(i))))
      return false;
  }
  return true;
}

bool has_finite(const Tensor& tensor) {
  for (std::int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    if (std::isfinite(tensor.at(i))) return true;
  }
  return false;
}

bool are_integers_or_selected(const Tensor& result, const std::vector<Tensor>& inputs) {
  return !info(result.dtype).is_float || is_selection(result, inputs);
}

constexpr DType kFloats[] = {DType::f64, DType::f32, DType::bf16, DType::f16};

bool stays_in_range(InputFamily family,
                    const std::vector<Tensor>& inputs,
                    const Tensor& result,
                    const Tensor& near_one) {
  if (has_infinite_parts(family)) {
    const auto is_lost = [](double x, double) { return !std::isfinite(x); };
    return agrees(result, near_one, is_lost) && has_finite(result);
  }
  if (family == InputFamily::bottom) {
    const auto stands = [](double x, double other) {
      return std::ranges::any_of(kFloats, [&](DType type) {
        const double low = portable::stand_in_for_bottom(type);
        return (x == -INFINITY && other == low) ||
               (x == portable::least_finite(type) && other == low / 2);
      });
    };
    return agrees(result, near_one, stands) && are_integers_or_selected(result, inputs);
  }
  const bool scales_alike = family == InputFamily::lowest || family == InputFamily::highest;
  return is_times_power_of_two(near_one, result) &&
         (family == InputFamily::vast || are_integers_or_selected(result, inputs) ||
          (scales_alike && result.bytes == near_one.bytes));
}

}  // namespace

void leave_out_undecided_lines(Tensor& expected) {
  if (!info(expected.dtype).is_float || expected.shape.empty()) return;
  const std::int64_t row = expected.shape.back();
  for (std::int64_t first = 0, n = expected.elements(); first < n; first += row) {
    bool is_decided = true;
    for (std::int64_t i = first; i < first + row; ++i) {
      const double x = expected.at(i);
      if (!std::isfinite(x)) is_decided = false;
      if (std::isfinite(x) && x != 0) {
        is_decided = true;
        break;
      }
    }
    for (std::int64_t i = first; !is_decided && i < first + row; ++i) expected.set(i, NAN);
  }
}

void leave_out_changed(Tensor& expected, const Tensor& without) {
  if (!info(expected.dtype).is_float || expected.bytes.size() != without.bytes.size()) return;
  for (std::int64_t i = 0, n = expected.elements(); i < n; ++i) {
    if (!is_same(expected, without, i)) expected.set(i, NAN);
  }
}

bool makes_numbers_of_nan(const Tensor& result, const Tensor& declared) {
  return !agrees(result, declared, [](double x, double) { return !std::isfinite(x); });
}

bool may_multiply(Infinities infinities, const KernelSpec& spec) {
  return are_given(infinities) && std::ranges::count_if(spec.io.args, [](const ArgSpec& arg) {
                                    return arg.type == ArgType::tensor &&
                                           arg.role != ArgRole::output &&
                                           info(arg.tensor->dtype).is_float;
                                  }) > 1;
}

std::vector<bool> stay_in_range(InputFamily family,
                                const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& results,
                                const std::vector<Tensor>& near_one) {
  std::vector<bool> out(results.size());
  if (results.size() != near_one.size()) return out;
  for (std::size_t i = 0; i < results.size(); ++i)
    out[i] = stays_in_range(family, inputs, results[i], near_one[i]);
  return out;
}

}  // namespace warpath
