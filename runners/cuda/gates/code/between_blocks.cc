#include <algorithm>

#include "register_gates.h"
#include "runners/cuda/code/block_handover.h"

namespace warpath::cuda {
namespace {

/// What one block hands to another is ordered by fences, and changed by atomics that reach both.
/// Refuses what is certainly not, unless the spec's own kernel does the same.
class BetweenBlocksGate final : public CodeGate {
 public:
  BetweenBlocksGate()
      : CodeGate({.name = "between_blocks",
                  .phase = GatePhase::code,
                  .help =
                      "a fence stands between results and the ticket by which a last block reads "
                      "them, and atomics on shared results reach all blocks"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.ptx == nullptr || subject.code == nullptr) return not_run("there is no PTX");
    if (subject.baseline_ptx == subject.ptx) return pass("it is the spec's own kernel");
    const std::string problem = problem_of(*subject.ptx);
    if (problem.empty()) return pass();
    if (subject.baseline_ptx != nullptr && problem_of(*subject.baseline_ptx) == problem)
      return pass("like the spec's own kernel: " + problem);
    return fail(problem);
  }

 private:
  static std::string problem_of(const PtxModule& module) {
    const BufferTraffic traffic = buffer_traffic(module);
    for (const PtxFunction& function : module.functions) {
      if (!function.is_entry || !function.has_body) continue;
      if (std::string problem = handover_problem(function, traffic); !problem.empty())
        return problem;
    }
    return "";
  }
};

}  // namespace

void register_gate_between_blocks(GateTable& table) {
  table.add(std::make_unique<BetweenBlocksGate>());
}

}  // namespace warpath::cuda
