#include <unistd.h>

#include <map>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/options_io.h"
#include "engine/plugin/runner.h"
#include "experiments/propose/move_service.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/revision.h"
#include "experiments/setup/runner_choice.h"
#include "register_commands.h"
#include "register_moves.h"
#include "register_runners.h"
#include "runners/cluster/member_worker.h"

namespace warpath {
namespace {

int serve_moves(int) {
  return move_worker_main(STDIN_FILENO, STDOUT_FILENO, registered_moves(), kMoveSeconds);
}

/// HOST:PORT taken apart.
std::pair<std::string, int> address_of(const std::string& text) {
  const auto colon = text.rfind(':');
  const std::string port = colon == text.npos ? "" : text.substr(colon + 1);
  const bool digits =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == port.npos;
  if (!digits || colon == 0 || std::stoi(port) > 65535)
    throw bad_input("--connect", text, "HOST:PORT of an engine");
  return {text.substr(0, colon), std::stoi(port)};
}

cluster::MadeRunner made_runner(const cluster::OpenRunner& wish, const Program& program) {
  cluster::MadeRunner out;
  out.options = std::make_unique<const Options>(overlay_options(
      default_options(), parse_json(wish.options, "the engine's options"), "the engine's options"));
  const std::string text = wish.runner + (wish.argument.empty() ? "" : ":" + wish.argument);
  const RunnerRegistry& registry = registered_runners();
  out.runner = create_runner(choose_runner(text, registry, *out.options), registry, *out.options,
                             program.path);
  return out;
}

int serve_member(const Arguments& arguments, const Program& program) {
  for (const char* const flag : {"connect", "key"}) {
    if (!arguments.has(flag))
      throw bad_input("warpath worker member", "", "--connect HOST:PORT and --key FILE");
  }
  const auto [host, port] = address_of(*arguments.value("connect"));
  return cluster::member_worker_main(
      {.host = host,
       .port = port,
       .key = *arguments.value("key"),
       .version = std::string(revision()),
       .program = program.path},
      [&](const cluster::OpenRunner& wish) { return made_runner(wish, program); });
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

int serve(const Arguments& arguments, const Program& program) {
  if (arguments.words().front() == "member") return serve_member(arguments, program);
  const std::string gpu = arguments.value("gpu").value_or("0");
  if (gpu.empty() || gpu.size() > 4 || gpu.find_first_not_of("0123456789") != std::string::npos)
    throw bad_input("--gpu", gpu, "the index of a device");
  const auto known = workers();
  const std::string& name = arguments.words().front();
  const auto worker = known.find(name);
  if (worker == known.end())
    throw bad_input("warpath worker", name, "one of " + worker_names(", ") + ", member");
  return worker->second(std::stoi(gpu));
}

}  // namespace

void register_command_worker(CommandRegistry& registry) {
  registry.push_back(
      {.name = "worker",
       .usage = worker_names("|") + " [--gpu N], or member --connect HOST:PORT --key FILE",
       .help = "serve evaluations or moves over stdin and stdout, or as a member of the cluster of "
               "an engine elsewhere; started by the program, not by people",
       .flags = {{.name = "gpu", .value = "N", .help = "device: which GPU of this machine (0)"},
                 {.name = "connect", .value = "HOST:PORT", .help = "member: where the engine is"},
                 {.name = "key",
                  .value = "FILE",
                  .help = "member: the file, of mode 600, with the secret of that engine"}},
       .least_words = 1,
       .most_words = 1,
       .run = serve});
}

}  // namespace warpath
