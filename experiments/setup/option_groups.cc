#include "experiments/setup/option_groups.h"

#include "engine/plugin/runner.h"
#include "priors/llm/options.h"
#include "register_runners.h"
#include "runners/cuda/options.h"

namespace warpath {

const Options& default_options() {
  static const Options kDefaults = [] {
    Options all;
    RunnerRegistry runners("runner");
    register_runners(runners);
    for (const auto& [name, runner] : runners.entries()) {
      if (runner.options != nullptr) all.add(*runner.options);
    }
    all.add(CudaOptions::kind());  // without the runner too: its isolation is that of moves
    all.add(LlmOptions::kind());
    return all;
  }();
  return kDefaults;
}

}  // namespace warpath
