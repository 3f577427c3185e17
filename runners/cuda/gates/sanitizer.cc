#include "register_gates.h"

namespace warpath::cuda {

/// Answered by the runner: runners/cuda/finalists/sanitizer.h.
void register_gate_sanitizer(GateTable& table) {
  table.add({.name = kSanitizerGate,
             .phase = GatePhase::after,
             .stage = Stage::final,
             .help = "compute-sanitizer finds nothing, where it is installed",
             .former = "d18_sanitizer"});
}

}  // namespace warpath::cuda
