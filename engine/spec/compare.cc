#include "engine/spec/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/format.h"

namespace warpath {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// "17 = [2, 1]" for element 17 of a [_, 8] tensor.
std::string index_text(std::span<const std::int64_t> shape, std::int64_t index) {
  std::string coordinates;
  std::int64_t rest = index;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    coordinates =
        std::to_string(rest % shape[axis]) + (coordinates.empty() ? "" : ", ") + coordinates;
    rest /= shape[axis];
  }
  return shape.size() < 2 ? std::to_string(index)
                          : std::to_string(index) + " = [" + coordinates + "]";
}

/// sqrt(sum) = first * 2^second.
std::pair<double, int> root_of(const portable::SquareSum& sum) {
  if (sum.large > 0) return {std::sqrt(sum.large + sum.middle * 0x1p-1000 * 0x1p-200), 600};
  if (sum.middle > 0) return {std::sqrt(sum.middle + sum.small * 0x1p-1000 * 0x1p-200), 0};
  return {std::sqrt(sum.small), -600};
}

/// The values of element `i` in both, once the reference has the output's type where `exact`.
struct Pair {
  double output, reference;
  bool same_bytes;
};

Pair pair_at(const Tensor& output, const Tensor& reference, bool exact, std::int64_t i) {
  const auto load = [i](const Tensor& tensor) {
    const std::size_t width = info(tensor.dtype).size_bytes;
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + static_cast<std::size_t>(i) * width, width);
    return bits;
  };
  const std::uint64_t out = load(output), ref = load(reference);
  const double value = portable::value_of(output.dtype, out);
  if (!exact) return {value, portable::value_of(reference.dtype, ref), false};
  const std::uint64_t wanted =
      reference.dtype == output.dtype
          ? ref
          : portable::element_of(output.dtype, portable::value_of(reference.dtype, ref));
  return {value, portable::value_of(output.dtype, wanted), out == wanted};
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return out + "]";
}

double relative_norm(const portable::SquareSum& error, const portable::SquareSum& reference) {
  const auto [error_root, error_exponent] = root_of(error);
  const auto [reference_root, reference_exponent] = root_of(reference);
  if (error_root == 0) return 0;
  if (reference_root == 0) return kInfinity;
  return std::ldexp(error_root / reference_root, error_exponent - reference_exponent);
}

Comparison conclude(const ComparisonFigures& figures,
                    const Tolerance& tolerance,
                    std::span<const std::int64_t> shape) {
  Comparison out;
  out.bad_elements = figures.bad_elements;
  out.worst_index = figures.worst_index;
  out.worst_ratio = figures.worst_ratio;
  out.max_abs_error = figures.max_abs_error;
  out.relative_norm = relative_norm(figures.error, figures.reference);
  out.passed = out.bad_elements == 0 && (tolerance.exact || out.relative_norm <= tolerance.norm);
  out.elements = 1;
  for (const std::int64_t extent : shape) out.elements *= extent;
  const std::string counts =
      std::to_string(out.bad_elements) + " of " + std::to_string(out.elements) + " elements ";
  const std::string worst = out.worst_index < 0
                                ? std::string()
                                : "element " + index_text(shape, out.worst_index) + ": got " +
                                      number_text(figures.worst_output, 9) + ", reference " +
                                      number_text(figures.worst_reference, 9);
  if (tolerance.exact) {
    out.detail = out.passed ? "equal bit for bit" : counts + "differ; first " + worst;
    return out;
  }
  const std::string text = "max |error| " + number_text(out.max_abs_error, 9) + ", worst " +
                           number_text(out.worst_ratio, 9) + " of the bound, norm " +
                           number_text(out.relative_norm, 9);
  if (out.passed) {
    out.detail = text;
  } else if (out.bad_elements > 0) {
    out.detail = counts + "out of bounds; worst " + worst + " (" + text + ")";
  } else {
    out.detail = "relative norm " + number_text(out.relative_norm, 9) + " is above " +
                 number_text(tolerance.norm, 9) + " (" + text + ")";
  }
  return out;
}

Comparison compare(const Tensor& output,
                   const Tensor& reference,
                   const Tolerance& tolerance,
                   Infinities infinities) {
  if (output.shape != reference.shape) {
    Comparison out;
    out.worst_ratio = out.relative_norm = kInfinity;
    out.detail = "shape " + shape_text(output.shape) + " is not the reference's " +
                 shape_text(reference.shape);
    return out;
  }
  if (are_given(infinities) && !info(output.dtype).is_float)
    return {.passed = true, .detail = "integers of infinite inputs are not judged"};
  ComparisonFigures figures;
  const std::int64_t n = output.elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const Pair pair = pair_at(output, reference, tolerance.exact, i);
    const double ratio =
        portable::element_ratio(pair.output, pair.reference, pair.same_bytes, tolerance.exact,
                                tolerance.atol, tolerance.rtol, infinities);
    if (ratio > 1) ++figures.bad_elements;
    if (tolerance.exact ? ratio > figures.worst_ratio : i == 0 || ratio > figures.worst_ratio) {
      figures.worst_index = i;
      figures.worst_ratio = ratio;
      figures.worst_output = pair.output;
      figures.worst_reference = pair.reference;
    }
    const double error = std::abs(pair.output - pair.reference);
    if (std::isfinite(error)) figures.max_abs_error = std::fmax(figures.max_abs_error, error);
    if (!std::isfinite(pair.output) || !std::isfinite(pair.reference)) continue;
    portable::add_difference(figures.error, pair.output, pair.reference);
    portable::add_square(figures.reference, pair.reference);
  }
  return conclude(figures, tolerance, output.shape);
}

}  // namespace warpath
