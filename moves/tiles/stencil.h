#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A thread index that selects the point, and the distance of points along it.
struct StencilAxis {
  const model::ThreadIndex* index = nullptr;
  bool on_blocks = false;  ///< blockIdx alone
  model::Polynomial stride;
  std::string type;  ///< of the variable
};

/// A load at the point displaced by constant + per_r * r points along one axis.
struct LineLoad {
  const model::Access* access = nullptr;
  std::int64_t constant = 0, per_r = 0;
  const model::Loop* loop = nullptr;  ///< of r; null if per_r is 0
};

/// The loads of one input along one axis through the point.
struct StencilLine {
  const model::Array* array = nullptr;
  std::size_t axis = 0;  ///< into Stencil::axes
  std::vector<LineLoad> loads;
  std::int64_t low = 0, high = 0;  ///< points before and after
};

/// A kernel whose threads each compute one grid point from points on the axes through it: every
/// store has the same index, and loads have that index plus constants along an axis.
struct Stencil {
  std::vector<StencilAxis> axes;  ///< slowest first
  std::vector<const model::Access*> stores;
  /// the point itself is assigned to the slowest axis that has a line
  std::vector<StencilLine> lines;
};

/// nullopt with one line in `why` if the kernel is not a stencil. Borrows the model.
[[nodiscard]] std::optional<Stencil> find_stencil(const MoveContext& context,
                                                  const model::KernelModel& kernel,
                                                  std::string& why);

/// `value` with the kernel's constexpr locals and the variant's tunables substituted.
[[nodiscard]] model::Polynomial with_constants(const model::KernelModel& kernel,
                                               const model::Polynomial& value);

}  // namespace warpath
