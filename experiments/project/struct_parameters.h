#pragma once

#include <map>
#include <optional>
#include <string>

#include "moves/syntax/unit.h"

namespace warpath {

/// A text whose kernel takes the members of its structs as parameters of their own.
struct KernelOfMembers {
  std::string source;
  /// The struct parameter by the names of its members in `source`.
  std::map<std::string, std::string, std::less<>> member_of;
};

/// `unit` with the structs that `kernel` takes by value replaced by their members, for analysis:
/// `p.n` becomes `n`, or `p_n` where the kernel has that name. nullopt if it takes none that the
/// file defines, or, with the reason in `why`, one that a spec cannot say: with members that are
/// arrays, structs or functions, or used as a whole.
[[nodiscard]] std::optional<KernelOfMembers> kernel_of_members(const model::Unit& unit,
                                                               const model::Function& kernel,
                                                               std::string& why);

}  // namespace warpath
