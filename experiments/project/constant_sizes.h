#pragma once

#include <optional>
#include <string>

#include "engine/spec/expression.h"
#include "moves/syntax/unit.h"

namespace warpath {

/// A text whose kernel takes constants of the file as parameters behind its own.
struct KernelOfSizes {
  std::string source;
  Bindings sizes;  ///< their values in the file
};

/// `unit` with the sizes that are constants of the file (`#define N 1024`) as parameters of
/// `kernel`, for analysis: a spec gives them as macros, smaller ones on the host. A constant is a
/// size where a loop or a guard of the kernel ends at it; not one that counts the threads of a
/// block, nor one that helpers, conditions or constants other than macros name. nullopt where the
/// kernel has none.
[[nodiscard]] std::optional<KernelOfSizes> kernel_of_sizes(const model::Unit& unit,
                                                           const model::Function& kernel);

}  // namespace warpath
