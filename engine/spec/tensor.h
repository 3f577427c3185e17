#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/dtype.h"

namespace warpath {

/// A dense row-major array in host memory. bytes.size() == elements * info(dtype).size_bytes.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::int64_t elements() const;  ///< product of `shape`; 1 for a scalar
  /// Element `i` in row-major order as double (64-bit integers beyond 2^53 lose low bits).
  [[nodiscard]] double at(std::int64_t i) const;
  void set(std::int64_t i, double value);  ///< rounds to `dtype`
  /// at() and set() of as many elements from `begin` on as the span has: the type is looked at
  /// once.
  void read(std::int64_t begin, std::span<double> out) const;
  void write(std::int64_t begin, std::span<const double> values);
  bool operator==(const Tensor&) const = default;  ///< bytewise
};

[[nodiscard]] Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape);  ///< zero-filled

}  // namespace warpath
