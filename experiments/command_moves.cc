#include <cstdio>

#include "engine/move.h"
#include "experiments/command.h"
#include "moves/register_moves.h"

namespace warpath {
namespace {

int print_moves(const Arguments&, const Program&) {
  MoveRegistry registry("move");
  register_moves(registry);
  for (const auto& [name, entry] : registry.entries()) {
    std::string aliases;
    for (const std::string& alias : entry.make()->aliases()) aliases += (aliases.empty() ? "" : ", ") + alias;
    std::printf("%s\n    %s\n", name.c_str(), entry.help.c_str());
    if (!aliases.empty()) std::printf("    also called %s\n", aliases.c_str());
  }
  return 0;
}

}  // namespace

Command moves_command() {
  return {.name = "moves", .usage = "", .help = "the moves that a search may make", .run = print_moves};
}

}  // namespace warpath
