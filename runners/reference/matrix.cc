#include "runners/reference/matrix.h"

#include <algorithm>

#include "runners/reference/rows.h"

namespace warpath {

Matrix load_matrix(const Tensor& tensor,
                   std::int64_t begin,
                   std::int64_t rows,
                   std::int64_t columns) {
  Matrix out(rows, columns);
  in_parallel(rows, columns, [&](std::int64_t first, std::int64_t last) {
    tensor.read(begin + first * columns,
                {out.data() + first * columns, static_cast<std::size_t>((last - first) * columns)});
  });
  return out;
}

void store_matrix(const Matrix& matrix, std::int64_t begin, Tensor& tensor) {
  const std::int64_t columns = matrix.cols();
  in_parallel(matrix.rows(), columns, [&](std::int64_t first, std::int64_t last) {
    tensor.write(begin + first * columns, {matrix.data() + first * columns,
                                           static_cast<std::size_t>((last - first) * columns)});
  });
}

Matrix product(const Matrix& a, const Matrix& b) {
  constexpr std::int64_t kStrip =
      64;  // rows of a task: fixed, so that the order of additions is too
  Matrix out(a.rows(), b.cols());
  const std::int64_t strips = (a.rows() + kStrip - 1) / kStrip;
  in_parallel(strips, kStrip * a.cols() * b.cols(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t strip = first; strip < last; ++strip) {
      const std::int64_t row = strip * kStrip;
      const std::int64_t rows = std::min(kStrip, a.rows() - row);
      out.middleRows(row, rows).noalias() = a.middleRows(row, rows) * b;
    }
  });
  return out;
}

}  // namespace warpath
