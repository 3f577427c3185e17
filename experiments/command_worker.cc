#include "engine/error.h"
#include "experiments/command.h"
#include "runners/host/worker.h"

namespace warpath {
namespace {

int serve(const Arguments& arguments, const Program&) {
  if (arguments.words().front() != "host") throw bad_input("warpath worker", arguments.words().front(), "host");
  return host::worker_main();
}

}  // namespace

Command worker_command() {
  return {.name = "worker",
          .usage = "host",
          .help = "serve evaluations over stdin and stdout; started by runners, not by people",
          .least_words = 1,
          .most_words = 1,
          .run = serve};
}

}  // namespace warpath
