#include "engine/spec/spec_values.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/base/dtype.h"
#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/spec/spec_check.h"
#include "engine/spec/tensor_init.h"

namespace warpath {
namespace {

/// Closed interval. 64-bit bounds lose low bits, which no check here depends on.
struct ValueRange {
  double low = 0, high = 0;
};

ValueRange range_of(DType dtype) {
  const DTypeInfo& type = info(dtype);
  if (type.is_float) {
    const double greatest = greatest_finite(dtype);
    return {-greatest, greatest};
  }
  if (dtype == DType::boolean) return {0, 1};
  const int bits = static_cast<int>(8 * type.size_bytes);
  return type.is_signed ? ValueRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1}
                        : ValueRange{0, std::ldexp(1.0, bits) - 1};
}

std::string text(double x) {
  return number_text(x, 16);  // whole numbers in full
}
std::string text(const ValueRange& range) {
  return text(range.low) + " to " + text(range.high);
}

double bound_value(const std::optional<Expression>& exact,
                   double real,
                   const Bindings& bindings,
                   const std::string& place) {
  return exact ? static_cast<double>(exact->evaluate(bindings, place)) : real;
}

/// Every value that `rule` can give, whatever the seed.
ValueRange range_of(const InitRule& rule,
                    DType dtype,
                    const std::vector<std::int64_t>& shape,
                    const Bindings& bindings,
                    const std::string& place) {
  using Kind = InitRule::Kind;
  const double last = static_cast<double>((shape.empty() ? 1 : shape.back()) - 1);
  switch (rule.kind) {
    case Kind::zeros:
      return {0, 0};
    case Kind::ones:
      return {1, 1};
    case Kind::full:
      return {rule.fill_value, rule.fill_value};
    case Kind::arange:
      return {std::min(rule.start, rule.start + rule.step * last),
              std::max(rule.start, rule.start + rule.step * last)};
    case Kind::randn:
      // without tails, which a narrow type may round to infinity
      if (info(dtype).is_float) return {rule.mean - rule.std, rule.mean + rule.std};
      return range_of(dtype);
    case Kind::uniform:
    case Kind::randint: {
      const double low = bound_value(rule.low, rule.low_value, bindings, place + "/init/low");
      const double high = bound_value(rule.high, rule.high_value, bindings, place + "/init/high");
      if (rule.kind == Kind::randint && !(rule.low && rule.high)) {
        throw bad_input(place + "/init", "randint", "integers low and high");
      }
      if (!(high > low))
        throw bad_input(place + "/init/high", text(high), "above low = " + text(low));
      return {std::floor(low), info(dtype).is_float ? high : std::ceil(high) - 1};
    }
    case Kind::permutation:
      return {0, last};
    case Kind::csr_row_pointers:
      return {0, std::floor(last * rule.mean + 0.5)};
    case Kind::csr_column_indices: {
      if (!rule.high)
        throw bad_input(place + "/init", "csr_column_indices", "the number of columns, high");
      const double columns = bound_value(rule.high, 0, bindings, place + "/init/high");
      if (columns < 1) throw bad_input(place + "/init/high", text(columns), "at least 1 column");
      return {0, columns - 1};
    }
  }
  return {};
}

void check_rule(const InitRule& rule, const std::string& place) {
  if (!(rule.skew >= 0 && rule.skew <= 1))
    throw bad_input(place + "/init/skew", text(rule.skew), "a number from 0 to 1");
  if (!(rule.std >= 0))
    throw bad_input(place + "/init/std", text(rule.std), "a number of at least 0");
  if (rule.kind == InitRule::Kind::csr_row_pointers && !(rule.mean >= 0 && rule.mean < 0x1p40)) {
    throw bad_input(place + "/init/mean", text(rule.mean), "a mean row length of at least 0");
  }
}

/// Element and value of the first index outside [0, extent); -1 if there is none.
std::int64_t first_outside(const Tensor& tensor, std::int64_t extent) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = tensor.at(i);
    if (value < 0 || value >= static_cast<double>(extent)) return i;
  }
  return -1;
}

void check_indexes(const KernelSpec& spec,
                   const ArgSpec& arg,
                   const Workload& workload,
                   const TensorSpec& tensor,
                   const std::vector<std::int64_t>& shape,
                   const ValueRange& values,
                   const std::string& place) {
  const ArgSpec* target = spec.io.find(tensor.indexes);
  if (target == nullptr || !target->tensor || target->name == arg.name) {
    throw bad_input(place + "/indexes", tensor.indexes, "the name of another tensor");
  }
  if (info(tensor.dtype).is_float || tensor.dtype == DType::boolean) {
    throw bad_input(place + "/indexes", std::string(info(tensor.dtype).name),
                    "an integer type for a tensor that indexes");
  }
  const std::vector<std::int64_t> extents = spec.shape_of(*target, workload);
  const std::int64_t extent = extents.empty() ? 1 : extents.front();
  const bool embedded = std::holds_alternative<EmbeddedData>(tensor.content);
  if (!embedded && values.low >= 0 && values.high < static_cast<double>(extent)) return;
  const std::string wanted = "indices from 0 to " + std::to_string(extent - 1) +
                             ", as the first dimension of " + tensor.indexes + " says";
  std::int64_t elements = 1;
  for (const std::int64_t x : shape) elements *= x;
  if (embedded || elements <= kMaxCheckedElements) {
    const Tensor content = materialize(spec, arg, workload);
    if (const std::int64_t i = first_outside(content, extent); i >= 0) {
      throw bad_input(place + "/indexes",
                      "index " + text(content.at(i)) + " at element " + std::to_string(i), wanted);
    }
    if (embedded) return;
  }
  throw bad_input(place + "/indexes", "indices of " + text(values), wanted);
}

/// The row pointers that column indices follow must be ascending from 0 and end within the column
/// tensor.
void check_columns(const KernelSpec& spec,
                   const Workload& workload,
                   const InitRule& rule,
                   std::int64_t columns_size,
                   const std::string& place) {
  const ArgSpec* source = spec.io.find(rule.row_pointers);
  if (source == nullptr || !source->tensor)
    throw bad_input(place + "/init/row_pointers", rule.row_pointers,
                    "the name of a tensor of row pointers");
  const TensorSpec theirs = spec.tensor_of(*source, workload);
  const auto* pointers = std::get_if<InitRule>(&theirs.content);
  const std::vector<std::int64_t> shape = spec.shape_of(*source, workload);
  if (shape.size() != 1 || shape[0] < 2)
    throw bad_input(place + "/init/row_pointers", rule.row_pointers,
                    "a list of rows + 1 row pointers");
  const std::string wanted = "ascending row pointers from 0 to at most " +
                             std::to_string(columns_size) + ", the elements of this tensor";
  if (pointers != nullptr && pointers->kind == InitRule::Kind::csr_row_pointers) {
    const ValueRange range = range_of(*pointers, theirs.dtype, shape, {}, place);
    if (range.high > static_cast<double>(columns_size))
      throw bad_input(place + "/init/row_pointers", "total " + text(range.high), wanted);
    return;
  }
  if (pointers != nullptr &&
      (pointers->kind == InitRule::Kind::csr_column_indices || shape[0] > kMaxCheckedElements)) {
    throw bad_input(place + "/init/row_pointers", rule.row_pointers,
                    "a tensor of kind csr_row_pointers or of embedded data");
  }
  const Tensor content = materialize(spec, *source, workload);
  double before = 0;
  for (std::int64_t i = 0; i < content.elements(); ++i) {
    const double value = content.at(i);
    if (value < before || value > static_cast<double>(columns_size) || (i == 0 && value != 0)) {
      throw bad_input(place + "/init/row_pointers",
                      text(value) + " at element " + std::to_string(i), wanted);
    }
    before = value;
  }
}

}  // namespace

void check_tensor_values(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  const TensorSpec tensor = spec.tensor_of(arg, workload);
  const std::vector<std::int64_t> shape = spec.shape_of(arg, workload);
  const std::string place = spec.place_of(arg, workload);
  ValueRange values = range_of(tensor.dtype);
  if (const auto* data = std::get_if<EmbeddedData>(&tensor.content)) {
    if (data->tensor.dtype != tensor.dtype) {
      throw bad_input(place + "/data/dtype", std::string(info(data->tensor.dtype).name),
                      std::string(info(tensor.dtype).name) + ", as the tensor_spec says");
    }
    if (data->tensor.shape != shape) {
      throw bad_input(place + "/data/shape", std::to_string(data->tensor.elements()) + " elements",
                      "the shape of the tensor_spec");
    }
  }
  if (const auto* rule = std::get_if<InitRule>(&tensor.content)) {
    check_rule(*rule, place);
    std::int64_t elements = 1;
    for (const std::int64_t x : shape) elements *= x;
    if (rule->kind == InitRule::Kind::csr_row_pointers && (shape.size() != 1 || elements < 2)) {
      throw bad_input(place + "/shape", std::to_string(elements) + " elements",
                      "a list of rows + 1 row pointers");
    }
    values = range_of(*rule, tensor.dtype, shape, spec.bindings(workload, spec.default_tunables()),
                      place);
    const ValueRange allowed = range_of(tensor.dtype);
    if (values.low < allowed.low || values.high > allowed.high) {
      throw bad_input(place + "/init", "values of " + text(values),
                      "values that " + std::string(info(tensor.dtype).name) + " holds");
    }
    if (rule->kind == InitRule::Kind::csr_column_indices)
      check_columns(spec, workload, *rule, elements, place);
  }
  if (!tensor.indexes.empty()) check_indexes(spec, arg, workload, tensor, shape, values, place);
}

}  // namespace warpath
