#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// How the iterations of a counted loop are distributed over threads.
struct LoopDealing {
  /// first, first + lanes, ...: over the threads of a row, a block or the grid
  bool strided = false;
  /// strided, and `first` is exactly the thread's number in that group
  bool from_lane = false;
  std::string first;        ///< first index, C text
  std::string stride;       ///< the step's text
  std::string end;          ///< exclusive bound's text
  model::Polynomial bound;  ///< its value
  /// the step expression in the loop's head; null for ++
  const model::Expr* step_value = nullptr;
};

/// Recognises ascending unit-step loops that start at a constant, and loops strided over lanes that
/// start at the lane's number plus an optional offset, with an index declared in their head. One
/// that leaves early is refused unless it `may_leave`. nullopt with one line in `why` for all
/// others.
[[nodiscard]] std::optional<LoopDealing> loop_dealing(const model::KernelFacts& facts,
                                                      const model::Loop& loop,
                                                      std::string& why,
                                                      bool may_leave = false);

/// True if the assignment of iterations to lanes does not matter: the next use of each accumulator
/// combines all lanes (a shuffle, a store to shared memory, an atomic, a helper that does so), and
/// the body does not use the lane index.
[[nodiscard]] bool lanes_may_swap(const model::KernelFacts& facts,
                                  const model::Loop& loop,
                                  std::string& why);

/// True if `value` is the same for all threads that share the iterations of a strided loop.
[[nodiscard]] bool is_shared_by_lanes(const model::KernelFacts& facts,
                                      const model::Loop& loop,
                                      const model::Polynomial& value);

/// True if `stmt` names threadIdx or blockIdx, or a local derived from them that is not in
/// `except`. The index of an atomic in shared memory does not count.
[[nodiscard]] bool asks_for_thread(const model::KernelFacts& facts,
                                   const model::Stmt& stmt,
                                   const std::vector<std::string>& except);

}  // namespace warpath
