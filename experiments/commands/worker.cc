#include <unistd.h>

#include <map>

#include "engine/base/error.h"
#include "engine/plugin/runner.h"
#include "experiments/propose/move_service.h"
#include "register_commands.h"
#include "register_moves.h"
#include "register_runners.h"

namespace warpath {
namespace {

int serve_moves(int) {
  return move_worker_main(STDIN_FILENO, STDOUT_FILENO, registered_moves(), kMoveSeconds);
}

/// The workers of the runners, and the one that proposes and applies moves, by name.
std::map<std::string_view, int (*)(int)> workers() {
  const RunnerRegistry& runners = registered_runners();
  std::map<std::string_view, int (*)(int)> out{{"moves", serve_moves}};
  for (const auto& [name, entry] : runners.entries()) {
    for (const RunnerWorker& worker : runners.traits(name)->workers)
      WARPATH_CHECK(out.emplace(worker.name, worker.serve).second);
  }
  return out;
}

/// "compile<separator>device<separator>..."
std::string worker_names(const char* separator) {
  std::string out;
  for (const auto& [name, serve] : workers())
    out += (out.empty() ? "" : separator) + std::string(name);
  return out;
}

int serve(const Arguments& arguments, const Program&) {
  const std::string gpu = arguments.value("gpu").value_or("0");
  if (gpu.empty() || gpu.size() > 4 || gpu.find_first_not_of("0123456789") != std::string::npos)
    throw bad_input("--gpu", gpu, "the index of a device");
  const auto known = workers();
  const std::string& name = arguments.words().front();
  const auto worker = known.find(name);
  if (worker == known.end())
    throw bad_input("warpath worker", name, "one of " + worker_names(", "));
  return worker->second(std::stoi(gpu));
}

}  // namespace

void register_command_worker(CommandRegistry& registry) {
  registry.push_back(
      {.name = "worker",
       .usage = worker_names("|") + " [--gpu N]",
       .help = "serve evaluations or moves over stdin and stdout; started by the program, not by "
               "people",
       .flags = {{.name = "gpu", .value = "N", .help = "device: which GPU of this machine (0)"}},
       .least_words = 1,
       .most_words = 1,
       .run = serve});
}

}  // namespace warpath
