#include "runners/cuda/measure/cache_plan.h"

namespace warpath::cuda {

CachePlan cache_plan(std::optional<L2Timing> declared, std::string_view option, Stage stage) {
  const L2Timing by_option = option == "cold"   ? L2Timing::cold
                             : option == "both" ? L2Timing::both
                                                : L2Timing::hot;
  const L2Timing timing = declared.value_or(by_option);
  const bool all = timing == L2Timing::both || stage == Stage::final;
  const bool cold = timing == L2Timing::cold;
  return {.hot = all || !cold, .cold = all || cold, .cold_scored = cold};
}

}  // namespace warpath::cuda
