#include "engine/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/action_order.h"
#include "engine/edges_in_flight.h"
#include "engine/error.h"
#include "engine/options.h"
#include "engine/rng.h"
#include "engine/search_backup.h"
#include "engine/search_check.h"
#include "engine/search_live.h"
#include "engine/strategy.h"

namespace warpath {
namespace {

constexpr NodeId kRoot{0};

/// True for "tree".
bool parse_sharing(const std::string& text) {
  if (text != "graph" && text != "tree") throw bad_input("search.sharing", text, "graph or tree");
  return text == "tree";
}

/// True for "prior".
bool parse_draws(const std::string& text) {
  if (text != "uniform" && text != "prior") throw bad_input("search.draws", text, "uniform or prior");
  return text == "prior";
}

/// What selection makes of evaluations under way.
enum class Parallel : std::uint8_t { unobserved, virtual_loss, ignored };

Parallel parse_parallel(const std::string& text) {
  if (text == "unobserved") return Parallel::unobserved;
  if (text == "virtual_loss") return Parallel::virtual_loss;
  if (text == "ignored") return Parallel::ignored;
  throw bad_input("search.parallel", text, "unobserved, virtual_loss or ignored");
}

}  // namespace

void check_search_options(const SearchOptions& options) {
  static_cast<void>(parse_sharing(options.sharing));
  static_cast<void>(parse_draws(options.draws));
  static_cast<void>(parse_parallel(options.parallel));
  static_cast<void>(make_selection(options));
  static_cast<void>(make_widening(options));
  static_cast<void>(make_backup(options));
  static_cast<void>(make_strategy(options, nullptr));
}

struct Search::Impl final : Field {
  Impl(Space& space_in, const SearchOptions& options_in, std::uint64_t seed_in)
      : space(space_in),
        options(options_in),
        seed(seed_in),
        tree(parse_sharing(options.sharing)),
        draws_by_prior(parse_draws(options.draws)),
        parallel(parse_parallel(options.parallel)),
        selection(make_selection(options)),
        widening(make_widening(options)),
        backup_policy(make_backup(options)),
        backup(*backup_policy),
        live(options.max_depth),
        orders(seed),
        stream(seed, "select"),
        strategy(make_strategy(options, space.lattice())),
        strategy_stream(seed, "strategy") {}

  // Field
  [[nodiscard]] const Graph& graph() const override { return nodes; }
  [[nodiscard]] Rng& rng() override { return strategy_stream; }
  [[nodiscard]] const Lattice* lattice() const override { return space.lattice(); }
  void levels(NodeId node, std::span<Level> out) const override { space.levels(node, out); }
  [[nodiscard]] Arrival visit(NodeId from, std::span<const Level> point) override;
  [[nodiscard]] std::uint32_t actions(NodeId node) override;
  [[nodiscard]] std::uint32_t draw_action(NodeId node) override;
  [[nodiscard]] Arrival act(NodeId node, std::uint32_t action) override;
  std::optional<Dispatch> next_of_strategy();
  [[nodiscard]] std::vector<EdgeId> creating_path(NodeId node) const;

  std::optional<Dispatch> next();
  std::optional<Dispatch> graft(NodeId parent, const Hash128& key, float prior);
  void complete(std::uint64_t sequence, const Evaluation& evaluation);
  void remeasure(NodeId node, double reward);

  void open(NodeId v);
  /// The live edge to descend, or kNoEdge: try the next action.
  EdgeId select(NodeId v);
  /// O_e.
  [[nodiscard]] std::uint32_t in_flight(EdgeId edge);
  /// Changes `arms` as search.parallel asks.
  void weigh_in_flight(double spread);
  /// Tries the next action of `v`; the edge if it led to a new node, else kNoEdge.
  EdgeId expand(NodeId v);
  Dispatch dispatch();
  [[nodiscard]] double sigma() const { return std::max(options.sigma_floor, state.rewards.deviation()); }
  [[nodiscard]] Hash128 key_of_child(NodeId parent, std::uint32_t action, const Hash128& key) const;
  [[nodiscard]] std::vector<State::Pending>::iterator find_pending(std::uint64_t sequence);

  Space& space;
  SearchOptions options;
  std::uint64_t seed;
  bool tree;            ///< every path makes its own node
  bool draws_by_prior;  ///< of a strategy
  Parallel parallel;
  std::unique_ptr<SelectionPolicy> selection;
  std::unique_ptr<WideningPolicy> widening;
  std::unique_ptr<BackupPolicy> backup_policy;
  Backup backup;
  LiveFlags live;
  ActionOrders orders;
  Rng stream;  ///< of the playout under way, if the selection draws
  std::unique_ptr<Strategy> strategy;  ///< null: select, widen, back up
  Rng strategy_stream;
  bool asked_in_vain = false;  ///< the strategy had nothing; no outcome came since
  Graph nodes;
  State state;
  EdgesInFlight edges_in_flight;  ///< of the paths in state.pending of dispatches before `counted`: with one at a time nothing is counted
  std::uint64_t counted = 0;
  std::string place = "snapshot";  ///< for messages about a snapshot that its space contradicts

  // Scratch, kept for its capacity.
  std::vector<EdgeId> path;
  std::vector<Arm> arms;
  std::vector<EdgeId> arm_edges;
  std::vector<float> priors;
};

void Search::Impl::open(NodeId v) {
  priors.clear();
  space.open(v, priors);
  if (priors.size() > kMostActions) {
    throw bad_input("node " + nodes.key(v).short_hex(), std::to_string(priors.size()) + " actions", "at most " + std::to_string(kMostActions));
  }
  for (const float p : priors) WARPATH_CHECK(std::isfinite(p) && p >= 0);
  if (v == kRoot && !priors.empty() && options.root_noise_weight > 0) {
    std::vector<double> noise(priors.size());
    Rng(seed, "root_noise").dirichlet(options.root_noise_alpha, noise);
    const double w = options.root_noise_weight;
    for (std::size_t i = 0; i < priors.size(); ++i) priors[i] = static_cast<float>((1 - w) * priors[i] + w * noise[i]);
  }
  Node& n = nodes[v];
  const auto count = static_cast<std::uint32_t>(priors.size());
  if (n.opened && n.action_count != count) {
    throw bad_input(place, std::to_string(n.action_count) + " actions of node " + nodes.key(v).short_hex(),
                    std::to_string(count) + ", as its space has");
  }
  n.opened = true;
  n.action_count = count;
  orders.set(v, nodes.key(v), priors);
  live.update(nodes, v);
}

std::uint32_t Search::Impl::in_flight(EdgeId edge) {
  for (auto p = state.pending.rbegin(); p != state.pending.rend() && p->dispatch.sequence >= counted; ++p) edges_in_flight.add(p->path);
  counted = state.next_sequence;
  return edges_in_flight[edge];
}

void Search::Impl::weigh_in_flight(double spread) {
  for (Arm& arm : arms) {
    const double unknown = arm.in_flight;
    if (parallel == Parallel::ignored) arm.in_flight = 0;
    if (parallel != Parallel::virtual_loss) continue;
    const double loss = options.virtual_loss * spread * unknown / (1 + arm.visits + unknown);
    arm.value -= loss, arm.mean -= loss;
  }
}

EdgeId Search::Impl::select(NodeId v) {
  const Node& n = nodes[v];
  arms.clear();
  arm_edges.clear();
  const std::uint32_t untried = n.action_count - n.next_action;
  if (untried > 0) {  // the widen arm's place; it is dropped below if it is not offered
    arms.push_back({.is_widen = true});
    arm_edges.push_back(kNoEdge);
  }
  std::uint32_t children = 0;
  for (EdgeId e = n.first_out; e != kNoEdge; e = nodes[e].next_out, ++children) {
    const Edge& edge = nodes[e];
    const Node& child = nodes[edge.target];
    if (!child.live || child.depth <= n.depth) continue;
    Arm& arm = arms.emplace_back();
    arm.value = backup_policy->edge_value(child.value, child.best);
    arm.mean = child.value;
    arm.best = child.best;
    arm.prior = edge.prior.value();
    arm.visits = edge.visits;
    if (child.in_flight > 0) arm.in_flight = in_flight(e);
    arm_edges.push_back(e);
  }
  const double spread = sigma();
  if (parallel != Parallel::unobserved) weigh_in_flight(spread);
  std::span<const Arm> offered(arms);
  if (untried > 0) {
    if (arms.size() == 1) return kNoEdge;
    const bool offer = widening->offer(std::uint64_t{n.visits} + n.in_flight, children, untried);
    if (offer && widening->forced()) return kNoEdge;
    if (offer) {
      arms.front().value = widening->first_play_value(n.reward, n.value, spread);
      arms.front().prior = BFloat16(orders.at(v, nodes.key(v), n.next_action, n.action_count).prior).value();  // as its edge will have it
    } else {
      offered = offered.subspan(1);
    }
  }
  // Every visit and every evaluation in flight of a measured node, but its own, went through one of its edges.
  const NodeView view{std::uint64_t{n.visits} - 1 + n.in_flight, n.reward, spread};
  const std::size_t chosen = selection->select(offered, view, stream) + (arms.size() - offered.size());
  WARPATH_CHECK(chosen < arms.size());
  return arm_edges[chosen];
}

Hash128 Search::Impl::key_of_child(NodeId parent, std::uint32_t action, const Hash128& key) const {
  return tree ? Hasher().add(nodes.key(parent)).add(action).add(key).digest() : key;
}

EdgeId Search::Impl::expand(NodeId v) {
  const auto choice = orders.at(v, nodes.key(v), nodes[v].next_action, nodes[v].action_count);
  const std::optional<Hash128> key = space.apply(v, choice.action);
  ++nodes[v].next_action;
  if (!key) {
    live.update(nodes, v);
    return kNoEdge;
  }
  bool created = false;
  const auto depth = static_cast<std::uint16_t>(nodes[v].depth + 1);
  const NodeId child = nodes.find_or_insert(key_of_child(v, choice.action, *key), depth, created);
  EdgeId edge = kNoEdge;
  if (created || nodes.find_edge(v, child) == kNoEdge) {
    edge = nodes.add_edge(v, child, choice.action, choice.prior);
    live.count_edge(nodes, edge);
    if (nodes[child].state == NodeState::measured) backup.raise_best(nodes, v, nodes[child].best);
  }
  live.update(nodes, v);
  if (!created) return kNoEdge;
  space.adopt(child, v, choice.action);
  return edge;
}

Dispatch Search::Impl::dispatch() {
  ++nodes[kRoot].in_flight;
  for (const EdgeId e : path) ++nodes[nodes[e].target].in_flight;
  const Edge& last = nodes[path.back()];
  const Dispatch made{state.next_sequence++, last.target, last.source, last.action};
  state.pending.push_back({made, path});
  return made;
}

std::uint32_t Search::Impl::actions(NodeId node) {
  if (nodes[node].state != NodeState::measured || nodes[node].depth >= options.max_depth) return 0;
  if (!nodes[node].opened) open(node);
  return nodes[node].action_count;
}

std::uint32_t Search::Impl::draw_action(NodeId node) {
  constexpr double kUniform = 0.1;  // nothing is out of reach
  const std::uint32_t count = nodes[node].action_count;
  if (!draws_by_prior || rng().uniform() < kUniform) return static_cast<std::uint32_t>(rng().below(count));
  double left = rng().uniform();
  std::uint32_t rank = 0;
  for (; rank + 1 < count; ++rank) {
    left -= orders.at(node, nodes.key(node), rank, count).prior;
    if (left < 0) break;
  }
  return orders.at(node, nodes.key(node), rank, count).action;
}

Field::Arrival Search::Impl::act(NodeId node, std::uint32_t action) {
  const std::optional<Hash128> key = space.apply(node, action);
  if (!key) return {};
  bool created = false;
  const auto depth = static_cast<std::uint16_t>(nodes[node].depth + 1);
  const NodeId child = nodes.find_or_insert(key_of_child(node, action, *key), depth, created);
  if (created || nodes.find_edge(node, child) == kNoEdge) {
    const EdgeId edge = nodes.add_edge(node, child, action, 1.0F / static_cast<float>(nodes[node].action_count));
    live.count_edge(nodes, edge);
    if (nodes[child].state == NodeState::measured) backup.raise_best(nodes, node, nodes[child].best);
  }
  if (created) space.adopt(child, node, action);
  return {child, created};
}

Field::Arrival Search::Impl::visit(NodeId from, std::span<const Level> point) {
  if (nodes[from].state != NodeState::measured || nodes[from].depth >= options.max_depth) from = kRoot;
  const std::optional<Hash128> key = space.jump(from, point);
  if (!key) return {};
  bool created = false;
  const auto depth = static_cast<std::uint16_t>(nodes[from].depth + 1);
  const NodeId child = nodes.find_or_insert(key_of_child(from, kJump, *key), depth, created);
  if (created) {
    nodes.add_edge(from, child, kJump, 0);
    space.adopt(child, from, kJump);
  }
  return {child, created};
}

std::optional<Dispatch> Search::Impl::next_of_strategy() {
  const NodeId node = strategy->next(*this);
  asked_in_vain = node == kNoNode;
  if (asked_in_vain) return std::nullopt;
  path = creating_path(node);
  return dispatch();
}

std::vector<EdgeId> Search::Impl::creating_path(NodeId node) const {
  std::vector<EdgeId> out;
  for (NodeId at = node; at != kRoot; at = nodes[out.back()].source) out.push_back(nodes[at].first_in);
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<Dispatch> Search::Impl::graft(NodeId parent, const Hash128& key, float prior) {
  WARPATH_CHECK(nodes[parent].state == NodeState::measured);
  if (nodes[parent].depth >= options.max_depth) return std::nullopt;
  const Hash128 child_key = key_of_child(parent, kGraft, key);
  if (nodes.find(child_key) != kNoNode) return std::nullopt;
  bool created = false;
  const NodeId child = nodes.find_or_insert(child_key, static_cast<std::uint16_t>(nodes[parent].depth + 1), created);
  live.count_edge(nodes, nodes.add_edge(parent, child, kGraft, prior));
  live.update(nodes, parent);
  space.adopt(child, parent, kGraft);
  path = creating_path(child);
  return dispatch();
}

std::optional<Dispatch> Search::Impl::next() {
  if (strategy) return next_of_strategy();
  if (selection->draws()) stream = Rng(seed, "select", state.next_sequence);
  path.clear();
  NodeId at = kRoot;
  for (;;) {
    while (!nodes[at].live) {  // closed by what was tried just now, perhaps with its parents
      if (path.empty()) return std::nullopt;
      at = nodes[path.back()].source;
      path.pop_back();
    }
    const Node& n = nodes[at];
    if (!n.opened || (n.next_action < n.action_count && !orders.has(at))) {
      open(at);
      continue;
    }
    if (const EdgeId down = select(at); down != kNoEdge) {
      path.push_back(down);
      at = nodes[down].target;
    } else if (const EdgeId made = expand(at); made != kNoEdge) {
      path.push_back(made);
      return dispatch();
    }
  }
}

std::vector<Search::State::Pending>::iterator Search::Impl::find_pending(std::uint64_t sequence) {
  const auto it = std::lower_bound(state.pending.begin(), state.pending.end(), sequence,
                                   [](const State::Pending& p, std::uint64_t s) { return p.dispatch.sequence < s; });
  return it != state.pending.end() && it->dispatch.sequence == sequence ? it : state.pending.end();
}

void Search::Impl::complete(std::uint64_t sequence, const Evaluation& evaluation) {
  const auto it = find_pending(sequence);
  WARPATH_CHECK(it != state.pending.end());
  WARPATH_CHECK(!evaluation.ok || std::isfinite(evaluation.reward));
  const State::Pending done = std::move(*it);
  state.pending.erase(it);
  ++state.playouts;
  if (sequence < counted) edges_in_flight.remove(done.path);
  for (const EdgeId e : done.path) {
    ++nodes[e].visits;
    --nodes[nodes[e].target].in_flight;
    ++nodes[nodes[e].target].visits;
  }
  --nodes[kRoot].in_flight;
  ++nodes[kRoot].visits;
  const NodeId leaf = done.dispatch.node;
  Node& n = nodes[leaf];
  n.state = evaluation.ok ? NodeState::measured : NodeState::failed;
  if (evaluation.ok) {
    const double r = evaluation.reward;
    n.reward = n.best = n.value = r;
    state.rewards.add(r);
    state.floor = std::min(state.floor, r);
    const double record = nodes[state.best].reward;
    if (r > record || (r == record && leaf < state.best)) state.best = leaf;
    live.update(nodes, leaf);
    for (EdgeId e = n.first_in; e != kNoEdge; e = nodes[e].next_in) backup.raise_best(nodes, nodes[e].source, r);
  }
  for (auto e = done.path.rbegin(); e != done.path.rend(); ++e) backup.recompute_value(nodes, nodes[*e].source, state.floor);
  asked_in_vain = false;
  if (strategy && done.dispatch.action != kGraft) strategy->complete(*this, leaf);  // a graft is none of its own
}

void Search::Impl::remeasure(NodeId node, double reward) {
  WARPATH_CHECK(index(node) < nodes.node_count() && nodes[node].state == NodeState::measured && std::isfinite(reward));
  state.rewards.replace(nodes[node].reward, reward);
  nodes[node].reward = reward;
  state.best = kRoot;
  state.floor = nodes[kRoot].reward;
  for (std::uint32_t i = 0; i < nodes.node_count(); ++i) {
    const Node& n = nodes[NodeId{i}];
    if (n.state != NodeState::measured) continue;
    state.floor = std::min(state.floor, n.reward);
    if (n.reward > nodes[state.best].reward) state.best = NodeId{i};
  }
  backup.rebuild(nodes, state.floor);
}

Search::Search(Space& space, const SearchOptions& options, std::uint64_t seed, const Hash128& root_key)
    : impl_(std::make_unique<Impl>(space, options, seed)) {
  bool created = false;
  Node& root = impl_->nodes[impl_->nodes.find_or_insert(root_key, 0, created)];
  root.state = NodeState::measured;
  root.visits = 1;
  impl_->state.rewards.add(root.reward);
  impl_->state.best = kRoot;
  impl_->live.update(impl_->nodes, kRoot);
}

Search::Search(Space& space, const SearchOptions& options, std::uint64_t seed, Graph graph, State state, std::string_view place)
    : impl_(std::make_unique<Impl>(space, options, seed)) {
  impl_->nodes = std::move(graph);
  impl_->state = std::move(state);
  impl_->place = place;
  if (const std::string violated = violated_invariant(); !violated.empty()) {
    throw bad_input(place, violated, "a state that a search can be in");
  }
}

Search::~Search() = default;

std::optional<Dispatch> Search::next() { return impl_->next(); }
std::optional<Dispatch> Search::graft(NodeId parent, const Hash128& key, float prior) { return impl_->graft(parent, key, prior); }
void Search::complete(std::uint64_t sequence, const Evaluation& evaluation) { impl_->complete(sequence, evaluation); }
void Search::remeasure(NodeId node, double reward) { impl_->remeasure(node, reward); }

Idle Search::idle() const {
  if (impl_->strategy ? !impl_->asked_in_vain : impl_->nodes[kRoot].live) return Idle::none;
  return impl_->state.pending.empty() ? Idle::exhausted : Idle::waiting;
}

const Graph& Search::graph() const { return impl_->nodes; }
NodeId Search::best() const { return impl_->state.best; }
const Welford& Search::rewards() const { return impl_->state.rewards; }
bool Search::is_in_flight(std::uint64_t sequence) const { return impl_->find_pending(sequence) != impl_->state.pending.end(); }

std::vector<Dispatch> Search::in_flight() const {
  std::vector<Dispatch> out;
  for (const auto& pending : impl_->state.pending) out.push_back(pending.dispatch);
  return out;
}

std::uint32_t Search::in_flight(EdgeId edge) const { return impl_->in_flight(edge); }

std::vector<EdgeId> Search::path_of(std::uint64_t sequence) const {
  const auto it = impl_->find_pending(sequence);
  WARPATH_CHECK(it != impl_->state.pending.end());
  return it->path;
}

std::vector<EdgeId> Search::creating_path(NodeId node) const { return impl_->creating_path(node); }

bool Search::restorable() const { return impl_->strategy == nullptr; }

Search::State Search::state() const { return impl_->state; }

std::string Search::violated_invariant() const {
  std::string violated = violated_search_invariant(impl_->nodes, impl_->state, impl_->options.max_depth);
  if (violated.empty()) violated = violated_in_flight(impl_->edges_in_flight, impl_->state, impl_->counted);
  return violated;
}

Hash128 Search::fingerprint() const {
  const State& s = impl_->state;
  Hasher h;
  h.add(impl_->nodes.fingerprint()).add(s.next_sequence).add(s.playouts).add(s.floor).add(index(s.best));
  h.add(s.rewards.count).add(s.rewards.mean).add(s.rewards.m2).add(std::uint64_t{s.pending.size()});
  for (const auto& [dispatch, path] : s.pending) {
    h.add(dispatch.sequence).add(index(dispatch.node)).add(index(dispatch.parent)).add(dispatch.action);
    h.add(std::uint64_t{path.size()});
    for (const EdgeId e : path) h.add(index(e));
  }
  return h.digest();
}

}  // namespace warpath
