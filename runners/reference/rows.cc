#include "runners/reference/rows.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace warpath {

Rows rows_of(const OpCall::Shape& shape) {
  Rows out;
  if (shape.empty()) return out;
  out.columns = shape.back();
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) out.rows *= shape[i];
  return out;
}

std::vector<double> load_all(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.elements()));
  in_parallel(tensor.elements(), 1, [&](std::int64_t begin, std::int64_t end) {
    tensor.read(begin, std::span(out).subspan(static_cast<std::size_t>(begin),
                                              static_cast<std::size_t>(end - begin)));
  });
  return out;
}

void in_parallel(std::int64_t count,
                 std::int64_t cost,
                 const std::function<void(std::int64_t, std::int64_t)>& body) {
  constexpr std::int64_t kTaskElements = 1 << 15;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kTaskElements / std::max<std::int64_t>(1, cost));
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, count, static_cast<std::size_t>(grain)),
      [&](const auto& range) { body(range.begin(), range.end()); }, tbb::simple_partitioner());
}

std::vector<double> values_or(const OpCall& call,
                              std::string_view operand,
                              std::int64_t count,
                              double otherwise) {
  return call.has(operand) ? load_all(call.in(operand))
                           : std::vector<double>(static_cast<std::size_t>(count), otherwise);
}

void map_rows(OpCall& call, const std::function<void(std::span<double>)>& f) {
  const Tensor& x = call.in("x");
  Tensor& out = call.out("out");
  const auto [rows, columns] = rows_of(call.shape("x"));
  in_parallel(rows, columns, [&, columns = columns](std::int64_t begin, std::int64_t end) {
    std::vector<double> row(static_cast<std::size_t>(columns));
    for (std::int64_t i = begin; i < end; ++i) {
      x.read(i * columns, row);
      f(row);
      out.write(i * columns, row);
    }
  });
}

}  // namespace warpath
