#include "experiments/runner_choice.h"

#include "engine/error.h"

namespace warpath {

RunnerChoice choose_runner(std::string_view text, const RunnerRegistry& registry) {
  const auto colon = text.find(':');
  RunnerChoice choice{std::string(text.substr(0, colon)),
                      colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1))};
  if (text == "auto") choice.name = "host";
  if (!registry.contains(choice.name)) {
    throw bad_input("--runner", text, "a runner of this build: one of auto, " + registry.names());
  }
  if (choice.name == "host" && !choice.argument.empty()) throw bad_input("--runner", text, "host without an argument");
  return choice;
}

std::string_view timing_label(std::string_view runner_text) {
  if (runner_text.starts_with("host")) return "CPU timings";
  if (runner_text.starts_with("synthetic")) return "pretended timings";
  return "";
}

}  // namespace warpath
