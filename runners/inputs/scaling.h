#pragma once

#include <cstdint>
#include <optional>

#include "engine/spec/tensor.h"

namespace warpath {

/// Index of the first element of `after` that differs from that of `before` times 2^power; -1 if
/// there is none. An element may differ by `rounding` times the sum of its own magnitude and the
/// root mean square of all. Two NaNs agree; integers agree if equal. Both tensors must have the
/// same type and shape. Elements outside the type's normal range are skipped: scaling may round
/// them.
[[nodiscard]] std::int64_t first_not_scaled(const Tensor& before,
                                            const Tensor& after,
                                            int power,
                                            double rounding = 0);

/// The power, among 0, 1/2, 1, 2, -1 times `exponent`, that turns `before` into `after`; nullopt if
/// none does or if all values are zero or not finite.
[[nodiscard]] std::optional<int> power_between(const Tensor& before,
                                               const Tensor& after,
                                               int exponent);

/// True if one power of two, of whatever exponent, turns every value of `before` into that of
/// `after`, exactly, with all of them finite; of integers, if they are equal. Both tensors must
/// have the same type and shape.
[[nodiscard]] bool is_times_power_of_two(const Tensor& before, const Tensor& after);

}  // namespace warpath
