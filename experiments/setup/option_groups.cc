#include "experiments/setup/option_groups.h"

#include "engine/plugin/prior.h"
#include "engine/plugin/runner.h"
#include "engine/search/search.h"
#include "priors/llm/options.h"
#include "register_priors.h"
#include "register_runners.h"

namespace warpath {
namespace {

const PriorRegistry& priors_of_build() {
  static const PriorRegistry kPriors = [] {
    PriorRegistry all("prior");
    register_priors(all);
    return all;
  }();
  return kPriors;
}

}  // namespace

const Options& default_options() {
  static const Options kDefaults = [] {
    Options all;
    RunnerRegistry runners("runner");
    register_runners(runners);
    add_search_options(all);
    all.add_all(runners);
    all.add_all(priors_of_build());
    all.add(LlmOptions::kind());
    return all;
  }();
  return kDefaults;
}

void check_priors(const Options& options) {
  priors_of_build().check_options(options);
}

}  // namespace warpath
