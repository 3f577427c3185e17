#include "engine/run/kernel_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/base/error.h"

namespace warpath {
namespace {

/// By name and by alias; a name wins over an alias.
std::map<std::string, std::unique_ptr<Move>, std::less<>> moves_by_name(
    const MoveRegistry& registry) {
  std::map<std::string, std::unique_ptr<Move>, std::less<>> out;
  for (const auto& [name, entry] : registry.entries()) {
    auto move = entry.make();
    for (const std::string& alias : move->aliases()) {
      if (!registry.contains(alias)) out.try_emplace(alias, entry.make());
    }
    out.insert_or_assign(name, std::move(move));
  }
  return out;
}

/// Proposer of jumps in records: the strategy itself.
constexpr std::string_view kStrategy = "strategy";

}  // namespace

/// Tunables of the spec with at least two values. Legality is judged with the spec's own source.
class KernelSpace::Tunables final : public Lattice {
 public:
  static constexpr std::string_view kMove = "set_tunable";

  explicit Tunables(const KernelSpace& space) : space_(space) {
    for (const Tunable& t : space.parts_.spec.tunables) {
      if (t.values.size() > 1) tunables_.push_back(&t);
    }
  }
  [[nodiscard]] std::size_t axes() const override { return tunables_.size(); }
  [[nodiscard]] std::size_t levels(std::size_t axis) const override {
    return tunables_[axis]->values.size();
  }
  [[nodiscard]] std::int64_t value(std::size_t axis, Level level) const override {
    return tunables_[axis]->values[level];
  }
  [[nodiscard]] bool legal(std::span<const Level> point) const override {
    return space_.allowed(placed(space_.at(NodeId{0}).variant, point));
  }
  [[nodiscard]] bool complete() const override { return space_.parts_.only_tunables; }

  /// `variant` with its tunables at `point`; tunables that it no longer has are not added. Of
  /// versions those of a size change, the general kernel stays.
  [[nodiscard]] Variant placed(Variant variant, std::span<const Level> point) const {
    for (Variant& version : variant.versions) {
      if (!version.when.empty()) version = placed(std::move(version), point);
    }
    for (std::size_t i = 0; i < point.size(); ++i) {
      const auto it = variant.tunables.find(tunables_[i]->name);
      if (it != variant.tunables.end()) it->second = tunables_[i]->values[point[i]];
    }
    return variant;
  }
  /// Levels of a variant. A value that is not in the spec counts as the next larger one, a tunable
  /// that the variant no longer has as its default.
  void levels_of(const Variant& variant, std::span<Level> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Tunable& t = *tunables_[i];
      const auto it = variant.tunables.find(t.name);
      const auto at = std::lower_bound(t.values.begin(), t.values.end(),
                                       it == variant.tunables.end() ? t.default_value : it->second);
      out[i] = static_cast<Level>(
          std::min<std::ptrdiff_t>(at - t.values.begin(), std::ssize(t.values) - 1));
    }
  }
  [[nodiscard]] static MoveInstance step(const Variant& from, const Variant& to) {
    MoveInstance instance{.move = std::string(kMove), .site = "", .parameters = {}};
    for (const auto& [name, value] : to.tunables) {
      const auto it = from.tunables.find(name);
      if (it == from.tunables.end() || it->second != value) instance.parameters[name] = value;
    }
    return instance;
  }

 private:
  const KernelSpace& space_;
  std::vector<const Tunable*> tunables_;
};

KernelSpace::~KernelSpace() = default;

KernelSpace::KernelSpace(const Parts& parts, std::function<void(const ProposalsEvent&)> record)
    : parts_(parts), record_(std::move(record)), moves_(moves_by_name(parts.moves)) {
  Node root;
  root.variant = baseline_variant(parts_.spec);
  root.key = variant_key(root.variant);
  nodes_.push_back(std::move(root));
  lattice_ = std::make_unique<Tunables>(*this);
  if (lattice_->axes() == 0) lattice_.reset();
}

const Lattice* KernelSpace::lattice() const {
  return lattice_.get();
}

void KernelSpace::levels(NodeId node, std::span<Level> out) const {
  lattice_->levels_of(variant(node), out);
}

std::optional<Hash128> KernelSpace::jump(NodeId node, std::span<const Level> point) {
  const Variant variant = lattice_->placed(at(node).variant, point);
  return allowed(variant) ? std::optional(variant_key(variant)) : std::nullopt;
}

bool KernelSpace::allowed(const Variant& variant) const {
  std::string why;
  return satisfies_constraints(parts_.spec, variant, why) &&
         !(parts_.refuses && parts_.refuses(variant));
}

void KernelSpace::set_outcome(NodeId node, const Outcome& outcome) {
  nodes_[index(node)].outcome = outcome;
}

const Outcome* KernelSpace::outcome(NodeId node) const {
  return at(node).outcome ? &*at(node).outcome : nullptr;
}

void KernelSpace::recall(const ProposalsEvent& event) {
  recalled_[{event.key, event.proposer}] = event.proposals;
}

void KernelSpace::restore(const DispatchEvent& event, const std::string& place) {
  if (index(event.node) != size() || index(event.parent) >= size()) {
    throw bad_input(place,
                    "node " + std::to_string(index(event.node)) + " under node " +
                        std::to_string(index(event.parent)),
                    "node " + std::to_string(size()) + " under an earlier one");
  }
  Node node;
  node.variant = patched(at(event.parent).variant, event.change);
  node.key = event.key;
  node.parent = event.parent;
  node.instance = event.instance;
  node.source = event.source;
  nodes_.push_back(std::move(node));
}

std::vector<Proposal> KernelSpace::proposals(const ProposalContext& context) {
  std::vector<Proposal> all;
  std::set<MoveInstance> seen;
  for (Proposer* proposer : parts_.proposers) {
    std::vector<Proposal> said;
    const std::pair<Hash128, std::string> place{context.node_key, proposer->name()};
    if (const auto it = recalled_.find(place); it != recalled_.end()) {
      said = it->second;
    } else {
      Rng rng(parts_.seed, "propose", mix64(context.node_key.high) ^ context.node_key.low);
      said = proposer->propose(context, rng);
      if (!proposer->pure()) {
        const ProposalsEvent event{.key = place.first, .proposer = place.second, .proposals = said};
        record_(event);
        recall(event);
      }
    }
    for (Proposal& p : said) {
      if ((parts_.only_tunables && p.instance.move != Tunables::kMove) ||
          parts_.without.contains(p.instance.move))
        continue;
      if (!(p.weight > 0) || !std::isfinite(p.weight)) p.weight = 1e-9;
      if (!std::isfinite(p.predicted_log_gain)) p.predicted_log_gain = 0;
      if (seen.insert(p.instance).second) all.push_back(std::move(p));
    }
  }
  return all;
}

ProposalContext KernelSpace::context(NodeId id) const {
  const Node& node = at(id);
  ProposalContext out{.at = {parts_.spec, node.variant, parts_.device},
                      .node_key = node.key,
                      .outcome = outcome(id),
                      .seed = parts_.seed,
                      .baseline = outcome(NodeId{0})};
  for (NodeId step = id; at(step).parent != kNoNode; step = at(step).parent)
    out.path.push_back(&at(step).instance);
  std::ranges::reverse(out.path);
  return out;
}

SourceShares KernelSpace::shares(NodeId node, std::uint32_t action) {
  if (parts_.prior.pure()) return {};
  const std::vector<Action>& list = actions(node);
  if (action >= list.size()) return {};
  std::vector<Proposal> proposals;
  for (const Action& a : list)
    proposals.push_back({.instance = a.instance,
                         .weight = a.weight,
                         .source = a.source,
                         .variant = std::nullopt,
                         .why = ""});
  return parts_.prior.shares(context(node), proposals, action);
}

void KernelSpace::learn(NodeId id, const SourceShares& shares, bool ok, double log_gain) {
  if (parts_.prior.pure()) return;
  const Node& node = at(id);
  const ProposalContext context = this->context(node.parent);
  parts_.prior.observe({.context = context,
                        .instance = node.instance,
                        .source = node.source,
                        .shares = shares,
                        .ok = ok,
                        .log_gain = log_gain});
}

/// For a prior that learns: its values when the node was first opened.
std::vector<double> KernelSpace::priors(const ProposalContext& context,
                                        const std::vector<Proposal>& proposals) {
  std::vector<double> out(proposals.size());
  if (proposals.empty()) return out;
  if (const auto it = recalled_priors_.find(context.node_key); it != recalled_priors_.end()) {
    if (it->second.size() == proposals.size()) return it->second;
    throw bad_input("priors of " + context.node_key.short_hex(),
                    std::to_string(it->second.size()) + " weights",
                    std::to_string(proposals.size()) +
                        ": the program, its moves or its proposers changed since");
  }
  parts_.prior.evaluate(context, proposals, out);
  WARPATH_CHECK(out.size() == proposals.size());
  if (parts_.prior.pure()) return out;
  const PriorsEvent event{.key = context.node_key, .weights = out};
  if (parts_.record_priors) parts_.record_priors(event);
  recall(event);
  return out;
}

std::vector<Proposal> KernelSpace::legal(NodeId node) {
  std::vector<Proposal> out;
  for (const Action& action : actions(node)) {
    out.push_back({.instance = action.instance,
                   .weight = action.prior,
                   .source = action.source,
                   .variant = action.foreign
                                  ? std::optional(edited(at(node).variant, action.made->edit))
                                  : std::nullopt,
                   .why = "",
                   .made = action.made});
  }
  std::ranges::stable_sort(
      out, [](const Proposal& a, const Proposal& b) { return a.weight > b.weight; });
  return out;
}

float KernelSpace::largest_prior(NodeId node) {
  float out = 0;
  for (const Action& action : actions(node)) out = std::max(out, action.prior);
  return out;
}

std::vector<KernelSpace::Action>& KernelSpace::actions(NodeId id) {
  if (nodes_[index(id)].actions) return *nodes_[index(id)].actions;
  opened_.push_back(id);
  const ProposalContext context = this->context(id);
  std::vector<Proposal> suggested = proposals(context);
  const std::vector<double> priors = this->priors(context, suggested);

  // The best priors stay, in the proposers' order.
  std::vector<std::size_t> order(suggested.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return priors[a] > priors[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(parts_.max_actions)));
  std::ranges::sort(order);
  double sum = 0;
  for (const std::size_t i : order) sum += priors[i];
  std::vector<Action> kept;
  for (const std::size_t i : order) {
    Proposal& p = suggested[i];
    const double share = sum > 0 ? priors[i] / sum : 1 / static_cast<double>(order.size());
    const bool foreign = p.variant.has_value();
    kept.push_back({.made = foreign ? made(id, p) : std::move(p.made),
                    .instance = std::move(p.instance),
                    .source = std::move(p.source),
                    .prior = static_cast<float>(share),
                    .weight = p.weight,
                    .foreign = foreign});
  }
  return nodes_[index(id)].actions.emplace(std::move(kept));
}

void KernelSpace::open(NodeId node, std::vector<float>& priors) {
  priors.clear();
  for (const Action& action : actions(node)) priors.push_back(action.prior);
}

std::shared_ptr<const Made> KernelSpace::made(NodeId node, const Proposal& proposal) const {
  if (proposal.made) return proposal.made;
  const Variant& before = at(node).variant;
  std::string why;
  std::optional<Variant> variant = proposal.variant;
  if (!variant) {
    const auto it = moves_.find(proposal.instance.move);
    if (it == moves_.end()) return nullptr;  // a foreign proposal may name anything
    MoveInstance instance = proposal.instance;
    instance.move = it->second->name();
    variant = it->second->apply({parts_.spec, before, parts_.device}, instance, why);
  }
  if (!variant || !satisfies_constraints(parts_.spec, *variant, why)) return nullptr;
  return std::make_shared<const Made>(
      Made{.key = variant_key(*variant), .edit = edit_between(before, *variant)});
}

bool KernelSpace::refused(NodeId node, const Made& made) const {
  return made.key == at(node).key ||  // nothing changed
         (parts_.refuses && parts_.refuses(edited(at(node).variant, made.edit)));
}

std::optional<Hash128> KernelSpace::apply(NodeId node, std::uint32_t number) {
  std::vector<Action>& list = actions(node);
  WARPATH_CHECK(number < list.size());
  Action& action = list[number];
  if (!action.made && !action.foreign)
    action.made = made(node, {.instance = action.instance, .variant = std::nullopt, .why = ""});
  if (!action.made || refused(node, *action.made)) return std::nullopt;
  return action.made->key;
}

void KernelSpace::create(NodeId child, NodeId parent, const Step& step, const Hash128& key) {
  WARPATH_CHECK(index(child) == size());
  const Variant& before = at(parent).variant;
  Node node;
  node.key = key;
  node.parent = parent;
  if (step.action == kJump) {
    node.variant = lattice_->placed(before, step.point);
    node.instance = Tunables::step(before, node.variant);
    node.source = kStrategy;
  } else {
    const Action& action = actions(parent)[step.action];
    node.variant = edited(before, action.made->edit);
    node.instance = action.instance;
    node.source = action.source;
  }
  nodes_.push_back(std::move(node));
}

std::optional<Dispatch> KernelSpace::graft(Search& search,
                                           NodeId parent,
                                           const Proposal& proposal,
                                           const std::function<float()>& prior) {
  const std::shared_ptr<const Made> made = this->made(parent, proposal);
  if (!made || refused(parent, *made)) return std::nullopt;
  const Variant& before = at(parent).variant;
  Node node;
  node.variant = edited(before, made->edit);
  if (parts_.only_tunables) {  // another change would be another node of the same measurements
    Variant otherwise = before;
    otherwise.tunables = node.variant.tunables;
    if (otherwise != node.variant) return std::nullopt;
  }
  std::optional<Dispatch> dispatch = search.graft(parent, made->key, prior());
  if (!dispatch) return std::nullopt;
  WARPATH_CHECK(index(dispatch->node) == size());
  node.key = made->key;
  node.parent = parent;
  node.instance = proposal.instance;
  node.source = proposal.source;
  nodes_.push_back(std::move(node));
  return dispatch;
}

bool KernelSpace::structural(NodeId node) const {
  const auto it = moves_.find(at(node).instance.move);
  return it != moves_.end() && it->second->structural();
}

std::vector<Tunable> KernelSpace::domain(NodeId parent, const MoveInstance& instance) const {
  const auto it = moves_.find(instance.move);
  if (it == moves_.end()) return {};
  return it->second->domain({parts_.spec, at(parent).variant, parts_.device}, instance.site);
}

}  // namespace warpath
