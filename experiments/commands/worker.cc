#include <unistd.h>

#include "engine/base/error.h"
#include "experiments/build_facts.h"
#include "experiments/propose/move_service.h"
#include "register_commands.h"
#include "register_moves.h"
#include "runners/cuda/compile/compile_worker.h"
#include "runners/cuda/lanes/device_worker.h"
#include "runners/host/execute/worker.h"

namespace warpath {
namespace {

int serve_device_worker(const Arguments& arguments) {
  const std::string text = arguments.value("gpu").value_or("0");
  if (text.empty() || text.size() > 4 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw bad_input("--gpu", text, "the index of a device");
  }
  if constexpr (kHasCudaHeaders) {
    return cuda::device_worker_main(STDIN_FILENO, STDOUT_FILENO, std::stoi(text));
  } else {
    throw environment_error(
        "warpath worker device: this program was built without the CUDA headers");
  }
}

int serve(const Arguments& arguments, const Program&) {
  const std::string& kind = arguments.words().front();
  if (kind == "host") return host::worker_main();
  if (kind == "compile") {
    if (!kHasCudaHeaders)
      throw environment_error(
          "warpath worker compile: this program was built without the CUDA headers");
    return cuda::compile_worker_main(STDIN_FILENO, STDOUT_FILENO);
  }
  if (kind == "device") return serve_device_worker(arguments);
  if (kind == "moves") {
    MoveRegistry moves("move");
    register_moves(moves);
    return move_worker_main(STDIN_FILENO, STDOUT_FILENO, moves, kMoveSeconds);
  }
  throw bad_input("warpath worker", kind, "host, compile, device or moves");
}

}  // namespace

void register_command_worker(CommandRegistry& registry) {
  registry.push_back(
      {.name = "worker",
       .usage = "host|compile|device|moves [--gpu N]",
       .help = "serve evaluations or moves over stdin and stdout; started by the program, not by "
               "people",
       .flags = {{.name = "gpu", .value = "N", .help = "device: which GPU of this machine (0)"}},
       .least_words = 1,
       .most_words = 1,
       .run = serve});
}

}  // namespace warpath
