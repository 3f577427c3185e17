#include "engine/tensor_init.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "engine/counter_random.h"
#include "engine/error.h"
#include "engine/hash.h"
#include "engine/rng.h"

namespace warpath {
namespace {

__extension__ using Wide = unsigned __int128;

/// floor(a * b / 2^64): `a` random bits scaled to [0, b). Bias below b / 2^64.
std::uint64_t scale(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint64_t>(Wide{a} * b >> 64U); }

template <class F>
void fill_reals(Tensor& tensor, F&& value) {
  const std::int64_t n = tensor.elements();
  if (tensor.dtype != DType::f32) {
    for (std::int64_t i = 0; i < n; ++i) tensor.set(i, value(static_cast<std::uint64_t>(i)));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {  // the common case, without the switch
    const auto x = static_cast<float>(value(static_cast<std::uint64_t>(i)));
    std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * sizeof x, &x, sizeof x);
  }
}

/// Stores the low bytes of each value; real types get it as a signed number.
template <class F>
void fill_integers(Tensor& tensor, F&& value) {
  if (info(tensor.dtype).is_float) {
    fill_reals(tensor, [&](std::uint64_t i) { return static_cast<double>(static_cast<std::int64_t>(value(i))); });
    return;
  }
  const std::size_t width = info(tensor.dtype).size_bytes;
  const std::uint64_t mask = tensor.dtype == DType::boolean ? 1 : ~std::uint64_t{0};
  const auto n = static_cast<std::uint64_t>(tensor.elements());
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t x = value(i) & mask;
    std::memcpy(tensor.bytes.data() + i * width, &x, width);
  }
}

/// A bijection of [0, n) chosen by `key`.
class Shuffle {
 public:
  Shuffle(std::uint64_t n, std::uint64_t key) : n_(n), key_(key) {
    while ((std::uint64_t{1} << (2 * half_)) < n) ++half_;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    do x = permute(x);
    while (x >= n_);  // the domain is below 4n: few steps, and a walk along a cycle stays a bijection
    return x;
  }

 private:
  [[nodiscard]] std::uint64_t permute(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = x >> half_, right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mix64(key_ ^ mix64(right << 2U | round)) & mask);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }
  std::uint64_t n_, key_;
  unsigned half_ = 1;
};

/// Splits `total` entries, the first being `before`, over the rows [first, last).
void split_rows(std::vector<std::uint64_t>& pointers, std::uint64_t seed, double skew, std::uint64_t first,
                std::uint64_t last, std::uint64_t before, std::uint64_t total) {
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

void fill_row_pointers(Tensor& tensor, const InitRule& rule, std::uint64_t seed, std::string_view place) {
  const auto size = static_cast<std::uint64_t>(tensor.elements());
  if (tensor.shape.size() != 1 || size < 2) throw bad_input(place, "", "a list of rows + 1 extents for csr_row_pointers");
  const double total = std::floor(static_cast<double>(size - 1) * rule.mean + 0.5);
  if (!(total >= 0 && total < 0x1p53)) throw bad_input(place, "", "rows * mean from 0 to 2^53");
  std::vector<std::uint64_t> pointers(size);
  pointers.back() = static_cast<std::uint64_t>(total);
  split_rows(pointers, seed, rule.skew, 0, size - 1, 0, pointers.back());
  fill_integers(tensor, [&](std::uint64_t i) { return pointers[i]; });
}

void fill_columns(Tensor& tensor, std::uint64_t columns, std::uint64_t seed, const Tensor* row_pointers,
                  std::string_view place) {
  if (row_pointers == nullptr) throw bad_input(place, "", "row_pointers for csr_column_indices");
  const std::int64_t size = tensor.elements();
  const std::int64_t rows = row_pointers->elements() - 1;
  std::vector<std::uint64_t> values(static_cast<std::size_t>(size));
  std::int64_t begin = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto end = static_cast<std::int64_t>(row_pointers->at(row + 1));
    if (end < begin || end > size) {
      throw bad_input(place, "row pointer " + std::to_string(end) + " after row " + std::to_string(row),
                      "ascending row pointers of at most " + std::to_string(size) + " entries");
    }
    const auto length = static_cast<std::uint64_t>(end - begin);
    for (std::uint64_t k = 0; k < length; ++k) {
      const auto low = static_cast<std::uint64_t>(Wide{k} * columns / length);
      const auto high = static_cast<std::uint64_t>(Wide{k + 1} * columns / length);
      const std::uint64_t i = static_cast<std::uint64_t>(begin) + k;
      values[i] = low + (high > low ? scale(random_bits(seed, i), high - low) : 0);
    }
    begin = end;
  }
  fill_integers(tensor, [&](std::uint64_t i) { return values[i]; });
}

std::int64_t bound_of(const std::optional<Expression>& bound, const Bindings& bindings, std::string_view key,
                      std::string_view place) {
  const std::string at = std::string(place) + "/" + std::string(key);
  if (!bound) throw bad_input(at, "", "an integer or an expression");
  return bound->evaluate(bindings, at);
}

void fill_randint(Tensor& tensor, const InitRule& rule, std::uint64_t seed, const Bindings& bindings, std::string_view place) {
  const std::int64_t low = bound_of(rule.low, bindings, "low", place);
  const std::int64_t high = bound_of(rule.high, bindings, "high", place);
  if (high <= low) throw bad_input(std::string(place) + "/high", std::to_string(high), "above low = " + std::to_string(low));
  const std::uint64_t base = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - base;
  fill_integers(tensor, [&](std::uint64_t i) {
    if (rule.skew > 0 && unit_interval(random_bits(seed, i, 1)) < rule.skew) return base;
    return base + scale(random_bits(seed, i), range);
  });
}

void fill_uniform(Tensor& tensor, const InitRule& rule, std::uint64_t seed, const Bindings& bindings, std::string_view place) {
  const double low = rule.low ? static_cast<double>(bound_of(rule.low, bindings, "low", place)) : rule.low_value;
  const double high = rule.high ? static_cast<double>(bound_of(rule.high, bindings, "high", place)) : rule.high_value;
  if (!(high > low)) throw bad_input(std::string(place) + "/high", std::to_string(high), "above low = " + std::to_string(low));
  const bool whole = !info(tensor.dtype).is_float;
  fill_reals(tensor, [&](std::uint64_t i) {
    const double x = low + (high - low) * unit_interval(random_bits(seed, i));
    return whole ? std::floor(x) : x;
  });
}

}  // namespace

Tensor fill_tensor(const InitRule& rule, std::uint64_t seed, DType dtype, std::vector<std::int64_t> shape,
                   const Bindings& bindings, const Tensor* row_pointers, std::string_view place) {
  Tensor out = make_tensor(dtype, std::move(shape));
  const auto row = static_cast<std::uint64_t>(out.shape.empty() ? 1 : out.shape.back());
  using Kind = InitRule::Kind;
  switch (rule.kind) {
    case Kind::zeros: break;
    case Kind::ones: fill_integers(out, [](std::uint64_t) { return std::uint64_t{1}; }); break;
    case Kind::full: fill_reals(out, [&](std::uint64_t) { return rule.fill_value; }); break;
    case Kind::arange:
      fill_reals(out, [&](std::uint64_t i) { return rule.start + rule.step * static_cast<double>(i % row); });
      break;
    case Kind::randn:
      if (info(dtype).is_float) {
        fill_reals(out, [&](std::uint64_t i) {
          return rule.mean + rule.std * inverse_normal(unit_interval(random_bits(seed, i)) + 0x1p-54);
        });
      } else {
        fill_integers(out, [&](std::uint64_t i) { return random_bits(seed, i); });
      }
      break;
    case Kind::uniform: fill_uniform(out, rule, seed, bindings, place); break;
    case Kind::randint: fill_randint(out, rule, seed, bindings, place); break;
    case Kind::permutation:
      fill_integers(out, [&](std::uint64_t i) { return Shuffle(row, random_bits(seed, i / row, 2))(i % row); });
      break;
    case Kind::csr_row_pointers: fill_row_pointers(out, rule, seed, place); break;
    case Kind::csr_column_indices: {
      const std::int64_t columns = bound_of(rule.high, bindings, "high", place);
      if (columns < 1) throw bad_input(std::string(place) + "/high", std::to_string(columns), "at least 1 column");
      fill_columns(out, static_cast<std::uint64_t>(columns), seed, row_pointers, place);
      break;
    }
  }
  return out;
}

std::uint64_t tensor_seed(std::uint64_t rule_seed, std::string_view name, std::uint64_t run_seed) {
  return Hasher().add(rule_seed).add(name).add(run_seed).digest().low;
}

Tensor materialize(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload, std::uint64_t run_seed,
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
  return fill_tensor(*rule, tensor_seed(rule->seed, arg.name, run_seed), content.dtype, std::move(shape),
                     spec.bindings(workload, spec.default_tunables()), &row_pointers, place);
}

}  // namespace warpath
