#include "engine/plugin/outcome.h"

#include <algorithm>

namespace warpath {

bool Verdict::passed() const {
  using enum GateResult::Answer;
  return std::ranges::any_of(gates, [](const GateResult& g) { return g.answer == pass; }) &&
         std::ranges::none_of(gates, [](const GateResult& g) { return g.answer == fail; });
}

std::string Verdict::summary() const {
  const auto explained = [](const GateResult& gate, std::string_view answer) {
    std::string text = gate.gate + " " + std::string(answer);
    return gate.detail.empty() ? text : text + ": " + gate.detail;
  };
  if (gates.empty()) return "no gate ran";
  std::size_t passes = 0;
  std::string skipped;
  for (const GateResult& gate : gates) {
    if (gate.answer == GateResult::Answer::fail) return explained(gate, "fail");
    if (gate.answer == GateResult::Answer::pass) {
      ++passes;
    } else {
      skipped += (skipped.empty() ? "" : "; ") + explained(gate, "not run");
    }
  }
  std::string text = "pass " + std::to_string(passes) + "/" + std::to_string(gates.size());
  return skipped.empty() ? text : text + " (" + skipped + ")";
}

}  // namespace warpath
