#include <cmath>

#include "engine/base/gumbel.h"
#include "engine/plugin/options.h"
#include "register_selections.h"

namespace warpath {
namespace {

/// A draw with probability proportional to P(s,a)^(1/2) exp(Q(s,a) / (softmax * sigma)) / sqrt(1 +
/// N(s,a) + O(s,a)), by Gumbel noise: the visits wear an arm down, so that none is taken for ever.
class Softmax final : public SelectionPolicy {
 public:
  explicit Softmax(const SearchOptions& options) : temperature_(options.softmax) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng& rng) const override {
    std::size_t chosen = 0;
    double highest = 0;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const Arm& a = arms[i];
      const double tried = 1 + static_cast<double>(a.visits) + static_cast<double>(a.in_flight);
      const double noise = gumbel(rng);
      const double score =
          a.value / (temperature_ * node.sigma) + 0.5 * std::log((a.prior + 1e-12) / tried) + noise;
      if (i == 0 || score > highest) chosen = i, highest = score;
    }
    return chosen;
  }
  bool draws() const override { return true; }

 private:
  double temperature_;
};

}  // namespace

void register_selection_softmax(SelectionRegistry& registry) {
  registry.add("softmax", "drawn by value, prior and visits at a temperature",
               [](const SearchOptions& options) { return std::make_unique<Softmax>(options); });
}

}  // namespace warpath
