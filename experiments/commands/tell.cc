#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "experiments/agent/asking.h"
#include "experiments/console/interrupt.h"
#include "register_commands.h"

namespace warpath {
namespace {

constexpr int kNotEvaluated = 2;

int tell(const Arguments& arguments, const Program& program) {
  const auto node = arguments.value("node");
  if (!node) throw bad_input("--node", "", "the node that the candidate changes");
  ToldCandidate told{.node = *node,
                     .move = arguments.value("move").value_or("other"),
                     .text = "",
                     .launch = "",
                     .place = "warpath tell"};
  if (const auto file = arguments.value("source")) {
    told.text = read_text_file(*file, kMaxJsonBytes, "--source");
    told.place = *file;
  }
  if (const auto file = arguments.value("launch")) told.launch = read_json_file(*file).dump();
  const Plugins plugins;
  const Asking asking(arguments.words()[0], plugins, program);
  const InterruptWatch interrupts;
  const nlohmann::json out = asking.tell(told, interrupts.stop(), interrupts.abandon());
  std::printf("%s\n", out.dump(2).c_str());
  return out.value("status", "") == "ok" ? 0 : kNotEvaluated;
}

}  // namespace

void register_command_tell(CommandRegistry& registry) {
  registry.push_back(
      {.name = "tell",
       .usage = "RUN --node NODE [--move MOVE] [--source FILE] [--launch FILE]",
       .help =
           "evaluate one candidate for a node of a recorded run, under the same gates as any, and "
           "record it; exit 2 if it is not ok",
       .flags =
           {{"node", "NODE", "the version that it changes: start of a key, best or baseline"},
            {"move", "MOVE",
             "what it does: MOVE[@SITE][(NAME=INTEGER,...)]; without --source the engine makes "
             "it (other)"},
            {"source", "FILE", "a whole source, SEARCH/REPLACE blocks or a unified diff"},
            {"launch", "FILE", "the whole launch plan as JSON, where it changes"}},
       .least_words = 1,
       .most_words = 1,
       .run = tell});
}

}  // namespace warpath
