#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "moves/syntax/unit.h"

namespace warpath::model {

/// What a call does to the memory that an argument points to, or to the variable that is one.
enum class ArgumentEffect : std::uint8_t {
  none,    ///< it gets a value that is no pointer
  copies,  ///< it gets a value of the argument's type: if that is a pointer, it writes
  reads,
  writes,
};

/// One for each argument of the call. nullopt unless the name can only mean functions of the file
/// with bodies that reach nothing but their arguments and what these point to: no variable of the
/// file that may change, no shared memory, no other thread, no index of the launch, no assembly,
/// nothing that comes from elsewhere; or a function of a library of which this is known. `writes`
/// is also said of what is only read, where that does not follow from the parameter's type.
[[nodiscard]] std::optional<std::vector<ArgumentEffect>> argument_effects(const Unit& unit,
                                                                          const Expr& call);

}  // namespace warpath::model
