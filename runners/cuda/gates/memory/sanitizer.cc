#include "runners/cuda/finalists/sanitizer.h"

#include "register_gates.h"

namespace warpath::cuda {
namespace {

class Sanitizer final : public FinalistGate {
 public:
  Sanitizer()
      : FinalistGate({.name = kSanitizerGate,
                      .phase = GatePhase::after,
                      .stage = Stage::final,
                      .help = "compute-sanitizer finds nothing, where it is installed",
                      .former = "d18_sanitizer"}) {}

  [[nodiscard]] GateResult judge(const FinalistSetup& setup) const override {
    return sanitize(setup);
  }
};

}  // namespace

void register_gate_sanitizer(GateTable& table) {
  table.add(std::make_unique<Sanitizer>());
}

}  // namespace warpath::cuda
