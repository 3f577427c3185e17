#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/outcome.h"
#include "engine/registry.h"
#include "engine/spec.h"
#include "engine/variant.h"
#include "runners/cuda/compile.h"
#include "runners/cuda/ptx.h"

namespace warpath::cuda {

/// What gates may look at. A null pointer is something that is not there yet: source gates run before there is code.
struct GateSubject {
  const KernelSpec* spec = nullptr;         ///< the contract; never null
  const std::string* source = nullptr;      ///< the candidate's text
  const Variant* variant = nullptr;         ///< whose scratch buffers and steps count; null: there are none
  const CompileResult* code = nullptr;      ///< the candidate as it will be loaded, status ok
  const PtxModule* ptx = nullptr;           ///< parse_ptx(code->ptx)
  const PtxModule* baseline_ptx = nullptr;  ///< of the spec's own kernel: what it does is allowed
};

/// Refuses candidates whose measured time would not mean what it says. One file each in this folder; meson.build there holds the
/// list of names, cheap gates first. Stateless and thread-safe.
class Gate {
 public:
  virtual ~Gate() = default;
  /// Part of verdicts: "s1_ptx".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// `fail` with the reason, `pass` with what is worth knowing, or `not_run` where the subject lacks what the gate looks at.
  [[nodiscard]] virtual GateResult judge(const GateSubject& subject) const = 0;

 protected:
  [[nodiscard]] GateResult pass(std::string detail = "") const { return {std::string(name()), GateResult::Answer::pass, std::move(detail)}; }
  [[nodiscard]] GateResult fail(std::string detail) const { return {std::string(name()), GateResult::Answer::fail, std::move(detail)}; }
  [[nodiscard]] GateResult not_run(std::string detail) const { return {std::string(name()), GateResult::Answer::not_run, std::move(detail)}; }
};
using GateRegistry = Registry<Gate>;

}  // namespace warpath::cuda
