#include <unistd.h>

#include "engine/error.h"
#include "experiments/build_facts.h"
#include "experiments/command.h"
#include "runners/cuda/compile_worker.h"
#include "runners/host/worker.h"

namespace warpath {
namespace {

int serve(const Arguments& arguments, const Program&) {
  const std::string& kind = arguments.words().front();
  if (kind == "host") return host::worker_main();
  if (kind == "compile") {
    if (!kHasCudaHeaders) throw environment_error("warpath worker compile: this program was built without the CUDA headers");
    return cuda::compile_worker_main(STDIN_FILENO, STDOUT_FILENO);
  }
  throw bad_input("warpath worker", kind, "host or compile");
}

}  // namespace

Command worker_command() {
  return {.name = "worker",
          .usage = "host|compile",
          .help = "serve evaluations over stdin and stdout; started by runners, not by people",
          .least_words = 1,
          .most_words = 1,
          .run = serve};
}

}  // namespace warpath
