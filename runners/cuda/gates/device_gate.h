#pragma once

#include <string>
#include <string_view>

#include "engine/outcome.h"
#include "engine/registry.h"
#include "runners/cuda/trial.h"

namespace warpath::cuda {

/// A gate that launches the candidate. One file each in this folder; meson.build there holds the list
/// of names. Stateless. `judge` may throw CandidateFault: that is a failure of this gate.
class DeviceGate {
 public:
  virtual ~DeviceGate() = default;
  /// Part of verdicts: "d1_output_poison". What stands before the first "_" is its identifier.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual GateResult judge(Trial& trial) const = 0;
  /// What a candidate that fails here is.
  [[nodiscard]] virtual Status failure() const { return Status::rejected; }

 protected:
  using Answer = GateResult::Answer;
  [[nodiscard]] GateResult pass(std::string detail = "") const {
    return {std::string(name()), Answer::pass, std::move(detail)};
  }
  [[nodiscard]] GateResult fail(std::string detail) const {
    return {std::string(name()), Answer::fail, std::move(detail)};
  }
  [[nodiscard]] GateResult not_run(std::string detail) const {
    return {std::string(name()), Answer::not_run, std::move(detail)};
  }
};
using DeviceGateRegistry = Registry<DeviceGate>;
/// Adds every gate of this folder that launches.
void register_device_gates(DeviceGateRegistry& registry);

/// "workload gpu, seed 1f, as_declared: "
[[nodiscard]] inline std::string where(Trial& trial, std::size_t w, const InputSet& set) {
  return "workload " + trial.at(w).workload->name + ", " + set.label() + ": ";
}

}  // namespace warpath::cuda
