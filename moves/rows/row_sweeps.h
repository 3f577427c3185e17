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

/// The atom of the loop's variable in `index`: its name, possibly with a version.
[[nodiscard]] std::string loop_atom(const model::Polynomial& index, const model::Loop& loop);

/// The block's extents; nullopt if the plan is not constant or beyond 1024 threads.
[[nodiscard]] std::optional<std::array<std::int64_t, 3>> block_extents(const Variant& variant);

/// Threads per block of the variant along x; nullopt if its y or z extent is not 1 or the plan is
/// not constant.
[[nodiscard]] std::optional<std::int64_t> threads_per_row_block(const Variant& variant);

/// Elements base + j of an array, with j the variable of the sweeps.
struct RowOperand {
  int array = 0;
  model::Polynomial base;         ///< as written: its text compiles before the first sweep
  model::Polynomial folded_base;  ///< over threads, blocks and sizes
  struct Use {
    const model::Access* access = nullptr;
    std::size_t sweep = 0;  ///< into RowSweeps::loops
  };
  std::vector<Use> uses;           ///< in source order
  bool conditional_write = false;  ///< a write is conditional within its sweep
  bool unconditional = false;      ///< some use is unconditional
  [[nodiscard]] bool written() const;
  [[nodiscard]] std::size_t first_sweep() const { return uses.front().sweep; }
  [[nodiscard]] std::optional<std::size_t> last_write() const;
  /// True if its elements must exist before the first sweep.
  [[nodiscard]] bool read_first() const { return uses.front().access->reads(); }
};

/// Loops of one statement list over the same row, in which each thread or lane takes every LANES-th
/// element: `for (j = lane + c; j < C; j += LANES)`; with one lane, all elements.
struct RowSweeps {
  std::size_t ordinal = 0;  ///< of the first loop among the kernel's loops
  std::vector<const model::Loop*> loops;
  std::vector<std::int64_t> offsets;  ///< c of each
  std::int64_t lanes = 1;
  std::int64_t threads = 1;            ///< per block
  std::string lane;                    ///< text of the lane index; empty for one lane
  model::Polynomial end;               ///< exclusive, as written
  std::optional<std::int64_t> length;  ///< `end` if it is a constant of the source
  std::vector<RowOperand> operands;
};

/// All groups of sweeps of the kernel, in source order.
[[nodiscard]] std::vector<RowSweeps> find_row_sweeps(const MoveContext& context,
                                                     const model::KernelModel& model);

}  // namespace warpath
