#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/device_facts.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// What the source of a variant assumes beyond the contract of the spec's own kernel; launching it
/// otherwise gives wrong results. Derived from the sources, whoever wrote them, so that moves need
/// not declare what they narrowed.
struct SourceContract {
  static constexpr std::int64_t kMostAlignment = 16;          ///< bytes of the widest access
  static constexpr std::int64_t kFreeSharedBytes = 48 << 10;  ///< that a launch need not opt in for
  /// A scalar argument that the source ignores or fixes though the spec's kernel reads it; it is
  /// only valid for these values (several if workloads differ).
  struct Fixed {
    std::string argument;
    std::vector<std::string> values;
    bool operator==(const Fixed&) const = default;
  };
  /// Assumptions on one tensor argument.
  struct Pointer {
    std::string argument;
    std::int64_t alignment_bytes = 1;  ///< of the address, from the widest access
    bool apart = false;                ///< no other argument overlaps it (restrict)
    bool operator==(const Pointer&) const = default;
  };
  std::vector<Fixed> sizes;  ///< by argument, as pointers
  /// Input tensors that the spec's kernel reads and the source does not: it is only valid for their
  /// values in the workloads.
  std::vector<std::string> ignored;
  std::vector<Pointer> pointers;
  int compute_capability = 0;       ///< minimum, as 10 * major + minor; 0: any
  bool exact_architecture = false;  ///< uses instructions of that architecture only ("sm_90a")
  /// maximum over workloads; above 48 KiB a launch must opt in
  std::int64_t dynamic_smem_bytes = 0;
  LaunchPlan launch;
  bool callers_launch = false;                ///< the spec says that the caller owns it
  std::map<std::string, std::string> macros;  ///< defined for compiling it
  /// workload -> its scalar arguments: "M = 4096, N = 4096"
  std::map<std::string, std::string> verified;
  std::string device;  ///< on which it was measured
  /// why the source could not be analysed, in which case sizes and pointers are the spec's; empty:
  /// it could
  std::string unread;
  /// It assumes more than the spec's own kernel.
  bool narrowed = false;
};
/// 90 for "sm_90a"; 0 for what names no architecture.
[[nodiscard]] int compute_capability(std::string_view arch);

/// The contract of `variant` relative to the kernel of `spec`, for the workloads of `device` that
/// it serves itself, not by a version.
[[nodiscard]] SourceContract source_contract(const KernelSpec& spec,
                                             const DeviceFacts& device,
                                             const Variant& variant);
/// The same of each of kernels_of(variant).
[[nodiscard]] std::vector<SourceContract> source_contracts(const KernelSpec& spec,
                                                           const DeviceFacts& device,
                                                           const Variant& variant);

}  // namespace warpath
