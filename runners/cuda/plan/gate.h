#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

struct CompileResult;
struct FinalistSetup;
class Trial;

/// What a gate inspects, in the order of an evaluation.
enum class GatePhase : std::uint8_t {
  text,    ///< the source, before it is compiled
  code,    ///< the compiled code
  device,  ///< launches
  after,   ///< in a separate process, after the device has replied
};
inline constexpr std::array<std::string_view, 4> kGatePhaseNames{"text", "code", "device", "after"};

/// The declaration of a gate.
struct GateInfo {
  std::string_view name;  ///< in verdicts, options and lists: "output_poison"
  GatePhase phase = GatePhase::text;
  Stage stage = Stage::screening;     ///< the first that runs it, unless overridden by options
  std::string_view help;              ///< the property of a candidate that passes
  Status failure = Status::rejected;  ///< status of a candidate that fails
  std::string_view former = {};       ///< its name in recordings of earlier versions
  /// it compares times: on a device shared with other work a failure is not the candidate's fault
  bool by_times = false;
};

/// Gates that other files refer to by name. `compile` is decided by the builder; failed launches,
/// dead workers and overwritten guard zones may be detected outside their gates.
inline constexpr std::string_view kCompileGate = "compile";
inline constexpr std::string_view kPtxGate = "ptx_rules";
inline constexpr std::string_view kLaunchGate = "launch_contract";
inline constexpr std::string_view kGuardGate = "guard_zones";
inline constexpr std::string_view kIsolationGate = "isolation";
inline constexpr std::string_view kSanitizerGate = "sanitizer";
inline constexpr std::string_view kLargeTensorsGate = "large_tensors";
/// With this gate in the plan, counters are also read for fast candidates.
inline constexpr std::string_view kCountersGate = "counters";

/// The input of gates on text and code. Null pointers: not available yet; text gates run before
/// there is code.
struct GateSubject {
  const KernelSpec* spec = nullptr;     ///< the contract; never null
  const std::string* source = nullptr;  ///< the candidate's text
  /// its scratch buffers and steps are considered; null: there are none
  const Variant* variant = nullptr;
  const CompileResult* code = nullptr;      ///< the candidate as it will be loaded, status ok
  const PtxModule* ptx = nullptr;           ///< parse_ptx(code->ptx)
  const PtxModule* baseline_ptx = nullptr;  ///< of the spec's own kernel: what it does is allowed
};

/// Rejects candidates whose measured time would be meaningless. One file each in
/// runners/cuda/gates; the top meson.build lists the names in running order. Stateless;
/// thread-safe.
class Gate {
 public:
  explicit Gate(const GateInfo& info) : info_(info) {}
  virtual ~Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  [[nodiscard]] const GateInfo& declared() const { return info_; }

 protected:
  using Answer = GateResult::Answer;
  [[nodiscard]] GateResult pass(std::string detail = "") const {
    return {std::string(info_.name), Answer::pass, std::move(detail)};
  }
  [[nodiscard]] GateResult fail(std::string detail) const {
    return {std::string(info_.name), Answer::fail, std::move(detail)};
  }
  [[nodiscard]] GateResult not_run(std::string detail) const {
    return {std::string(info_.name), Answer::not_run, std::move(detail)};
  }

 private:
  const GateInfo info_;
};

/// A gate of phase text or code.
class CodeGate : public Gate {
 public:
  using Gate::Gate;
  /// `fail` with the reason, `pass` with any remark, or `not_run` if the subject lacks what the
  /// gate inspects.
  [[nodiscard]] virtual GateResult judge(const GateSubject& subject) const = 0;
};

/// A gate of phase device: it launches the candidate.
class DeviceGate : public Gate {
 public:
  using Gate::Gate;
  /// As above. May throw CandidateFault, which is a failure of this gate.
  [[nodiscard]] virtual GateResult judge(Trial& trial) const = 0;
};

/// A gate of phase after: it judges a candidate that has passed all others, in processes of its
/// own.
class FinalistGate : public Gate {
 public:
  using Gate::Gate;
  /// As above. Does not throw. Several finalists may be judged at once, each on a GPU of its own.
  [[nodiscard]] virtual GateResult judge(const FinalistSetup& setup) const = 0;
};

}  // namespace warpath::cuda
