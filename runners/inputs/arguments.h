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

/// The arguments of `spec` that the kernel receives, in order: without meta scalars and texts.
[[nodiscard]] std::vector<const ArgSpec*> kernel_arguments(const KernelSpec& spec);
/// Output and inout tensors, in argument order.
[[nodiscard]] std::vector<const ArgSpec*> output_arguments(const KernelSpec& spec);

using ScalarValue = std::variant<std::int64_t, double, bool>;
/// The value of `arg` under `workload`; nullopt for tensors and texts.
[[nodiscard]] std::optional<ScalarValue> scalar_value(const ArgSpec& arg, const Workload& workload);
/// Every numeric scalar by name, meta ones included.
[[nodiscard]] std::map<std::string, ScalarValue, std::less<>> scalar_values(
    const KernelSpec& spec, const Workload& workload);
/// `value` as a kernel receives it: little-endian, size of `dtype`.
[[nodiscard]] std::vector<std::byte> scalar_bytes(const ScalarValue& value, DType dtype);

/// Total size of the tensors of one launch; 9e18 if that overflows 64 bits.
[[nodiscard]] std::int64_t tensor_bytes(const KernelSpec& spec, const Workload& workload);

using MacroTexts = std::map<std::string, std::string, std::less<>>;
/// The macros a kernel sees under `workload`: meta scalars and texts, then tunables.
[[nodiscard]] MacroTexts workload_macros(const KernelSpec& spec,
                                         const Workload& workload,
                                         const TunableValues& tunables);

/// Compiler options with the macro definitions separated out. "-D NAME" and "--define-macro NAME"
/// count as one option each.
struct SplitOptions {
  /// name and text, in order; text is "1" for a bare name
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::string> others;  ///< in order
};
[[nodiscard]] SplitOptions split_options(const std::vector<std::string>& options);

/// The subset of a kernel's options that its reference is compiled with: macros and the language
/// level, which determine what the text means. Options that affect how it is computed (fast math,
/// registers) are left out.
[[nodiscard]] std::vector<std::string> options_of_reference(
    const std::vector<std::string>& options);

}  // namespace warpath
