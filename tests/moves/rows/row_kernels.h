#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath::test {

/// Kernels over rows as people write them, with small odd sizes; the reference of each is itself.
[[nodiscard]] std::vector<KernelSpec> row_kernels();
[[nodiscard]] KernelSpec row_kernel(const std::string& name);

}  // namespace warpath::test
