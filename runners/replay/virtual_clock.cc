#include "runners/replay/virtual_clock.h"

#include "engine/base/error.h"

namespace warpath {

Served served_by(const std::string& text) {
  if (text != "mean" && text != "draw") throw bad_input("replay.served", text, "mean or draw");
  return text == "draw" ? Served::draw : Served::mean;
}

GateResult recorded_gate(Status status) {
  const bool ok = status == Status::ok;
  return {.gate = "recorded",
          .answer = ok ? GateResult::Answer::pass : GateResult::Answer::fail,
          .detail = ok ? "" : std::string(name(status))};
}

Outcome unrecorded(const std::string& name) {
  Outcome outcome;
  outcome.status = Status::not_applicable;
  outcome.log = "unrecorded: not in " + name;
  outcome.verdict.gates.push_back(
      {.gate = "recorded", .answer = GateResult::Answer::fail, .detail = "unrecorded"});
  return outcome;
}

}  // namespace warpath
