#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/portable/element.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// Fills a tensor by `rule`. Element i is a function of (rule, seed, shape, i) alone; bits =
/// random_bits(seed, i), u = their unit_interval.
///   randn               mean + std * inverse_normal(u + 2^-54); integers: the low bits of `bits`
///   uniform             low + (high - low) * u, rounded to the type (integers: down)
///   arange              start + step * (i mod last dimension)
///   randint             low + floor((high - low) * bits / 2^64); low itself if
///                       unit_interval(random_bits(seed, i, 1)) < skew
///   permutation         four-round Feistel network keyed by the row, walked until in range
///   csr_row_pointers    round(rows * mean) entries, recursively divided at the middle row; `skew`
///                       unbalances the divisions
///   csr_column_indices  the k-th of a row's L entries is uniform in [k*high/L, (k+1)*high/L); 0
///                       beyond the last row
/// `row_pointers`: tensor for csr_column_indices, otherwise ignored. Throws Error(bad_input) at
/// `place` if an expression cannot be evaluated or the rule cannot fill such a tensor.
[[nodiscard]] Tensor fill_tensor(const InitRule& rule,
                                 std::uint64_t seed,
                                 DType dtype,
                                 std::vector<std::int64_t> shape,
                                 const Bindings& bindings,
                                 const Tensor* row_pointers,
                                 std::string_view place);

/// `rule` with its expressions evaluated, for filling a tensor elsewhere; nullopt if elements
/// depend on each other (csr_*). Throws as fill_tensor.
[[nodiscard]] std::optional<ElementRule> element_rule(const InitRule& rule,
                                                      std::uint64_t seed,
                                                      DType dtype,
                                                      std::span<const std::int64_t> shape,
                                                      const Bindings& bindings,
                                                      std::string_view place);

/// Seed with which `materialize` fills argument `name`: hash(rule seed, name, run seed), so that
/// equal seeds in a spec give different tensors.
[[nodiscard]] std::uint64_t tensor_seed(std::uint64_t rule_seed,
                                        std::string_view name,
                                        std::uint64_t run_seed);

/// The rule by which `materialize` fills a tensor argument; nullopt for what only `materialize` can
/// fill: embedded data, csr_* rules, uninitialised tensors. Throws Error(bad_input).
[[nodiscard]] std::optional<ElementRule> element_rule(const KernelSpec& spec,
                                                      const ArgSpec& arg,
                                                      const Workload& workload,
                                                      std::uint64_t run_seed);

/// What csr_column_indices gives the k-th of a row's `length` entries, the tensor's element `i`.
[[nodiscard]] std::uint64_t csr_column(std::uint64_t seed,
                                       std::uint64_t i,
                                       std::uint64_t k,
                                       std::uint64_t length,
                                       std::uint64_t columns);

/// Content of a tensor argument under `workload`, tunables at their defaults. `run_seed` 0 gives
/// the spec's values; others give other values of the same kind (integers stay in their bounds, row
/// pointers keep their total; embedded data and arange never change). Uninitialised tensors are
/// filled with `poison`. Throws Error(bad_input).
[[nodiscard]] Tensor materialize(const KernelSpec& spec,
                                 const ArgSpec& arg,
                                 const Workload& workload,
                                 std::uint64_t run_seed = 0,
                                 std::byte poison = std::byte{0xff});

}  // namespace warpath
