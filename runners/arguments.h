#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/spec.h"

namespace warpath {

/// A numeric scalar under a workload: its override there, else the argument's own value.
using ScalarValue = std::variant<std::int64_t, double, bool>;
[[nodiscard]] std::optional<ScalarValue> scalar_value(const ArgSpec& arg, const Workload& workload);
[[nodiscard]] std::int64_t as_integer(const ScalarValue& scalar);
/// As the kernel receives it: little-endian, of the size of `dtype`.
[[nodiscard]] std::vector<std::byte> scalar_bytes(const ScalarValue& scalar, DType dtype);
/// Every numeric scalar by name, meta ones included.
[[nodiscard]] std::map<std::string, ScalarValue, std::less<>> scalar_values(
    const KernelSpec& spec, const Workload& workload);

/// The spec's arguments that a kernel receives, in order.
[[nodiscard]] std::vector<const ArgSpec*> kernel_arguments(const KernelSpec& spec);
/// The output and inout tensors among them, in order.
[[nodiscard]] std::vector<const ArgSpec*> output_arguments(const KernelSpec& spec);

}  // namespace warpath
