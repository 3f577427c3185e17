#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// The spec's arguments that a kernel receives, in order: meta scalars and texts are left out.
[[nodiscard]] std::vector<const ArgSpec*> kernel_arguments(const KernelSpec& spec);
/// Output and inout tensors, in argument order.
[[nodiscard]] std::vector<const ArgSpec*> output_arguments(const KernelSpec& spec);

using ScalarValue = std::variant<std::int64_t, double, bool>;
/// The number that `arg` has under `workload`; nullopt for tensors and texts.
[[nodiscard]] std::optional<ScalarValue> scalar_value(const ArgSpec& arg, const Workload& workload);
/// Every numeric scalar by name, meta ones included.
[[nodiscard]] std::map<std::string, ScalarValue, std::less<>> scalar_values(
    const KernelSpec& spec, const Workload& workload);
/// `value` as a kernel receives it: little-endian, size of `dtype`.
[[nodiscard]] std::vector<std::byte> scalar_bytes(const ScalarValue& value, DType dtype);

/// Bytes of all tensors of one launch; 9e18 where that is more than 64 bits hold.
[[nodiscard]] std::int64_t tensor_bytes(const KernelSpec& spec, const Workload& workload);

using MacroTexts = std::map<std::string, std::string, std::less<>>;
/// What a kernel sees as macros under `workload`: meta scalars and texts, then tunables.
[[nodiscard]] MacroTexts workload_macros(const KernelSpec& spec,
                                         const Workload& workload,
                                         const TunableValues& tunables);

/// Compiler options, those that define macros taken apart. "-D NAME" and "--define-macro NAME"
/// count as one option each.
struct SplitOptions {
  /// name and text, in order; a name without a text has "1"
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::string> others;  ///< in order
};
[[nodiscard]] SplitOptions split_options(const std::vector<std::string>& options);

/// Of a kernel's options those that its reference is compiled with too: macros and the language
/// level, what says which text is meant. What says how it is computed (fast math, registers) stays
/// with the kernel.
[[nodiscard]] std::vector<std::string> options_of_reference(
    const std::vector<std::string>& options);

}  // namespace warpath
