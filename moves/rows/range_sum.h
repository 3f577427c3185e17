#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Sums over adjacent ranges, one row per thread: out[row] = sum of f(j) for j in [pointers[row],
/// pointers[row + 1]). Points into the kernel's model.
struct RangeSum {
  std::size_t ordinal = 0;  ///< of the loop
  const model::Loop* loop = nullptr;
  const model::ThreadIndex* row = nullptr;
  /// of the row and of j: integers of at least 32 bits
  std::string row_type, index_type;
  std::string rows;                        ///< number of rows as text of the source
  const model::Array* pointers = nullptr;  ///< ascending from 0 according to the spec
  const model::Array* out = nullptr;
  /// of the sum and of `out`, supported by atomicAdd
  std::string type;
  const model::Reduction* sum = nullptr;
  bool adds = false;  ///< to the contents of `out`; otherwise it is overwritten
  /// declarations needed by summands and number of rows, in order
  std::vector<const model::Stmt*> kept;
  std::vector<const model::Stmt*> locals;  ///< declarations of the loop's body
  /// loads of an iteration that are independent of other loads
  std::vector<const model::Access*> streams;
  /// size of an array of which f(j) reads the j-th element, over the spec's names
  std::string extent;
};

/// nullopt with one line in `why` if the kernel is something else or does more, or a range could
/// violate the spec.
[[nodiscard]] std::optional<RangeSum> find_range_sum(const MoveContext& context,
                                                     const model::KernelModel& model,
                                                     std::string& why);

}  // namespace warpath
