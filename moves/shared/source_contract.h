#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// What the source of a variant relies on beyond the contract of its spec's own kernel: who
/// launches it otherwise gets wrong results. Read off the sources, whoever wrote them, so that a
/// move need not say what it narrowed.
struct SourceContract {
  /// A scalar argument that the source ignores or fixes though the spec's kernel reads it: it holds
  /// for these values only (one, or several where workloads differ).
  struct Fixed {
    std::string argument;
    std::vector<std::string> values;
    bool operator==(const Fixed&) const = default;
  };
  /// What holds of one tensor argument.
  struct Pointer {
    std::string argument;
    std::int64_t alignment_bytes = 1;  ///< of the address, by the widest access
    bool apart = false;                ///< no other argument overlaps it (restrict)
    bool operator==(const Pointer&) const = default;
  };
  std::vector<Fixed> sizes;
  std::vector<Pointer> pointers;
  int compute_capability = 0;       ///< least, as 10 * major + minor; 0: any
  bool exact_architecture = false;  ///< instructions of that one alone ("sm_90a")
  /// the most of any workload; above 48 KiB a launch must opt in
  std::int64_t dynamic_smem_bytes = 0;
  LaunchPlan launch;
  std::map<std::string, std::string> macros;  ///< that it is compiled with
  /// workload -> its scalar arguments: "M = 4096, N = 4096"
  std::map<std::string, std::string> verified;
  std::string device;  ///< it was measured on
  /// why the source could not be read: then sizes and pointers are those of the spec; empty: it
  /// could
  std::string unread;
  /// It holds for less than the spec's own kernel.
  bool narrowed = false;

  /// Lines for people, without the spec's own terms; empty for a kernel that relies on nothing.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// "N = 32768; x, y aligned to 16 bytes and apart; sm_90a": one line of what is narrowed; empty
  /// if nothing is.
  [[nodiscard]] std::string summary() const;
};
[[nodiscard]] nlohmann::json to_json(const SourceContract& contract);

/// Of `variant`, against the kernel of `spec`, for the workloads of `device`.
[[nodiscard]] SourceContract source_contract(const KernelSpec& spec,
                                             const DeviceFacts& device,
                                             const Variant& variant);

/// The variant's source as it is shipped: the measured text unchanged, before it the contract as a
/// comment, the macros it is compiled with and a check of the architecture; behind it `const char*
/// NAME_contract(arguments)`, a host function that returns null for arguments within the contract,
/// else what is wrong. The machine code of the kernel is the one that was measured.
[[nodiscard]] std::string shipped_source(const KernelSpec& spec,
                                         const Variant& variant,
                                         const SourceContract& contract);

}  // namespace warpath
