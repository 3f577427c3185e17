#include "experiments/console/manual_page.h"

#include <cstdio>

#include "experiments/setup/revision.h"
#include "register_commands.h"

namespace warpath {
namespace {

int print_manual(const Arguments&, const Program&) {
  CommandRegistry commands;
  register_commands(commands);
  std::fputs(manual_page(commands, revision()).c_str(), stdout);
  return 0;
}

}  // namespace

void register_command_manual(CommandRegistry& registry) {
  registry.push_back(
      {.name = "manual",
       .help = "the manual page, for man: warpath manual > warpath.1; man ./warpath.1",
       .run = print_manual});
}

}  // namespace warpath
