#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "moves/triton/triton_kernel.h"

namespace warpath {

/// Statements of a loop's body, at any depth, in order.
[[nodiscard]] std::vector<std::size_t> body_of(const TritonKernel& kernel, std::size_t loop);

/// Why loads of later iterations may not come before stores of earlier ones, in one line; empty:
/// they may. What stands in the loop must be understood.
[[nodiscard]] std::string loads_what_it_stores(const MoveContext& context,
                                               const TritonKernel& kernel,
                                               std::size_t loop);

/// Why the order of a loop's iterations matters beyond memory, in one line; empty: each iteration
/// computes from what stands before the loop, and all they hand on are sums, greatest and least
/// values, which floating-point numbers round in another way in another order. The body must be
/// plain assignments and calls, or one loop of them.
[[nodiscard]] std::string hands_values_on(const TritonKernel& kernel, std::size_t loop);

/// Calls `visit` for each name that is read below the node, without what stands behind a dot.
template <typename Visit>
void visit_names(const python::Node& node, const Visit& visit) {
  python::walk(node, [&](const python::Node& one) {
    if (one.is(python::NodeKind::name) || one.is(python::NodeKind::call))
      visit(one.text.substr(0, one.text.find('.')));
  });
}

}  // namespace warpath
