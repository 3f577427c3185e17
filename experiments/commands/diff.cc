#include <cstdio>

#include "engine/base/format.h"
#include "engine/run/record.h"
#include "experiments/setup/recorded_run.h"
#include "register_commands.h"

namespace warpath {
namespace {

std::string label(const RecordedRun& run, std::size_t node) {
  return run.nodes()[node].key.short_hex() + "  " + known_ratio_text(run.nodes()[node].speedup) +
         "  " + run.nodes()[node].move;
}

int diff(const Arguments& arguments, const Program&) {
  const RecordedRun run(arguments.words()[0]);
  const std::size_t a = run.find(arguments.words()[1]), b = run.find(arguments.words()[2]);
  std::fprintf(stderr, "from %s\nto   %s\n", label(run, a).c_str(), label(run, b).c_str());
  std::printf("%s", variant_diff(run.variant(a), run.variant(b)).c_str());
  return 0;
}

}  // namespace

void register_command_diff(CommandRegistry& registry) {
  registry.push_back({.name = "diff",
                      .usage = "RUN A B",
                      .help =
                          "the difference between two nodes of a recorded run, launch terms and "
                          "source, as a unified diff; A and B as for inspect",
                      .least_words = 3,
                      .most_words = 3,
                      .run = diff});
}

}  // namespace warpath
