#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/widening/first_play.h"
#include "register_widenings.h"

namespace warpath {
namespace {

/// "Try the next action" competes with the children as one more arm, worth r(v) - rho * sigma
/// before it was played: widening without a schedule. After AB-MCTS (Inoue et al. 2025), with a
/// first-play value in place of Thompson sampling.
class WidenArm final : public WideningPolicy {
 public:
  explicit WidenArm(const Options& options) : first_play_(options.of<FirstPlayOptions>()) {}

  [[nodiscard]] bool offer(std::uint64_t, std::uint32_t, std::uint32_t) const override {
    return true;
  }
  [[nodiscard]] double first_play_value(double own_reward, double, double sigma) const override {
    return first_play_.value(own_reward, sigma);
  }

 private:
  FirstPlayOptions first_play_;
};

}  // namespace

void register_widening_arm(WideningRegistry& registry) {
  registry.add("arm",
               "the next action is an arm among the children, worth own reward - rho * sigma",
               [](const Options& options) { return std::make_unique<WidenArm>(options); },
               {&option_group_kind<FirstPlayOptions>()});
}

}  // namespace warpath
