#include <cmath>

#include "engine/plugin/options.h"
#include "register_widenings.h"

namespace warpath {
namespace {

/// Progressive widening: the next action is tried as soon as the node has fewer than widening_k *
/// N^widening_alpha children (Coulom 2007; Couetoux et al. 2011).
class Gated final : public WideningPolicy {
 public:
  explicit Gated(const SearchOptions& options)
      : k_(options.widening_k), alpha_(options.widening_alpha), rho_(options.rho) {}

  bool offer(std::uint64_t node_visits, std::uint32_t children, std::uint32_t) const override {
    return static_cast<double>(children) < k_ * std::pow(static_cast<double>(node_visits), alpha_);
  }
  bool forced() const override { return true; }
  double first_play_value(double own_reward, double, double sigma) const override {
    return own_reward - rho_ * sigma;
  }

 private:
  double k_, alpha_, rho_;
};

}  // namespace

void register_widening_gated(WideningRegistry& registry) {
  registry.add(
      "gated",
      "progressive widening: children up to widening_k * visits^widening_alpha (Coulom 2007)",
      [](const SearchOptions& options) { return std::make_unique<Gated>(options); });
}

}  // namespace warpath
