#pragma once

#include <vector>

#include "moves/normal/helper_call.h"

namespace warpath {

/// Of several definitions that a call may mean, each of which takes its arguments, leaves the one
/// that C++ chooses, if that follows from types that are known, or from a volatile that only others
/// have: it takes no argument worse than another, and some better. Otherwise all are left.
void keep_chosen(const NormalSite& site,
                 const model::Expr& call,
                 std::vector<const model::Function*>& all);

/// The parameters have the very types of the arguments, all of which are known.
[[nodiscard]] bool takes_exactly(const NormalSite& site,
                                 const model::Expr& call,
                                 const model::Function& function);

/// A function of CUDA's that a file may overload: `atomicAdd`, `__ldg`, `sqrt`, `make_float4`.
[[nodiscard]] bool is_name_of_cuda(std::string_view name);

}  // namespace warpath
