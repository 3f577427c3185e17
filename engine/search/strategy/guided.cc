#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/base/statistics.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/design.h"
#include "engine/search/forest.h"
#include "engine/search/strategy/start_options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct GuidedOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double kappa = 1.5;
  double compression = 0.1;
  double refit = 0.04;
  int trees = 24;
  int frontier = 5;
  int far_neighbours = 12;
  int random_candidates = 100;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = GuidedOptions;
    v(&O::kappa,
      OptionText{"kappa",
                 "guided: deviations of the forest that the bound lies below its mean, on average",
                 "docs/search.md"},
      Range{0.0, 100.0});
    v(&O::compression,
      OptionText{"compression",
                 "guided: share of what lies above the median that the forest is told",
                 "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::refit,
      OptionText{"refit",
                 "guided: growth of the observations after which the forest is fitted again",
                 "docs/search.md"},
      Range{0.0, 10.0});
    v(&O::trees, OptionText{"trees", "guided: trees of the forest", "docs/search.md"},
      Range{1, 10000});
    v(&O::frontier,
      OptionText{"frontier", "guided: best nodes whose neighbourhood is weighed", "docs/search.md"},
      Range{1, 100000});
    v(&O::far_neighbours,
      OptionText{"far_neighbours", "guided: random points two tunables away from each of them",
                 "docs/search.md"},
      Range{0, 100000});
    v(&O::random_candidates,
      OptionText{"random_candidates", "guided: random points of the whole space among the frontier",
                 "docs/search.md"},
      Range{0, 1000000});
  }
};
static_assert(kFullyDescribed<GuidedOptions>);

/// Graph search over tunables whose untried edges are weighed by what was measured so far: the
/// frontier is the neighbourhood of the best nodes and a few random points; a forest predicts every
/// one of them, and the least lower bound mean - k * deviation of the log time is expanded (Hutter,
/// Hoos and Leyton-Brown 2011, for the model and the bound). Every choice draws its own k from the
/// exponential distribution of mean kappa (the same 2012), which suits spaces that want little
/// exploration and those that want much, and keeps concurrent ones apart. It begins with a Design.
/// Targets above the median are compressed: how bad a bad variant is says little about where the
/// good ones are.
class Guided final : public Strategy {
 public:
  explicit Guided(const Options& options)
      : options_(options.of<GuidedOptions>()),
        start_(options.of<StartOptions>()),
        design_options_(options.of<DesignOptions>()) {}

  NodeId next(Field& field) override {
    const Lattice* const space = field.lattice();
    if (space == nullptr) return greedy(field);
    if (!features_) begin(field, *space);
    if (nodes_.size() + waiting_ < static_cast<std::size_t>(start_.initial))
      return designed(field, *space);
    if (due()) refresh(field, *space);
    while (!queue_.empty()) {
      // also where the last choice was known: what is left asks for exploration
      const double k = -options_.kappa * std::log1p(-field.rng().uniform());
      const Candidate c = take(static_cast<float>(k));
      const auto arrival = field.visit(c.from, point_of(c));
      if (arrival.fresh) return sent(arrival.node);
    }
    return sent(field.fresh_draw());
  }

  void complete(Field& field, NodeId node) override {
    if (field.lattice() == nullptr) return;
    waiting_ -= waiting_ > 0 ? 1 : 0;
    learn(field, node);
  }

  void keep(StrategyState& state, Field& field) override {
    bool begun = features_.has_value();
    state(begun);
    if (!begun) return;
    if (state.reads()) prepare(*field.lattice());
    std::vector<NodeId> nodes = nodes_;
    std::vector<std::vector<Level>> designed = design_->points();
    state(nodes, designed, waiting_);
    if (state.reads()) {
      for (const std::vector<Level>& point : designed) design_->add(point);
      for (const NodeId node : nodes) learn(field, node);
    }
    state(improved_, fitted_, queue_, points_);
  }

 private:
  struct Candidate {
    float mean = 0, deviation = 0;  // predicted
    NodeId from{0};
    std::size_t at = 0;  // in points_
    void keep(StrategyState& state) { state(mean, deviation, from, at); }
  };

  static NodeId greedy(Field& field) {
    NodeId best{0};
    for (std::uint32_t i = 0; i < field.graph().node_count(); ++i) {
      if (field.worth(NodeId{i}) > field.worth(best)) best = NodeId{i};
    }
    const NodeId near = field.fresh([&] { return field.neighbour(best, 1); });
    return near != kNoNode ? near : field.fresh_draw();
  }

  void begin(Field& field, const Lattice& space) {
    prepare(space);
    learn(field, kRoot);
  }

  void prepare(const Lattice& space) {
    features_.emplace(space);
    design_.emplace(space, design_options_);
    forest_.emplace(*features_, Forest::Settings{.trees = options_.trees});
    scale_.resize(space.axes());
    std::uint64_t stride = 1;
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      scale_[i] = stride;
      stride *= space.levels(i);
    }
  }

  NodeId sent(NodeId node) {
    waiting_ += node != kNoNode ? 1 : 0;
    return node;
  }

  NodeId designed(Field& field, const Lattice& space) {
    std::vector<Level> point(space.axes());
    const NodeId node = field.fresh([&] {
      return design_->draw(space, field.rng(), point) ? field.visit(NodeId{0}, point)
                                                      : Field::Arrival{};
    });
    if (node == kNoNode) return sent(field.fresh_draw());
    design_->add(point);
    return sent(node);
  }

  void learn(Field& field, NodeId node) {
    std::vector<Level> point(scale_.size());
    field.levels(node, point);
    if (nodes_.empty() && design_->points().empty()) design_->add(point);
    design_->judge(point, field.measured(node));
    nodes_.push_back(node);
    rows_.resize(rows_.size() + features_->count());
    features_->of(point, std::span(rows_).last(features_->count()));
    const double worth = field.worth(node);
    improved_ = improved_ || worth > best_;
    best_ = std::max(best_, worth);
    worst_ = field.measured(node) ? std::min(worst_, worth) : worst_;
    worths_.push_back(worth);
  }

  /// After an improvement, and whenever the observations grew by a share.
  [[nodiscard]] bool due() const {
    return improved_ ||
           static_cast<double>(nodes_.size()) >=
               static_cast<double>(fitted_) * (1 + options_.refit) ||
           queue_.empty();
  }

  [[nodiscard]] std::uint64_t number(std::span<const Level> point) const {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < point.size(); ++i) out += scale_[i] * point[i];
    return out;
  }

  [[nodiscard]] std::span<const Level> point_of(const Candidate& c) const {
    return std::span(points_).subspan(c.at, scale_.size());
  }

  void refresh(Field& field, const Lattice& space) {
    improved_ = false;
    fitted_ = nodes_.size();
    fit(field);
    gather(field, space);
    weigh();
  }

  /// Removes the candidate of least bound, the first of equal ones.
  Candidate take(float k) {
    const auto before = [&](const Candidate& a, const Candidate& b) {
      const float of_a = a.mean - k * a.deviation, of_b = b.mean - k * b.deviation;
      return of_a != of_b ? of_a < of_b : a.at < b.at;
    };
    std::swap(*std::min_element(queue_.begin(), queue_.end(), before), queue_.back());
    const Candidate out = queue_.back();
    queue_.pop_back();
    return out;
  }

  void fit(Field& field) {
    std::vector<double> measured;
    for (const double w : worths_) {
      if (std::isfinite(w)) measured.push_back(-w);
    }
    const double middle = median(measured);
    std::vector<float> targets;
    for (const double w : worths_) {
      const double y = -std::max(w, worst_);
      targets.push_back(
          static_cast<float>(y <= middle ? y : middle + options_.compression * (y - middle)));
    }
    forest_->fit(rows_, targets, field.rng());
  }

  void gather(Field& field, const Lattice& space) {
    queue_.clear();
    points_.clear();
    candidate_rows_.clear();
    seen_.clear();
    std::vector<std::uint32_t> order(nodes_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto top = std::min(order.size(), static_cast<std::size_t>(options_.frontier));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return worths_[a] != worths_[b] ? worths_[a] > worths_[b] : a < b;
                      });
    std::vector<Level> point(space.axes()), other(space.axes());
    for (std::size_t k = 0; k < top; ++k) {
      const NodeId from = nodes_[order[k]];
      if (!field.measured(from)) continue;
      field.levels(from, point);
      seen_.insert(number(point));
      for (std::size_t axis = 0; axis < point.size(); ++axis) {
        const Level own = point[axis];
        for (std::size_t level = 0; level < space.levels(axis); ++level) {
          point[axis] = static_cast<Level>(level);
          add(space, from, point);
        }
        point[axis] = own;
      }
      for (int i = 0; i < options_.far_neighbours; ++i) {
        other = point;
        for (int j = 0; j < 2; ++j)
          redraw_axis(space, field.rng(), field.rng().below(other.size()), other);
        add(space, from, other);
      }
    }
    for (int i = 0; i < options_.random_candidates; ++i) {
      if (space.draw(field.rng(), point)) add(space, NodeId{0}, point);
    }
  }

  void add(const Lattice& space, NodeId from, std::span<const Level> point) {
    if (!space.legal(point) || !seen_.insert(number(point)).second) return;
    candidate_rows_.resize(candidate_rows_.size() + features_->count());
    features_->of(point, std::span(candidate_rows_).last(features_->count()));
    queue_.push_back({.from = from, .at = points_.size()});
    points_.insert(points_.end(), point.begin(), point.end());
  }

  void weigh() {
    predictions_.resize(queue_.size());
    forest_->predict(candidate_rows_, predictions_);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      queue_[i].mean = predictions_[i].mean;
      queue_[i].deviation = predictions_[i].deviation;
    }
  }

  GuidedOptions options_;
  StartOptions start_;
  DesignOptions design_options_;
  std::optional<Features> features_;
  std::optional<Design> design_;
  std::optional<Forest> forest_;
  std::vector<std::uint64_t> scale_;  // of the number of a point, by axis

  // Observations, in order of completion.
  std::vector<NodeId> nodes_;
  std::vector<double> worths_;
  std::vector<float> rows_;
  double best_ = -std::numeric_limits<double>::infinity();
  double worst_ = 0;
  bool improved_ = false;
  std::size_t waiting_ = 0;  // sent, not completed
  std::size_t fitted_ = 0;   // observations of the forest

  std::vector<Candidate> queue_;  // those not taken since the last fit
  std::vector<Level> points_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<float> candidate_rows_;  // [queue_.size() * features], until they are weighed
  std::vector<Forest::Prediction> predictions_;
};

}  // namespace

void register_strategy_guided(StrategyRegistry& registry) {
  registry.add("guided",
               "graph search over tunables, the frontier weighed by a forest of what was measured",
               [](const Options& options) { return std::make_unique<Guided>(options); },
               {&option_group_kind<GuidedOptions>(), &option_group_kind<StartOptions>(),
                &option_group_kind<DesignOptions>()});
}

}  // namespace warpath
