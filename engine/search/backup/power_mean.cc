#include <algorithm>
#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_backups.h"

namespace warpath {
namespace {

struct PowerMeanOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double power_p = 4;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = PowerMeanOptions;
    v(&O::power_p,
      OptionText{"power_p", "power_mean: exponent of the mean of speed-ups; 1: arithmetic",
                 "Dam et al. 2019"},
      Range{0.001, 1000.0});
  }
};
static_assert(kFullyDescribed<PowerMeanOptions>);

/// Power mean of speed-ups, written in logs: M(v) = (1/p) ln((e^(p r(v)) + sum_e N_e e^(p M(c_e)))
/// / (1 + sum_e N_e)), Q_e = M(c_e). p near 0 is the mean of the logs, p = infinity the maximum.
/// Dam et al. 2019 (Power-UCT), where the mean runs over values >= 0: a speed-up e^r is one. Not
/// free of the reward's scale: p counts natural logs.
class PowerMean final : public BackupPolicy {
 public:
  explicit PowerMean(const Options& options) : p_(options.of<PowerMeanOptions>().power_p) {}

  [[nodiscard]] double node_value(double own_reward,
                                  std::span<const ChildTerm> children) const override {
    double highest = own_reward;
    for (const ChildTerm& child : children) highest = std::max(highest, child.value);
    double sum = std::exp(p_ * (own_reward - highest));
    double weight = 1;
    for (const ChildTerm& child : children) {
      const auto visits = static_cast<double>(child.edge_visits);
      sum += visits * std::exp(p_ * (child.value - highest));
      weight += visits;
    }
    return highest + std::log(sum / weight) / p_;
  }
  [[nodiscard]] double edge_value(double child_value, double) const override { return child_value; }

 private:
  double p_;
};

}  // namespace

void register_backup_power_mean(BackupRegistry& registry) {
  registry.add("power_mean", "power mean of speed-ups with exponent power_p (Dam et al. 2019)",
               [](const Options& options) { return std::make_unique<PowerMean>(options); },
               {&option_group_kind<PowerMeanOptions>()});
}

}  // namespace warpath
