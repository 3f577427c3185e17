#include "engine/plugin/outcome.h"

#include <algorithm>
#include <vector>

namespace warpath {

bool Verdict::passed() const {
  using enum GateResult::Answer;
  return std::ranges::any_of(gates, [](const GateResult& g) { return g.answer == pass; }) &&
         std::ranges::none_of(gates, [](const GateResult& g) { return g.answer == fail; });
}

std::string Verdict::summary() const {
  constexpr std::size_t kMostNames = 3;
  const auto explained = [](const std::string& who, std::string_view answer,
                            const std::string& why) {
    const std::string text = who + " " + std::string(answer);
    return why.empty() ? text : text + ": " + why;
  };
  struct NotRun {
    std::string why, names;
    std::size_t gates = 0;
  };
  std::vector<NotRun> not_run;  // by reason
  if (gates.empty()) return "no gate ran";
  std::size_t passes = 0;
  for (const GateResult& gate : gates) {
    if (gate.answer == GateResult::Answer::fail) return explained(gate.gate, "fail", gate.detail);
    if (gate.answer == GateResult::Answer::pass) {
      ++passes;
      continue;
    }
    auto same = std::ranges::find(not_run, gate.detail, &NotRun::why);
    if (same == not_run.end()) same = not_run.insert(same, {.why = gate.detail, .names = ""});
    same->names += (same->names.empty() ? "" : ", ") + gate.gate;
    ++same->gates;
  }
  std::string skipped;
  for (const NotRun& one : not_run) {
    const std::string who =
        one.gates > kMostNames ? std::to_string(one.gates) + " gates" : one.names;
    skipped += (skipped.empty() ? "" : "; ") + explained(who, "not run", one.why);
  }
  std::string text = "pass " + std::to_string(passes) + "/" + std::to_string(gates.size());
  return skipped.empty() ? text : text + " (" + skipped + ")";
}

}  // namespace warpath
