#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// Sums over ranges that lie end to end: a thread a row, out[row] = sum of f(j) for j in
/// [pointers[row], pointers[row + 1]). Points into the kernel's model.
struct RangeSum {
  std::size_t ordinal = 0;  ///< of the loop
  const model::Loop* loop = nullptr;
  const model::ThreadIndex* row = nullptr;
  /// of the row and of j: integers of at least 32 bits
  std::string row_type, index_type;
  std::string rows;                        ///< how many there are, as the source says it
  const model::Array* pointers = nullptr;  ///< ascending from 0, as the spec says
  const model::Array* out = nullptr;
  /// of the sum and of `out`: one that atomicAdd takes
  std::string type;
  const model::Reduction* sum = nullptr;
  bool adds = false;  ///< to what `out` holds; else it is set
  /// declarations that summands and number of rows need, in order
  std::vector<const model::Stmt*> kept;
  std::vector<const model::Stmt*> locals;  ///< declarations of the loop's body
  /// loads of an iteration that no other load leads to, whatever the values are
  std::vector<const model::Access*> streams;
  /// elements of an array of which f(j) reads the j-th: over the spec's names
  std::string extent;
};

/// nullopt with one line in `why` if the kernel is something else, does more, or a range could be
/// something else than the spec says.
[[nodiscard]] std::optional<RangeSum> find_range_sum(const MoveContext& context,
                                                     const model::KernelModel& model,
                                                     std::string& why);

}  // namespace warpath
