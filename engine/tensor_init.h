#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/spec.h"
#include "engine/tensor.h"

namespace warpath {

/// Philox4x32-10 (Salmon et al. 2011): 128 random bits of `counter` under `key`.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

/// 64 random bits of element `i`: words 2*(i%2) and 2*(i%2)+1 of philox4x32({i/2 low, i/2 high, stream, 0}, {seed low, seed high}).
[[nodiscard]] std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i, std::uint32_t stream = 0);

/// Natural logarithm of a positive finite normal number, within 1 ulp. Only IEEE basic operations in a fixed order, so that every
/// processor without contraction gives the same bits (the argument reduction and series of FreeBSD's e_log).
[[nodiscard]] double portable_log(double x);
/// Inverse of the standard normal distribution at p in (0, 1): AS241's PPND16 (Wichura 1988), relative error about 1e-16.
[[nodiscard]] double inverse_normal(double p);

/// Fills a tensor by `rule`. Element i is a function of (rule, seed, shape, i) alone.
///   randn                 mean + std * inverse_normal(((bits >> 11) + 0.5) * 2^-53); integers: all bits of the type
///   uniform               low + (high - low) * (bits >> 11) * 2^-53, rounded to the type (integers: down)
///   arange                start + step * (i mod last dimension)
///   randint               low + high64((high - low) * bits); `skew` of the elements are `low`
///   permutation           Feistel network of the row, walked until the value is in range
///   csr_row_pointers      binary splitting of round(rows * mean) into rows; `skew` unbalances every split
///   csr_column_indices    the row's k-th of L entries lies in [k*high/L, (k+1)*high/L)
/// `row_pointers`: the tensor that csr_column_indices follows; otherwise ignored.
/// Throws Error(bad_input) at `place` when an expression fails or the rule cannot fill this type.
[[nodiscard]] Tensor fill_tensor(const InitRule& rule, std::uint64_t seed, DType dtype, std::vector<std::int64_t> shape,
                                 const Bindings& bindings, const Tensor* row_pointers, std::string_view place);

/// Content of a tensor argument under `workload`. `run_seed` 0 gives the values that the spec's own seeds say; any
/// other value gives other values of the same kind (index tensors stay in range, row pointers keep their total).
/// Uninitialised tensors come back filled with `poison_byte`. Throws Error(bad_input).
[[nodiscard]] Tensor materialize(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload,
                                 std::uint64_t run_seed = 0, std::byte poison_byte = std::byte{0xff});

}  // namespace warpath
