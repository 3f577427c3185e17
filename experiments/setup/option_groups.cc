#include "experiments/setup/option_groups.h"

#include "engine/plugin/prior.h"
#include "engine/plugin/runner.h"
#include "engine/search/search.h"
#include "priors/llm/options.h"
#include "register_priors.h"
#include "register_runners.h"
#include "runners/cluster/options.h"

namespace warpath {
const Options& default_options() {
  static const Options kDefaults = [] {
    Options all;
    add_search_options(all);
    all.add_all(registered_runners());
    all.add_all(registered_priors());
    all.add(LlmOptions::kind());
    all.add(ClusterOptions::kind());
    return all;
  }();
  return kDefaults;
}

void check_priors(const Options& options) {
  registered_priors().check_options(options);
}

}  // namespace warpath
