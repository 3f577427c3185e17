#include <cstdio>
#include <nlohmann/json.hpp>

#include "experiments/agent/asking.h"
#include "register_commands.h"

namespace warpath {
namespace {

int prompt(const Arguments& arguments, const Program& program) {
  const Plugins plugins;
  const Asking asking(arguments.words()[0], plugins, program);
  for (const llm::Message& m :
       asking.prompt(arguments.words().size() > 1 ? arguments.words()[1] : "best")) {
    std::printf("----- %s -----\n%s\n", std::string(llm::name(m.role)).c_str(), m.text.c_str());
  }
  return 0;
}

int ask(const Arguments& arguments, const Program& program) {
  const Plugins plugins;
  const Asking asking(arguments.words()[0], plugins, program);
  std::printf("%s\n", asking.ask(arguments.value("node")).dump(2).c_str());
  return 0;
}

Command prompt_command() {
  return {
      .name = "prompt",
      .usage = "RUN [NODE]",
      .help =
          "what a language model would be asked about a node of a recorded run; nothing is sent",
      .least_words = 1,
      .most_words = 2,
      .run = prompt};
}

Command ask_command() {
  return {.name = "ask",
          .usage = "RUN [--node NODE]",
          .help =
              "the next node of a recorded run to work on, as JSON: source, legal moves, prompt; "
              "`warpath tell` answers",
          .flags = {{"node", "NODE", "this one: start of a key, best or baseline"}},
          .least_words = 1,
          .most_words = 1,
          .run = ask};
}

}  // namespace

void register_command_prompt(CommandRegistry& registry) {
  registry.push_back(prompt_command());
  registry.push_back(ask_command());
}

}  // namespace warpath
