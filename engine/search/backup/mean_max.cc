#include "engine/plugin/options.h"
#include "register_backups.h"

namespace warpath {
namespace {

/// M(v) = (r(v) + sum_e N_e M(c_e)) / (1 + sum_e N_e) and Q_e = (1 - beta) M(c_e) + beta B(c_e):
/// the goal is the best node, so the mean over playouts is mixed with the best reward reachable.
/// The mean by edge visits is that of KataGo's notes on graph search (Wu 2023).
class MeanMax final : public BackupPolicy {
 public:
  explicit MeanMax(const SearchOptions& options) : beta_(options.beta) {}

  double node_value(double own_reward, std::span<const ChildTerm> children) const override {
    double sum = own_reward;
    double weight = 1;
    for (const ChildTerm& child : children) {
      const auto visits = static_cast<double>(child.edge_visits);
      sum += visits * child.value;
      weight += visits;
    }
    return sum / weight;
  }
  double edge_value(double child_value, double child_best) const override {
    return (1 - beta_) * child_value + beta_ * child_best;
  }

 private:
  double beta_;
};

}  // namespace

void register_backup_mean_max(BackupRegistry& registry) {
  registry.add("mean_max", "mean over playouts, mixed with the best reachable reward by beta",
               [](const SearchOptions& options) { return std::make_unique<MeanMax>(options); });
}

}  // namespace warpath
