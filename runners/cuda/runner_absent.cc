#include "engine/base/error.h"
#include "engine/plugin/runner.h"
#include "register_runners.h"
#include "runners/cuda/choice.h"
#include "runners/cuda/options.h"

namespace warpath {
namespace {

[[noreturn]] void refuse() {
  throw environment_error("this program was built without the CUDA headers");
}

int refuse_to_serve(int) {
  refuse();
}

}  // namespace

/// A build without the CUDA headers has the runner's options and says why it cannot run.
void register_runner_cuda(RunnerRegistry& registry) {
  RunnerTraits traits = cuda::runner_traits();
  traits.workers = {{"compile", refuse_to_serve}, {"device", refuse_to_serve}};
  registry.add(
      "cuda", "CUDA C++ on GPUs; not in this build, which had no CUDA headers",
      [](const RunnerConfig&) -> std::unique_ptr<Runner> { refuse(); }, {&CudaOptions::kind()},
      std::move(traits), cuda::check_devices);
}

}  // namespace warpath
