#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// How the iterations of a counted loop are dealt to threads.
struct LoopDealing {
  /// first, first + lanes, ...: over the threads of a row, a block or the grid
  bool strided = false;
  /// strided, and `first` is the thread's number in that group with nothing added
  bool from_lane = false;
  std::string first;        ///< first index, C text
  std::string stride;       ///< the step's text
  std::string end;          ///< exclusive bound's text
  model::Polynomial bound;  ///< its value
  /// the step's expression in the loop's head; null for ++
  const model::Expr* step_value = nullptr;
};

/// Ascending loops by one that start at a constant, and loops strided over lanes that start at the
/// lane's number or at an offset plus it, with an index declared in their head. nullopt with one
/// line in `why` for all others.
[[nodiscard]] std::optional<LoopDealing> loop_dealing(const model::KernelFacts& facts,
                                                      const model::Loop& loop,
                                                      std::string& why);

/// True if it does not matter which lane does which iteration of a strided loop: each accumulator's
/// next use combines all lanes (a shuffle, a store to shared memory, an atomic, a helper that does
/// it), and the body does not ask for the lane.
[[nodiscard]] bool lanes_may_swap(const model::KernelFacts& facts,
                                  const model::Loop& loop,
                                  std::string& why);

/// `value` is the same for all threads that share the iterations of a strided loop from the lane's
/// number on.
[[nodiscard]] bool is_shared_by_lanes(const model::KernelFacts& facts,
                                      const model::Loop& loop,
                                      const model::Polynomial& value);

/// `stmt` names threadIdx or blockIdx, or a local made of them that is none of `except`. What picks
/// a place in shared memory for an atomic does not count.
[[nodiscard]] bool asks_for_thread(const model::KernelFacts& facts,
                                   const model::Stmt& stmt,
                                   const std::vector<std::string>& except);

}  // namespace warpath
