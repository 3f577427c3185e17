#include "register_gates.h"

namespace warpath::cuda {

/// Answered by the builder: compile workers run with an empty environment, without files, with
/// limits on time, memory and output.
void register_gate_compile(GateTable& table) {
  table.add({.name = kCompileGate,
             .phase = GatePhase::code,
             .help = "the compiler takes the text, in a process without environment and files, "
                     "within its limits",
             .failure = Status::compile_error,
             .former = "s3_compile"});
}

}  // namespace warpath::cuda
