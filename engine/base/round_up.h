#pragma once

#include <concepts>

namespace warpath {

/// The smallest multiple of `unit` that is at least `value`. `value` >= 0, `unit` > 0.
template <std::integral Integer>
[[nodiscard]] constexpr Integer round_up(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace warpath
