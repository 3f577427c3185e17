#include "engine/spec/tensor_init.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/base/counter_random.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace warpath {
namespace {

__extension__ using Wide = unsigned __int128;

/// floor(a * b / 2^64): `a` random bits scaled to [0, b). Bias below b / 2^64.
std::uint64_t scale(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(Wide{a} * b >> 64U);
}

/// Stores the low bytes of each value; real types get it as a signed number.
template <class F>
void fill_integers(Tensor& tensor, F&& value) {
  const std::size_t width = info(tensor.dtype).size_bytes;
  const auto n = static_cast<std::uint64_t>(tensor.elements());
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t x = portable::integer_element(tensor.dtype, value(i));
    std::memcpy(tensor.bytes.data() + i * width, &x, width);
  }
}

/// Splits `total` entries, the first being `before`, over the rows [first, last).
void split_rows(std::vector<std::uint64_t>& pointers,
                std::uint64_t seed,
                double skew,
                std::uint64_t first,
                std::uint64_t last,
                std::uint64_t before,
                std::uint64_t total) {
  if (last - first < 2) return;
  const std::uint64_t middle = first + (last - first) / 2;
  const double g = 1 + skew * (2 * unit_interval(random_bits(seed, middle)) - 1);
  const double left = static_cast<double>(middle - first) * g;
  const double right = static_cast<double>(last - middle) * (2 - g);
  const double share = std::floor(static_cast<double>(total) * (left / (left + right)) + 0.5);
  const std::uint64_t taken = std::min(total, static_cast<std::uint64_t>(share));
  pointers[middle] = before + taken;
  split_rows(pointers, seed, skew, first, middle, before, taken);
  split_rows(pointers, seed, skew, middle, last, before + taken, total - taken);
}

void fill_row_pointers(Tensor& tensor,
                       const InitRule& rule,
                       std::uint64_t seed,
                       std::string_view place) {
  const auto size = static_cast<std::uint64_t>(tensor.elements());
  if (tensor.shape.size() != 1 || size < 2)
    throw bad_input(place, "", "a list of rows + 1 extents for csr_row_pointers");
  const double total = std::floor(static_cast<double>(size - 1) * rule.mean + 0.5);
  if (!(total >= 0 && total < 0x1p53)) throw bad_input(place, "", "rows * mean from 0 to 2^53");
  std::vector<std::uint64_t> pointers(size);
  pointers.back() = static_cast<std::uint64_t>(total);
  split_rows(pointers, seed, rule.skew, 0, size - 1, 0, pointers.back());
  fill_integers(tensor, [&](std::uint64_t i) { return pointers[i]; });
}

void fill_columns(Tensor& tensor,
                  std::uint64_t columns,
                  std::uint64_t seed,
                  const Tensor* row_pointers,
                  std::string_view place) {
  if (row_pointers == nullptr) throw bad_input(place, "", "row_pointers for csr_column_indices");
  const std::int64_t size = tensor.elements();
  const std::int64_t rows = row_pointers->elements() - 1;
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size));
  std::int64_t begin = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto end = static_cast<std::int64_t>(row_pointers->at(row + 1));
    if (end < begin || end > size) {
      throw bad_input(place,
                      "row pointer " + std::to_string(end) + " after row " + std::to_string(row),
                      "ascending row pointers of at most " + std::to_string(size) + " entries");
    }
    const auto length = static_cast<std::uint64_t>(end - begin);
    for (std::uint64_t k = 0; k < length; ++k) {
      const std::uint64_t i = static_cast<std::uint64_t>(begin) + k;
      values[i] = csr_column(seed, i, k, length, columns);
    }
    begin = end;
  }
  fill_integers(tensor, [&](std::uint64_t i) { return values[i]; });
}

std::int64_t bound_of(const std::optional<Expression>& bound,
                      const Bindings& bindings,
                      std::string_view key,
                      std::string_view place) {
  const std::string at = std::string(place) + "/" + std::string(key);
  if (!bound) throw bad_input(at, "", "an integer or an expression");
  return bound->evaluate(bindings, at);
}

void bind_integer(ElementRule& out,
                  const InitRule& rule,
                  const Bindings& bindings,
                  std::string_view place) {
  const std::int64_t low = bound_of(rule.low, bindings, "low", place);
  const std::int64_t high = bound_of(rule.high, bindings, "high", place);
  if (high <= low) {
    throw bad_input(std::string(place) + "/high", std::to_string(high),
                    "above low = " + std::to_string(low));
  }
  out.kind = ElementRule::Kind::integer;
  out.base = static_cast<std::uint64_t>(low);
  out.range = static_cast<std::uint64_t>(high) - out.base;
  out.skew = rule.skew;
}

void bind_uniform(ElementRule& out,
                  const InitRule& rule,
                  const Bindings& bindings,
                  std::string_view place) {
  const double low =
      rule.low ? static_cast<double>(bound_of(rule.low, bindings, "low", place)) : rule.low_value;
  const double high = rule.high ? static_cast<double>(bound_of(rule.high, bindings, "high", place))
                                : rule.high_value;
  if (!(high > low)) {
    throw bad_input(std::string(place) + "/high", std::to_string(high),
                    "above low = " + std::to_string(low));
  }
  out.kind =
      info(out.dtype).is_float ? ElementRule::Kind::uniform : ElementRule::Kind::floor_uniform;
  out.first = low;
  out.second = high - low;
}

}  // namespace

std::optional<ElementRule> element_rule(const InitRule& rule,
                                        std::uint64_t seed,
                                        DType dtype,
                                        std::span<const std::int64_t> shape,
                                        const Bindings& bindings,
                                        std::string_view place) {
  using Kind = InitRule::Kind;
  ElementRule out{};
  out.dtype = dtype;
  out.seed = seed;
  out.row = static_cast<std::uint64_t>(shape.empty() ? 1 : shape.back());
  switch (rule.kind) {
    case Kind::zeros:
      break;
    case Kind::ones:
      out.first = 1;
      break;
    case Kind::full:
      out.first = rule.fill_value;
      break;
    case Kind::arange:
      out.kind = ElementRule::Kind::ramp;
      out.first = rule.start;
      out.second = rule.step;
      break;
    case Kind::randn:
      out.kind = info(dtype).is_float ? ElementRule::Kind::normal : ElementRule::Kind::random_bits;
      out.first = rule.mean;
      out.second = rule.std;
      break;
    case Kind::uniform:
      bind_uniform(out, rule, bindings, place);
      break;
    case Kind::randint:
      bind_integer(out, rule, bindings, place);
      break;
    case Kind::permutation:
      out.kind = ElementRule::Kind::permutation;
      break;
    case Kind::csr_row_pointers:
    case Kind::csr_column_indices:
      return std::nullopt;
  }
  return out;
}

std::optional<ElementRule> element_rule(const KernelSpec& spec,
                                        const ArgSpec& arg,
                                        const Workload& workload,
                                        std::uint64_t run_seed) {
  const TensorSpec content = spec.tensor_of(arg, workload);
  const auto* rule = std::get_if<InitRule>(&content.content);
  if (rule == nullptr) return std::nullopt;
  return element_rule(*rule, tensor_seed(rule->seed, arg.name, run_seed), content.dtype,
                      spec.shape_of(arg, workload),
                      spec.bindings(workload, spec.default_tunables()),
                      spec.place_of(arg, workload));
}

Tensor fill_tensor(const InitRule& rule,
                   std::uint64_t seed,
                   DType dtype,
                   std::vector<std::int64_t> shape,
                   const Bindings& bindings,
                   const Tensor* row_pointers,
                   std::string_view place) {
  Tensor out = make_tensor(dtype, std::move(shape));
  if (const auto elements = element_rule(rule, seed, dtype, out.shape, bindings, place)) {
    const std::size_t width = info(dtype).size_bytes;
    const auto n = static_cast<std::uint64_t>(out.elements());
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t x = portable::element(*elements, i);
      std::memcpy(out.bytes.data() + i * width, &x, width);
    }
  } else if (rule.kind == InitRule::Kind::csr_row_pointers) {
    fill_row_pointers(out, rule, seed, place);
  } else {
    const std::int64_t columns = bound_of(rule.high, bindings, "high", place);
    if (columns < 1)
      throw bad_input(std::string(place) + "/high", std::to_string(columns), "at least 1 column");
    fill_columns(out, static_cast<std::uint64_t>(columns), seed, row_pointers, place);
  }
  return out;
}

std::uint64_t tensor_seed(std::uint64_t rule_seed, std::string_view name, std::uint64_t run_seed) {
  return Hasher().add(rule_seed).add(name).add(run_seed).digest().low;
}

std::uint64_t csr_column(std::uint64_t seed,
                         std::uint64_t i,
                         std::uint64_t k,
                         std::uint64_t length,
                         std::uint64_t columns) {
  const auto low = static_cast<std::uint64_t>(Wide{k} * columns / length);
  const auto high = static_cast<std::uint64_t>(Wide{k + 1} * columns / length);
  return low + (high > low ? scale(random_bits(seed, i), high - low) : 0);
}

Tensor materialize(const KernelSpec& spec,
                   const ArgSpec& arg,
                   const Workload& workload,
                   std::uint64_t run_seed,
                   std::byte poison) {
  const TensorSpec content = spec.tensor_of(arg, workload);
  if (const auto* data = std::get_if<EmbeddedData>(&content.content)) return data->tensor;
  std::vector<std::int64_t> shape = spec.shape_of(arg, workload);
  const auto* rule = std::get_if<InitRule>(&content.content);
  if (rule == nullptr) {
    Tensor out = make_tensor(content.dtype, std::move(shape));
    std::fill(out.bytes.begin(), out.bytes.end(), poison);
    return out;
  }
  const std::string place = spec.place_of(arg, workload);
  Tensor row_pointers;
  if (rule->kind == InitRule::Kind::csr_column_indices) {
    const ArgSpec* source = spec.io.find(rule->row_pointers);
    if (source == nullptr || source == &arg || !source->tensor) {
      throw bad_input(place + "/row_pointers", rule->row_pointers, "the name of another tensor");
    }
    const auto* theirs = std::get_if<InitRule>(&source->tensor->content);
    if (theirs != nullptr && theirs->kind == InitRule::Kind::csr_column_indices) {
      throw bad_input(place + "/row_pointers", rule->row_pointers, "a tensor of row pointers");
    }
    row_pointers = materialize(spec, *source, workload, run_seed);
  }
  return fill_tensor(*rule, tensor_seed(rule->seed, arg.name, run_seed), content.dtype,
                     std::move(shape), spec.bindings(workload, spec.default_tunables()),
                     &row_pointers, place);
}

}  // namespace warpath
