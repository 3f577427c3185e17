#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moves/syntax/unit.h"

namespace warpath {

/// What constants of a kernel's text may stand for its block.
struct BlockNumbers {
  std::int64_t threads = 0;           ///< of the block
  std::vector<std::int64_t> extents;  ///< of its axes, those of 1 left out
  bool together = false;  ///< the threads may work together: warps and their number matter too
};

/// The constant that ties what the kernel says, or a function, class, macro or constant that it
/// names, to a block of these threads, as one line; empty if there is none. A constant expression
/// has the number of threads (`1 << 8`, `kWarps * 32`), or a named constant, a template argument, a
/// __launch_bounds__. Where threads work together the number of warps ties as well: as a named
/// constant or a template argument (`BlockReducer<8>`), compared with what is made of the thread's
/// index, as the end of a loop over shared memory, the start of one that halves, the last constant
/// index of a shared array, the width of a shuffle. Literals that equal the number of threads are
/// the caller's affair.
[[nodiscard]] std::string tie_to_block(const model::Unit& unit,
                                       const Variant& variant,
                                       const BlockNumbers& numbers);

}  // namespace warpath
