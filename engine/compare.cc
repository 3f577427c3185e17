#include "engine/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace warpath {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string shape_text(const Tensor& tensor) {
  std::string out = "[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) out += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  return out + "]";
}

/// "17 = [2, 1]" for element 17 of a [_, 8] tensor.
std::string index_text(const Tensor& tensor, std::int64_t index) {
  std::string coordinates;
  std::int64_t rest = index;
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    coordinates = std::to_string(rest % tensor.shape[axis]) + (coordinates.empty() ? "" : ", ") + coordinates;
    rest /= tensor.shape[axis];
  }
  return tensor.shape.size() < 2 ? std::to_string(index) : std::to_string(index) + " = [" + coordinates + "]";
}

std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

bool same_class(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b;  // two infinities of one sign
}

/// |a - b| over the bound; infinite where the class differs or the bound is 0 and the values are not equal.
double error_ratio(double out, double reference, const Tolerance& tolerance) {
  if (!std::isfinite(out) || !std::isfinite(reference)) return same_class(out, reference) ? 0 : kInfinity;
  const double error = std::abs(out - reference);
  if (error == 0) return 0;
  const double bound = tolerance.atol + tolerance.rtol * std::abs(reference);
  return bound > 0 ? error / bound : kInfinity;
}

struct Norms {
  double error = 0, reference = 0;  // sums of squares, scaled by `unit`
};

/// Both sums over elements finite in both, scaled by the largest magnitude so that squares neither overflow nor vanish.
double relative_norm(const Tensor& output, const Tensor& reference) {
  const std::int64_t n = output.elements();
  double unit = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double out = output.at(i), ref = reference.at(i);
    if (std::isfinite(out) && std::isfinite(ref)) unit = std::fmax(unit, std::fmax(std::abs(out), std::abs(ref)));
  }
  if (unit == 0) return 0;
  Norms sums;
  for (std::int64_t i = 0; i < n; ++i) {
    const double out = output.at(i), ref = reference.at(i);
    if (!std::isfinite(out) || !std::isfinite(ref)) continue;
    const double error = out / unit - ref / unit, scaled = ref / unit;
    sums.error += error * error;
    sums.reference += scaled * scaled;
  }
  if (sums.error == 0) return 0;
  return sums.reference == 0 ? kInfinity : std::sqrt(sums.error / sums.reference);
}

std::string worst_text(const Tensor& output, const Tensor& reference, std::int64_t index) {
  return "element " + index_text(output, index) + ": got " + number_text(output.at(index)) + ", reference " +
         number_text(reference.at(index));
}

Comparison compare_exactly(const Tensor& output, const Tensor& reference) {
  Comparison out;
  Tensor wanted = reference;
  if (reference.dtype != output.dtype) {
    wanted = make_tensor(output.dtype, reference.shape);
    for (std::int64_t i = 0; i < wanted.elements(); ++i) wanted.set(i, reference.at(i));
  }
  const std::size_t width = info(output.dtype).size_bytes;
  for (std::int64_t i = 0; i < output.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    const double error = std::abs(output.at(i) - wanted.at(i));
    if (std::isfinite(error)) out.max_abs_error = std::fmax(out.max_abs_error, error);
    if (std::memcmp(output.bytes.data() + at, wanted.bytes.data() + at, width) == 0) continue;
    if (++out.bad_elements == 1) {
      out.worst_index = i;
      out.worst_ratio = kInfinity;
    }
  }
  out.relative_norm = relative_norm(output, wanted);
  out.passed = out.bad_elements == 0;
  out.detail = out.passed ? "equal bit for bit"
                          : std::to_string(out.bad_elements) + " of " + std::to_string(output.elements()) +
                                " elements differ; first " + worst_text(output, wanted, out.worst_index);
  return out;
}

}  // namespace

Comparison compare(const Tensor& output, const Tensor& reference, const Tolerance& tolerance) {
  if (output.shape != reference.shape) {
    Comparison out;
    out.worst_ratio = out.relative_norm = kInfinity;
    out.detail = "shape " + shape_text(output) + " is not the reference's " + shape_text(reference);
    return out;
  }
  if (tolerance.exact) return compare_exactly(output, reference);
  Comparison out;
  for (std::int64_t i = 0; i < output.elements(); ++i) {
    const double value = output.at(i), wanted = reference.at(i);
    const double ratio = error_ratio(value, wanted, tolerance);
    if (ratio > 1) ++out.bad_elements;
    if (out.worst_index < 0 || ratio > out.worst_ratio) {
      out.worst_index = i;
      out.worst_ratio = ratio;
    }
    const double error = std::abs(value - wanted);
    if (std::isfinite(error)) out.max_abs_error = std::fmax(out.max_abs_error, error);
  }
  out.relative_norm = relative_norm(output, reference);
  const bool norm_holds = out.relative_norm <= tolerance.norm;
  out.passed = out.bad_elements == 0 && norm_holds;
  const std::string figures = "max |error| " + number_text(out.max_abs_error) + ", worst " + number_text(out.worst_ratio) +
                              " of the bound, norm " + number_text(out.relative_norm);
  if (out.passed) {
    out.detail = figures;
  } else if (out.bad_elements > 0) {
    out.detail = std::to_string(out.bad_elements) + " of " + std::to_string(output.elements()) + " elements out of bounds; worst " +
                 worst_text(output, reference, out.worst_index) + " (" + figures + ")";
  } else {
    out.detail = "relative norm " + number_text(out.relative_norm) + " is above " + number_text(tolerance.norm) + " (" + figures + ")";
  }
  return out;
}

}  // namespace warpath
