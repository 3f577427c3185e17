#include "experiments/setup/option_groups.h"

#include "engine/plugin/prior.h"
#include "engine/plugin/runner.h"
#include "engine/search/search.h"
#include "priors/llm/options.h"
#include "register_priors.h"
#include "register_runners.h"

namespace warpath {

const Options& default_options() {
  static const Options kDefaults = [] {
    Options all;
    RunnerRegistry runners("runner");
    register_runners(runners);
    add_search_options(all);
    all.add_all(runners);
    PriorRegistry priors("prior");
    register_priors(priors);
    all.add_all(priors);
    all.add(LlmOptions::kind());
    return all;
  }();
  return kDefaults;
}

}  // namespace warpath
