#pragma once

#include <string>

#include "experiments/ship/shipment.h"

namespace warpath {

/// C of an exported plan. The texts use the functions of templates/sizes.h.in and plan.h.in.

/// Members of `struct arguments`, a line each.
[[nodiscard]] std::string argument_fields(const KernelSpec& spec);

/// bytes_NAME(a, bad) for each tensor.
[[nodiscard]] std::string tensor_sizes(const KernelSpec& spec);

/// Of the best kernel or of the original (`which`: "best", "original"): WHICH_geometry_I for each
/// launch of it, WHICH_refuses, which says what of the arguments is outside the contract, and
/// run_WHICH, which clears, allocates and launches in order.
[[nodiscard]] std::string kernel_plan(const Shipment& shipment, const std::string& which);

/// Lines on when the best kernel is launched, for people.
[[nodiscard]] std::vector<std::string> contract_lines(const Shipment& shipment);

}  // namespace warpath
