#include "register_gates.h"

namespace warpath::cuda {

/// Answered by the runner: runners/cuda/finalists/large_tensors.h.
void register_gate_large_tensors(GateTable& table) {
  table.add({.name = kLargeTensorsGate,
             .phase = GatePhase::after,
             .stage = Stage::final,
             .help = "results are right where tensors go past 2^31 bytes, and elements, as far as "
                     "the spec's kernel is",
             .failure = Status::wrong_result});
}

}  // namespace warpath::cuda
