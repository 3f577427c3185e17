#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"

namespace warpath {

/// An element of shared memory that holds a result.
struct TotalElement {
  std::string text;  ///< "part[0]"
  /// Where it is read afterwards; a variable with the result may stand there. Empty: the element
  /// itself must hold it.
  std::vector<const model::Expr*> reads;
  auto operator<=>(const TotalElement&) const = default;
};

/// A value of each thread of a block, combined over all of them, or over the first ones.
struct BlockTotal {
  std::string value;                            ///< of a thread: "sum", "part[threadIdx.x]"
  int threads = 0;                              ///< the first of the block, whose values these are
  bool whole = true;                            ///< they are all of the block
  const model::Declarator* variable = nullptr;  ///< that holds it; null: an element
  bool free = false;                            ///< the variable may hold the result afterwards
  std::string type;
  model::ReduceOp op = model::ReduceOp::add;
  /// Variables that hold the result afterwards and are used there, by threads that have it.
  std::vector<const model::Declarator*> results;
  std::vector<TotalElement> elements;
};

/// Consecutive statements by which all threads of a block combine values, and which have no other
/// effect.
struct BlockReduction {
  std::vector<const model::Stmt*> statements;
  std::vector<BlockTotal> totals;
  /// Shared arrays that only these statements use.
  std::set<const model::Declarator*> arrays;
  bool waits_first = false;  ///< for what other threads have stored in shared memory
  int barriers = 0;          ///< of the block, that a thread passes
};

/// The number of a thread in its block, as text: "threadIdx.y * 16 + threadIdx.x".
[[nodiscard]] std::string thread_text(const std::array<std::int64_t, 3>& block);

/// Those of a kernel whose block is made of whole warps (a power of two of them where the launch
/// sets their number by a tunable), in the order of the text; empty with one line in `why` if there
/// are none. They are found by running the statements (block_run.h), so their text does not matter:
/// trees with any order of distances, unrolled, shuffles, several arrays at once, for sums,
/// products, extremes and bits. Statements in which threads race are none, but a warp's threads
/// advance together where memory is volatile.
[[nodiscard]] std::vector<BlockReduction> block_reductions(const MoveContext& context,
                                                           const model::KernelModel& model,
                                                           std::string& why);

}  // namespace warpath
