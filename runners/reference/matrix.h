#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "engine/spec/tensor.h"

namespace warpath {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// rows * columns elements from index `begin` on, converted to double.
[[nodiscard]] Matrix load_matrix(const Tensor& tensor,
                                 std::int64_t begin,
                                 std::int64_t rows,
                                 std::int64_t columns);
/// Writes from index `begin` on, rounding to the tensor's type.
void store_matrix(const Matrix& matrix, std::int64_t begin, Tensor& tensor);
/// a * b on all cores; the result does not depend on their number.
[[nodiscard]] Matrix product(const Matrix& a, const Matrix& b);

}  // namespace warpath
