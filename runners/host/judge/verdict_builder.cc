#include <algorithm>

#include "runners/host/judge/gates.h"

namespace warpath::host {

VerdictBuilder::VerdictBuilder() {
  for (const auto& gate : gates())
    verdict_.gates.push_back({std::string(gate.name), GateResult::Answer::not_run, "not reached"});
}

bool VerdictBuilder::judge(GateStage stage, const Evidence& evidence) {
  for (std::size_t i = 0; i < gates().size() && !failure_; ++i) {
    const Gate& gate = gates()[i];
    if (gate.stage != stage) continue;
    auto& result = verdict_.gates[i];
    std::string figure;
    failure_ = gate.check(evidence, figure);
    result.answer = !failure_                      ? GateResult::Answer::pass
                    : is_refusal(failure_->status) ? GateResult::Answer::fail
                                                   : GateResult::Answer::not_run;
    result.detail = failure_ ? failure_->detail.substr(0, failure_->detail.find('\n')) : figure;
    if (!failure_) continue;
    for (std::size_t k = i + 1; k < gates().size(); ++k)
      verdict_.gates[k].detail = "after " + std::string(gate.name) + " failed";
  }
  return !failure_;
}

void VerdictBuilder::skip(std::string_view gate, const std::string& why) {
  const auto result = std::ranges::find(verdict_.gates, gate, &GateResult::gate);
  result->answer = GateResult::Answer::not_run;
  result->detail = why;
}

void VerdictBuilder::skip(GateStage stage, const std::string& why) {
  for (std::size_t i = 0; i < gates().size(); ++i) {
    if (gates()[i].stage == stage) verdict_.gates[i].detail = why;
  }
}

}  // namespace warpath::host
