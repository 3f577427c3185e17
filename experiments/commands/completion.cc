#include "experiments/console/shell_completion.h"

#include <cstdio>

#include "engine/base/error.h"
#include "register_commands.h"

namespace warpath {
namespace {

int print_completion(const Arguments& arguments, const Program&) {
  const std::string& shell = arguments.words().front();
  CommandRegistry commands;
  register_commands(commands);
  if (shell != "bash" && shell != "zsh")
    throw bad_input("warpath completion", shell, "bash or zsh");
  std::fputs((shell == "bash" ? bash_completion(commands) : zsh_completion(commands)).c_str(),
             stdout);
  return 0;
}

}  // namespace

void register_command_completion(CommandRegistry& registry) {
  registry.push_back({.name = "completion",
                      .usage = "bash|zsh",
                      .help = "a script that completes commands and flags: source <(warpath "
                              "completion bash)",
                      .least_words = 1,
                      .most_words = 1,
                      .run = print_completion});
}

}  // namespace warpath
