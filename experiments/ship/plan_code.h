#pragma once

#include <cstdint>
#include <string>

#include "experiments/ship/shipment.h"

namespace warpath {

/// C of an exported plan. The texts use the functions of templates/sizes.h.in and plan.h.in.

/// Members of `struct arguments`, a line each.
[[nodiscard]] std::string argument_fields(const KernelSpec& spec);

/// bytes_NAME(a, bad) for each tensor.
[[nodiscard]] std::string tensor_sizes(const KernelSpec& spec);

/// Of a kernel of the shipment: NAME_geometry_I for each launch of it, NAME_refuses, which says
/// what of the arguments is outside the contract, and run_NAME, which clears, allocates and
/// launches in order. `more_smem_bytes`: CompiledKernel::dynamic_smem_bytes.
[[nodiscard]] std::string kernel_plan(const Shipment& shipment,
                                      const ShippedKernel& kernel,
                                      std::int64_t more_smem_bytes);

/// Lines on when the kernel is launched, for people.
[[nodiscard]] std::vector<std::string> contract_lines(const ShippedKernel& kernel);

}  // namespace warpath
