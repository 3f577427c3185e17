#pragma once

#include <string>

#include "experiments/ship/shipment.h"

namespace warpath {

/// NAME.py: the kernels of a shipment in Triton, launched on tensors of PyTorch.
[[nodiscard]] std::string python_launcher(const Shipment& shipment);

}  // namespace warpath
