#pragma once

#include <optional>
#include <string>

#include "moves/tiles/contraction_axes.h"

namespace warpath {

struct FactorPart {
  ContractionOperand operand;
  model::Polynomial index;  ///< over the axes, k and sizes
  int array = 0;
};

[[nodiscard]] std::optional<FactorPart> contraction_factor(const ContractionParts& parts,
                                                           const model::Expr& expr,
                                                           const model::Loop& loop,
                                                           std::string& why);
/// Sets strides, contiguity and vector width.
[[nodiscard]] bool read_strides(const ContractionParts& parts,
                                ContractionOperand& operand,
                                const FactorPart& factor,
                                const model::Loop& loop,
                                const AxisPart& axis,
                                std::string& why);
/// Elements that one access may move: `rest` is where it begins, `extent` how many there are.
[[nodiscard]] int widest_vector(const ContractionParts& parts,
                                int array,
                                const model::Polynomial& rest,
                                const model::Polynomial& extent);

}  // namespace warpath
