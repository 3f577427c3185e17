#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_backups.h"

namespace warpath {
namespace {

struct MeanMaxOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double beta = 0.75;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = MeanMaxOptions;
    v(&O::beta,
      OptionText{"beta", "share of the best reachable reward against the mean in Q",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<MeanMaxOptions>);

/// M(v) = (r(v) + sum_e N_e M(c_e)) / (1 + sum_e N_e) and Q_e = (1 - beta) M(c_e) + beta B(c_e):
/// the goal is the best node, so the mean over playouts is mixed with the best reward reachable.
/// The mean by edge visits is that of KataGo's notes on graph search (Wu 2023).
class MeanMax final : public BackupPolicy {
 public:
  explicit MeanMax(const Options& options) : beta_(options.of<MeanMaxOptions>().beta) {}

  [[nodiscard]] double node_value(double own_reward,
                                  std::span<const ChildTerm> children) const override {
    double sum = own_reward;
    double weight = 1;
    for (const ChildTerm& child : children) {
      const auto visits = static_cast<double>(child.edge_visits);
      sum += visits * child.value;
      weight += visits;
    }
    return sum / weight;
  }
  [[nodiscard]] double edge_value(double child_value, double child_best) const override {
    return (1 - beta_) * child_value + beta_ * child_best;
  }

 private:
  double beta_;
};

}  // namespace

void register_backup_mean_max(BackupRegistry& registry) {
  registry.add("mean_max", "mean over playouts, mixed with the best reachable reward by beta",
               [](const Options& options) { return std::make_unique<MeanMax>(options); },
               {&option_group_kind<MeanMaxOptions>()});
}

}  // namespace warpath
