#include "engine/plugin/options.h"
#include "register_widenings.h"

namespace warpath {
namespace {

/// "Try the next action" competes with the children as one more arm, worth r(v) - rho * sigma
/// before it was played: widening without a schedule. After AB-MCTS (Inoue et al. 2025), with a
/// first-play value in place of Thompson sampling.
class WidenArm final : public WideningPolicy {
 public:
  explicit WidenArm(const SearchOptions& options) : rho_(options.rho) {}

  bool offer(std::uint64_t, std::uint32_t, std::uint32_t) const override { return true; }
  double first_play_value(double own_reward, double, double sigma) const override {
    return own_reward - rho_ * sigma;
  }

 private:
  double rho_;
};

}  // namespace

void register_widening_arm(WideningRegistry& registry) {
  registry.add("arm",
               "the next action is an arm among the children, worth own reward - rho * sigma",
               [](const SearchOptions& options) { return std::make_unique<WidenArm>(options); });
}

}  // namespace warpath
