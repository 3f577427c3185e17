#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/spec/tensor_init.h"
#include "runners/inputs/input_choices.h"

namespace warpath::test {

/// The rule of a family for a tensor of this shape, its values as declared.
inline FamilyRule rule_for(InputFamily family,
                           int form,
                           std::uint64_t seed,
                           const std::vector<std::int64_t>& shape,
                           DType dtype = DType::f32) {
  FamilyRule rule{};
  rule.family = family;
  rule.form = form;
  rule.dtype = dtype;
  rule.seed = seed;
  rule.elements = 1;
  for (const std::int64_t extent : shape) rule.elements *= static_cast<std::uint64_t>(extent);
  rule.row = static_cast<std::uint64_t>(shape.back());
  rule.lines = static_cast<std::uint64_t>(shape.size() < 2 ? 1 : shape[shape.size() - 2]);
  rule.scale = 1;
  rule.odd = kNoElement;
  return rule;
}

inline constexpr std::int64_t kMatrices = 2, kLines = 48, kRow = 80;

/// A family's tensor of kMatrices matrices.
struct Made {
  Tensor own =
             fill_tensor(InitRule{}, 5, DType::f32, {kMatrices, kLines, kRow}, {}, nullptr, "here"),
         values = own;
  Made(InputFamily family, int form, std::uint64_t seed) {
    apply_family(values, rule_for(family, form, seed, own.shape));
  }
  [[nodiscard]] double operator()(std::int64_t matrix,
                                  std::int64_t line,
                                  std::int64_t column) const {
    return values.at((matrix * kLines + line) * kRow + column);
  }
  /// True if `holds` of every element.
  [[nodiscard]] bool all(
      const std::function<bool(std::int64_t, std::int64_t, std::int64_t)>& holds) const {
    for (std::int64_t m = 0; m < kMatrices; ++m) {
      for (std::int64_t line = 0; line < kLines; ++line) {
        for (std::int64_t column = 0; column < kRow; ++column) {
          if (!holds(m, line, column)) return false;
        }
      }
    }
    return true;
  }
};

}  // namespace warpath::test
