#include "engine/search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/search/search_check.h"
#include "engine/search/search_impl.h"
#include "engine/search/strategy/start_options.h"
#include "register_backups.h"
#include "register_selections.h"
#include "register_stops.h"
#include "register_strategies.h"
#include "register_widenings.h"

namespace warpath {
namespace {

/// True for "tree".
bool parse_sharing(const std::string& text) {
  if (text != "graph" && text != "tree") throw bad_input("search.sharing", text, "graph or tree");
  return text == "tree";
}

Draws parse_draws(const std::string& text) {
  if (text == "uniform") return Draws::uniform;
  if (text == "prior") return Draws::prior;
  if (text == "ordered") return Draws::ordered;
  throw bad_input("search.draws", text, "uniform, prior or ordered");
}

/// True for "ignored".
bool parse_parallel(const std::string& text) {
  if (text != "unobserved" && text != "ignored")
    throw bad_input("search.parallel", text, "unobserved or ignored");
  return text == "ignored";
}

}  // namespace

void add_search_options(Options& options) {
  const auto add = [&]<class Registry>(void (*fill)(Registry&)) {
    Registry registry("");
    fill(registry);
    options.add_all(registry);
  };
  add(register_selections);
  add(register_backups);
  add(register_widenings);
  add(register_strategies);
  add(register_stops);
}

void check_search_options(const Options& options) {
  static_cast<void>(parse_sharing(options.search.sharing));
  static_cast<void>(parse_draws(options.search.draws));
  static_cast<void>(parse_parallel(options.search.parallel));
  static_cast<void>(make_selection(options));
  static_cast<void>(make_widening(options));
  static_cast<void>(make_backup(options));
  static_cast<void>(make_strategy(options, nullptr));
}

Search::Impl::Impl(Space& space_in, const Options& options_in, std::uint64_t seed_in)
    : space(space_in),
      options(options_in.search),
      seed(seed_in),
      tree(parse_sharing(options.sharing)),
      draws(parse_draws(options.draws)),
      ignores_in_flight(parse_parallel(options.parallel)),
      selection(make_selection(options_in)),
      widening(make_widening(options_in)),
      backup_policy(make_backup(options_in)),
      strategy(make_strategy(options_in, space.lattice())),
      wide(strategy != nullptr || !selection->by_score() ? WideNodes::ArmOf()
                                                         : [this](EdgeId e) { return arm(e); }),
      backup(*backup_policy, wide),
      live(options.max_depth, wide),
      orders(seed),
      stream(seed, "select"),
      strategy_stream(seed, "strategy"),
      initial(static_cast<std::uint64_t>(options_in.of<StartOptions>().initial)) {}

void Search::Impl::open(NodeId v) {
  priors.clear();
  space.open(v, priors);
  if (priors.size() > kMostActions) {
    throw bad_input("node " + nodes.key(v).short_hex(), std::to_string(priors.size()) + " actions",
                    "at most " + std::to_string(kMostActions));
  }
  for (const float p : priors) WARPATH_CHECK(std::isfinite(p) && p >= 0);
  if (v == kRoot && !priors.empty() && options.root_noise_weight > 0) {
    std::vector<double> noise(priors.size());
    Rng(seed, "root_noise").dirichlet(options.root_noise_alpha, noise);
    const double w = options.root_noise_weight;
    for (std::size_t i = 0; i < priors.size(); ++i)
      priors[i] = static_cast<float>((1 - w) * priors[i] + w * noise[i]);
  }
  const Node n = nodes[v];
  const auto count = static_cast<std::uint32_t>(priors.size());
  if (n.opened && n.action_count != count) {
    throw bad_input(place,
                    std::to_string(n.action_count) + " actions of node " + nodes.key(v).short_hex(),
                    std::to_string(count) + ", as its space has");
  }
  nodes.open(v, count);
  orders.set(v, nodes.key(v), priors);
  live.update(nodes, v);
}

std::uint32_t Search::Impl::in_flight(EdgeId edge) {
  for (auto p = state.pending.rbegin();
       p != state.pending.rend() && p->dispatch.sequence >= counted; ++p) {
    for (const EdgeId e : p->path) edges_in_flight.add(e);
  }
  counted = state.next_sequence;
  return edges_in_flight[edge];
}

std::optional<Arm> Search::Impl::arm(EdgeId edge) {
  const Edge e = nodes[edge];
  if (!nodes.live(e.target) || !nodes.forward(edge)) return std::nullopt;
  Arm out;
  set_arm({.edge = edge, .target = e.target, .prior = e.prior}, out);
  return out;
}

void Search::Impl::set_arm(const Graph::Out& edge, Arm& out) {
  out.value = backup_policy->edge_value(nodes.value(edge.target), nodes.best(edge.target));
  out.prior = edge.prior.value();
  out.visits = nodes.visits(edge.edge);
  if (!ignores_in_flight && nodes.in_flight(edge.target)) out.in_flight = in_flight(edge.edge);
}

std::size_t Search::Impl::list_arms(NodeId v, const NodeView& view) {
  if (const WideNodes::Wide* known = selection->by_score() ? wide.find(nodes, v) : nullptr) {
    sufficient.clear();
    known->arms.sufficient(*selection, view, stream, sufficient);
    for (const std::uint32_t position : sufficient) {
      arms.push_back(*known->arms.at(position));
      arm_edges.push_back(known->edges[position]);
    }
    return known->edges.size();
  }
  std::size_t edges = 0;
  const std::uint16_t depth = nodes.depth(v);
  for (const Graph::Out& out : nodes.out(v)) {
    ++edges;
    if (!nodes.live(out.target) || nodes.depth(out.target) <= depth) continue;
    set_arm(out, arms.emplace_back());
    arm_edges.push_back(out.edge);
  }
  return edges;
}

EdgeId Search::Impl::select(NodeId v) {
  arms.clear();
  arm_edges.clear();
  const std::uint32_t untried = nodes.untried(v);
  if (untried > 0) {  // the widen arm's place; it is dropped below if it is not offered
    arms.push_back({.is_widen = true});
    arm_edges.push_back(kNoEdge);
  }
  // Every visit and every evaluation in flight of a measured node, but its own, went through one of
  // its edges.
  const std::uint64_t visits = std::uint64_t{nodes.visits(v)} + nodes.in_flight(v);
  const NodeView view{visits - 1, nodes.reward(v), sigma()};
  const auto children = static_cast<std::uint32_t>(list_arms(v, view));
  std::span<const Arm> offered(arms);
  if (untried > 0) {
    if (arms.size() == 1) return kNoEdge;
    const bool offer = widening->offer(visits, children, untried);
    if (offer && widening->forced()) return kNoEdge;
    if (offer) {
      arms.front().value = widening->first_play_value(nodes.reward(v), nodes.value(v), view.sigma);
      const Node n = nodes[v];
      // as its edge will have it
      arms.front().prior = BFloat16(orders.prior(v, n.next_action, n.action_count)).value();
    } else {
      offered = offered.subspan(1);
    }
  }
  const std::size_t chosen =
      selection->select(offered, view, stream) + (arms.size() - offered.size());
  WARPATH_CHECK(chosen < arms.size());
  return arm_edges[chosen];
}

Hash128 Search::Impl::key_of_child(NodeId parent, std::uint32_t action, const Hash128& key) const {
  return tree ? Hasher().add(nodes.key(parent)).add(action).add(key).digest() : key;
}

EdgeId Search::Impl::expand(NodeId v) {
  const Node n = nodes[v];
  const auto choice = orders.at(v, nodes.key(v), n.next_action, n.action_count);
  const std::optional<Hash128> key = space.apply(v, choice.action);
  nodes.try_action(v);
  if (!key) {
    live.update(nodes, v);
    return kNoEdge;
  }
  const Linked linked = link(v, {.action = choice.action}, *key, choice.prior);
  live.update(nodes, v);
  return linked.created ? linked.edge : kNoEdge;
}

Search::Impl::Linked Search::Impl::link(NodeId parent,
                                        const Step& step,
                                        const Hash128& key,
                                        float prior) {
  Linked out;
  const auto depth = static_cast<std::uint16_t>(nodes[parent].depth + 1);
  out.child = nodes.find_or_insert(key_of_child(parent, step.action, key), depth, out.created);
  if (out.created || (step.action != kJump && nodes.find_edge(parent, out.child) == kNoEdge)) {
    out.edge = nodes.add_edge(parent, out.child, step.action, prior);
    live.count_edge(nodes, out.edge);
    if (nodes[out.child].state == NodeState::measured)
      backup.raise_best(nodes, parent, nodes[out.child].best);
  }
  if (out.created && step.action != kGraft) space.create(out.child, parent, step, key);
  return out;
}

Dispatch Search::Impl::dispatch() {
  nodes.reserve(kRoot);
  for (const EdgeId e : path) {
    const NodeId target = nodes.target(e);
    nodes.reserve(target);
    wide.changed(target);
  }
  const Edge last = nodes[path.back()];
  const Dispatch made{state.next_sequence++, last.target, last.source, last.action};
  state.pending.push_back({made, path});
  return made;
}

std::optional<Dispatch> Search::Impl::graft(NodeId parent, const Hash128& key, float prior) {
  WARPATH_CHECK(nodes[parent].state == NodeState::measured);
  if (nodes[parent].depth >= options.max_depth) return std::nullopt;
  if (nodes.find(key_of_child(parent, kGraft, key)) != kNoNode) return std::nullopt;
  const Linked linked = link(parent, {.action = kGraft}, key, prior);
  live.update(nodes, parent);
  path = creating_path(linked.child);
  return dispatch();
}

std::optional<Dispatch> Search::Impl::next() {
  constexpr std::uint64_t kEvery = 5;
  if (strategy) return next_of_strategy();
  if (state.next_sequence + 1 < initial || state.next_sequence % kEvery == 0) {
    if (const auto drawn = draw_point()) return drawn;
  }
  if (selection->draws()) stream = Rng(seed, "select", state.next_sequence);
  path.clear();
  NodeId at = kRoot;
  for (;;) {
    while (!nodes.live(at)) {  // closed by what was tried just now, perhaps with its parents
      if (path.empty()) return restart();
      at = nodes.source(path.back());
      path.pop_back();
    }
    if (!nodes.opened(at) || (nodes.untried(at) > 0 && !orders.has(at))) {
      open(at);
      continue;
    }
    if (const EdgeId down = select(at); down != kNoEdge) {
      path.push_back(down);
      at = nodes.target(down);
    } else if (const EdgeId made = expand(at); made != kNoEdge) {
      path.push_back(made);
      return dispatch();
    }
  }
}

std::optional<Dispatch> Search::Impl::draw_point() {
  if (space.lattice() == nullptr || !space.lattice()->complete()) return std::nullopt;
  strategy_stream = Rng(seed, "restart", state.next_sequence);
  const NodeId node = fresh_draw();
  if (node == kNoNode) return std::nullopt;
  path = creating_path(node);
  return dispatch();
}

/// Nothing that is known leads on.
std::optional<Dispatch> Search::Impl::restart() {
  std::optional<Dispatch> drawn = draw_point();
  asked_in_vain = !drawn;
  return drawn;
}

std::vector<Search::State::Pending>::iterator Search::Impl::find_pending(std::uint64_t sequence) {
  const auto it = std::lower_bound(
      state.pending.begin(), state.pending.end(), sequence,
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
  if (sequence < counted) {
    for (const EdgeId e : done.path) edges_in_flight.remove(e);
  }
  for (const EdgeId e : done.path) {
    const NodeId target = nodes.target(e);
    nodes.visit(e);
    nodes.release(target);
    wide.changed(target);
  }
  nodes.release(kRoot);
  nodes.visit_root();
  const NodeId leaf = done.dispatch.node;
  if (evaluation.ok) {
    const double r = evaluation.reward;
    nodes.measure(leaf, r);
    state.rewards.add(r);
    state.floor = std::min(state.floor, r);
    const double record = nodes[state.best].reward;
    if (r > record || (r == record && leaf < state.best)) state.best = leaf;
    live.update(nodes, leaf);
    for (EdgeId e = nodes[leaf].first_in; e != kNoEdge; e = nodes.next_in(e))
      backup.raise_best(nodes, nodes.source(e), r);
  } else {
    nodes.fail(leaf);
  }
  for (auto e = done.path.rbegin(); e != done.path.rend(); ++e)
    backup.recompute_value(nodes, nodes.source(*e), state.floor);
  asked_in_vain = false;
  if (strategy && evaluation.twin != kNoNode) {
    WARPATH_CHECK(nodes[evaluation.twin].state == NodeState::measured);
    if (index(leaf) >= twins.size()) twins.resize(index(leaf) + std::size_t{1}, kNoNode);
    twins[index(leaf)] = evaluation.twin;
  }
  // a strategy did not choose what was grafted
  if (strategy && done.dispatch.action != kGraft) strategy->complete(*this, leaf);
}

Search::Search(Space& space, const Options& options, std::uint64_t seed, const Hash128& root_key)
    : impl_(std::make_unique<Impl>(space, options, seed)) {
  bool created = false;
  const NodeId root = impl_->nodes.find_or_insert(root_key, 0, created);
  impl_->nodes.measure(root, 0);
  impl_->nodes.visit_root();
  impl_->state.rewards.add(0);
  impl_->state.best = kRoot;
  impl_->live.update(impl_->nodes, kRoot);
}

Search::Search(Space& space,
               const Options& options,
               std::uint64_t seed,
               Graph graph,
               State state,
               std::string_view place)
    : impl_(std::make_unique<Impl>(space, options, seed)) {
  impl_->nodes = std::move(graph);
  impl_->state = std::move(state);
  impl_->place = place;
  if (const std::string violated = violated_invariant(); !violated.empty()) {
    throw bad_input(place, violated, "a state that a search can be in");
  }
}

Search::~Search() = default;

std::optional<Dispatch> Search::next() {
  return impl_->next();
}
std::optional<Dispatch> Search::graft(NodeId parent, const Hash128& key, float prior) {
  return impl_->graft(parent, key, prior);
}
void Search::complete(std::uint64_t sequence, const Evaluation& evaluation) {
  impl_->complete(sequence, evaluation);
}

Idle Search::idle() const {
  const bool may_draw = impl_->strategy != nullptr || impl_->space.lattice() != nullptr;
  if (may_draw ? !impl_->asked_in_vain : impl_->nodes[kRoot].live) return Idle::none;
  return impl_->state.pending.empty() ? Idle::exhausted : Idle::waiting;
}

const Graph& Search::graph() const {
  return impl_->nodes;
}
NodeId Search::best() const {
  return impl_->state.best;
}

std::uint32_t Search::in_flight(EdgeId edge) const {
  return impl_->in_flight(edge);
}

std::vector<EdgeId> Search::path_of(std::uint64_t sequence) const {
  const auto it = impl_->find_pending(sequence);
  WARPATH_CHECK(it != impl_->state.pending.end());
  return it->path;
}

bool Search::surveys() const {
  return impl_->strategy != nullptr && impl_->strategy->surveys();
}

bool Search::takes_grafts() const {
  return impl_->strategy == nullptr || impl_->strategy->takes_grafts();
}

const Search::State& Search::state() const {
  return impl_->state;
}

void Search::keep(StrategyState& state) {
  if (impl_->strategy) impl_->keep_strategy(state);
}

std::string Search::violated_invariant() const {
  std::string violated = violated_search_invariant(impl_->nodes, impl_->state, impl_->live);
  if (violated.empty())
    violated = violated_in_flight(impl_->edges_in_flight, impl_->state, impl_->counted);
  if (violated.empty()) violated = impl_->wide.violated_invariant(impl_->nodes);
  return violated;
}

Hash128 Search::fingerprint() const {
  const State& s = impl_->state;
  Hasher h;
  h.add(impl_->nodes.fingerprint())
      .add(s.next_sequence)
      .add(s.playouts)
      .add(s.floor)
      .add(index(s.best));
  h.add(s.rewards.count).add(s.rewards.mean).add(s.rewards.m2).add(std::uint64_t{s.pending.size()});
  for (const auto& [dispatch, path] : s.pending) {
    h.add(dispatch.sequence)
        .add(index(dispatch.node))
        .add(index(dispatch.parent))
        .add(dispatch.action);
    h.add(std::uint64_t{path.size()});
    for (const EdgeId e : path) h.add(index(e));
  }
  return h.digest();
}

}  // namespace warpath
