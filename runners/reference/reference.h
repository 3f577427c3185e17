#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

using TensorMap = std::map<std::string, Tensor, std::less<>>;
using ScalarMap = std::map<std::string, std::variant<std::int64_t, double, bool>, std::less<>>;

/// The inputs of one reference computation. The referenced objects must outlive the call.
struct ReferenceInput {
  const KernelSpec& spec;
  const Workload& workload;
  /// every input and inout tensor by argument name; inout: its value before the launch
  const TensorMap& tensors;
  /// every numeric scalar by argument name, with the workload's overrides
  const ScalarMap& scalars;
};

/// Expected outputs of a spec, computed without the candidate in memory that no candidate can
/// reach.
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  /// One tensor for each output and inout argument, of the argument's shape. Its dtype is float64
  /// or the argument's own (integers: always the argument's own). Throws Error(bad_input) if the
  /// spec is at fault and Error(environment) if an external command fails. Must not be called
  /// concurrently.
  [[nodiscard]] virtual TensorMap compute(const ReferenceInput& input) = 0;
};

struct ReferenceConfig {
  /// existing folder; the source creates its own folder in it
  std::string scratch_folder;
};

/// The reference of `spec` if it is a host operation, an external command or given as values;
/// nullptr if it is a kernel (which the runner executes itself) or the spec has none. Throws
/// Error(bad_input) on an unknown operation or operand.
[[nodiscard]] std::unique_ptr<ReferenceSource> make_reference(const KernelSpec& spec,
                                                              const ReferenceConfig& config);

}  // namespace warpath
