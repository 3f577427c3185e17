#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/spec/tensor.h"
#include "runners/reference/host_op.h"

namespace warpath {

/// A tensor seen as rows of its last dimension; a scalar is one row of one element.
struct Rows {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
[[nodiscard]] Rows rows_of(const OpCall::Shape& shape);

[[nodiscard]] std::vector<double> load_all(const Tensor& tensor);

/// Calls body(begin, end) over disjoint ranges that cover [0, count), on all cores. `cost`: work
/// per item, in elements; a range has at most 32768 elements or one item. The result must not
/// depend on the partition.
void in_parallel(std::int64_t count,
                 std::int64_t cost,
                 const std::function<void(std::int64_t, std::int64_t)>& body);

/// The operands of an operation that maps rows to rows.
inline constexpr Operand kRowsIn{"x", Operand::Kind::tensor, true, "[..., C]"};
inline constexpr Operand kRowsOut{"out", Operand::Kind::output, true, "[..., C]"};
/// Those of normalisations with an affine map of their C channels.
inline constexpr Operand kChannelWeight{"weight", Operand::Kind::tensor, false, "[C], default 1"};
inline constexpr Operand kChannelBias{"bias", Operand::Kind::tensor, false, "[C], default 0"};
inline constexpr Operand kVarianceEps{"eps", Operand::Kind::number, false,
                                      "added to the variance, default 1e-5"};

/// The values of an operand; `count` times `otherwise` where it is left out.
[[nodiscard]] std::vector<double> values_or(const OpCall& call,
                                            std::string_view operand,
                                            std::int64_t count,
                                            double otherwise);

/// Applies `f` in place to a copy of each row of operand `x` and stores it in `out`. The operands
/// must have equal shapes.
void map_rows(OpCall& call, const std::function<void(std::span<double>)>& f);

}  // namespace warpath
