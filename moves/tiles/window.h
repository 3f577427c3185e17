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

/// A load as an element of the box: one coordinate a dimension, outermost first.
struct WindowLoad {
  const model::Access* access = nullptr;
  std::vector<model::Polynomial>
      place;  ///< over threads, loops and, where loops start at them, blocks
};

/// The elements of an array that one block loads, as a box that moves with the block: element t of
/// the box is element first + sum of t[d] * strides[d] of the array, whether the array's own rows
/// are those of the box or not.
struct Window {
  const model::Array* array = nullptr;
  model::Polynomial first;            ///< over block indices and sizes
  std::vector<std::int64_t> strides;  ///< outermost first
  std::vector<std::int64_t> extents;
  std::int64_t elements = 0;  ///< of the array
  bool inside = false;        ///< no block's box reaches beyond the array
  std::array<std::int64_t, 3> block{1, 1, 1};
  /// elements of the box between neighbouring threads along x, y and z, one a dimension
  std::array<std::vector<std::int64_t>, 3> per_thread;
  std::vector<WindowLoad> loads;
};

/// The window of `array` with most loads, where every element of it is loaded more than once on
/// average. nullopt with one line in `why` if there is none. Borrows the model.
[[nodiscard]] std::optional<Window> find_window(const MoveContext& context,
                                                const model::KernelModel& kernel,
                                                const model::Array& array,
                                                std::string& why);

/// Copies the window of `array` to shared memory at the head of the kernel, where all threads of a
/// block still are, and loads from there. Tests of the edges stay: what they keep a thread from
/// loading is not copied. `unroll`: short loops around the loads are unrolled, so that points of a
/// thread have an element that several of them load from one register.
[[nodiscard]] std::optional<Variant> window_through_tile(const MoveContext& context,
                                                         const model::KernelModel& kernel,
                                                         const model::Array& array,
                                                         bool unroll,
                                                         std::string& why);

}  // namespace warpath
