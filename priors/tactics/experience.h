#pragma once

#include <string>
#include <string_view>

#include "engine/plugin/outcome.h"
#include "engine/plugin/proposer.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Log gain over the node from which a move counts as an improvement.
inline constexpr double kImproved = 0.02;

/// One trial and its result: a line of memory.jsonl.
struct Experience {
  std::string run;     ///< distinguishes runs
  std::string kernel;  ///< name of the spec
  std::string device;
  std::string context;  ///< tactic_context() of the node
  std::string from;     ///< the move that created the node; kStart at the baseline
  MoveInstance instance;
  Status status = Status::crashed;
  double log_gain = 0;  ///< ok: ln(time of the node / time of the child)
  [[nodiscard]] bool ok() const { return status == Status::ok; }
  bool operator==(const Experience&) const = default;
};
inline constexpr std::string_view kStart = "start";

/// Class of a kernel's declared work: "tensor" if most of it is products of tensor-core types;
/// otherwise by operations per byte "streaming" (below 2), "mixed" (below 16) or "dense"; "unknown"
/// if the spec declares none.
[[nodiscard]] std::string_view kernel_class(const KernelSpec& spec, const DeviceFacts& device);
/// From the node's diagnosis: "compute", "bandwidth", "latency", "near_peak" (bound_name);
/// "unknown" without one.
[[nodiscard]] std::string_view bottleneck_class(const Outcome* outcome);
/// "gpu/dense/latency": kind of device, class of kernel, bottleneck of the node. Known before
/// anything is tried there.
[[nodiscard]] std::string tactic_context(const ProposalContext& context);
[[nodiscard]] std::string_view came_from(const ProposalContext& context);

}  // namespace warpath
