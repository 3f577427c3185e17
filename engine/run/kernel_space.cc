#include "engine/run/kernel_space.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

std::map<std::string, std::unique_ptr<Move>, std::less<>> moves_by_name(
    const MoveRegistry& registry) {
  std::map<std::string, std::unique_ptr<Move>, std::less<>> out;
  for (const auto& [name, entry] : registry.entries()) out.emplace(name, entry.make());
  return out;
}

/// Proposer of jumps in records: the strategy itself.
constexpr std::string_view kStrategy = "strategy";

}  // namespace

/// Tunables of the spec with at least two values. Legality is judged with the spec's own source.
class KernelSpace::Tunables final : public Lattice {
 public:
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
    return space_.allowed(placed(space_.root_->variant, point));
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
    MoveInstance instance{.move = std::string(kSetTunable), .site = "", .parameters = {}};
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
  root_ = std::make_shared<const Content>(
      Content{.variant = baseline_variant(parts_.spec), .instance = {}});
  Node root;
  root.key = variant_key(root_->variant);
  root.move = root.source = name_number("");
  nodes_.push_back(root);
  lattice_ = std::make_unique<Tunables>(*this);
  if (lattice_->axes() == 0) lattice_.reset();
}

const Lattice* KernelSpace::lattice() const {
  return lattice_.get();
}

void KernelSpace::levels(NodeId node, std::span<Level> out) const {
  lattice_->levels_of(content(node)->variant, out);
}

std::optional<Hash128> KernelSpace::jump(NodeId node, std::span<const Level> point) {
  const Variant variant = lattice_->placed(content(node)->variant, point);
  return allowed(variant) ? std::optional(variant_key(variant)) : std::nullopt;
}

bool KernelSpace::allowed(const Variant& variant) const {
  std::string why;
  return satisfies_constraints(parts_.spec, variant, why) &&
         !(parts_.refuses && parts_.refuses(variant));
}

std::uint16_t KernelSpace::name_number(std::string_view name) {
  const auto it = std::ranges::find(names_, name);
  if (it != names_.end()) return static_cast<std::uint16_t>(it - names_.begin());
  WARPATH_CHECK(names_.size() <= UINT16_MAX);
  names_.emplace_back(name);
  return static_cast<std::uint16_t>(names_.size() - 1);
}

void KernelSpace::add(NodeId parent,
                      const Hash128& key,
                      const NodeContent& content,
                      std::string_view source,
                      Variant variant) {
  Node node;
  node.key = key;
  node.content = records_.put(packed(content));
  node.parent = parent;
  node.move = name_number(content.instance.move);
  node.source = name_number(source);
  contents_.add(NodeId{size()}, std::make_shared<const Content>(Content{
                                    .variant = std::move(variant), .instance = content.instance}));
  nodes_.push_back(node);
}

std::shared_ptr<const KernelSpace::Content> KernelSpace::content(NodeId id) const {
  std::vector<NodeId> missing;
  std::shared_ptr<const Content> out;
  for (; id != NodeId{0} && !(out = contents_.find(id)); id = at(id).parent) missing.push_back(id);
  if (!out) out = root_;
  for (; !missing.empty(); missing.pop_back()) {
    NodeContent made = unpacked(records_.get(at(missing.back()).content), "records");
    out = contents_.add(missing.back(), std::make_shared<const Content>(
                                            Content{.variant = edited(out->variant, made.edit),
                                                    .instance = std::move(made.instance)}));
  }
  return out;
}

void KernelSpace::set_outcome(NodeId id, const Outcome& outcome) {
  Node& node = nodes_[index(id)];
  node.outcome = records_.put(to_json(outcome).dump());
  if (id == NodeId{0}) {
    baseline_ = std::make_shared<const Outcome>(outcome);
  } else {
    outcomes_.add(id, std::make_shared<const Outcome>(outcome));
  }
}

std::shared_ptr<const Outcome> KernelSpace::outcome(NodeId node) const {
  if (node == NodeId{0} || at(node).outcome == kNoRecord)
    return node == NodeId{0} ? baseline_ : nullptr;
  if (auto known = outcomes_.find(node)) return known;
  return outcomes_.add(node,
                       std::make_shared<const Outcome>(outcome_from_json(
                           parse_json(records_.get(at(node).outcome), "records"), "records")));
}

void KernelSpace::keep(StrategyState& state) {
  state(names_, nodes_, said_);
  if (state.reads() && at(NodeId{0}).outcome != kNoRecord)
    baseline_ = std::make_shared<const Outcome>(
        outcome_from_json(parse_json(records_.get(at(NodeId{0}).outcome), "records"), "records"));
}

void KernelSpace::recall(const ProposalsEvent& event) {
  recalled_[{event.key, event.proposer}] = event.proposals;
}

std::vector<Proposal> KernelSpace::proposals(
    const ProposalContext& context,
    const std::function<std::vector<Proposal>(Proposer&, Rng&)>& said) const {
  std::vector<Proposal> all;
  std::set<MoveInstance> seen;
  for (Proposer* proposer : parts_.proposers) {
    Rng rng(parts_.seed, "propose", mix64(context.node_key.high) ^ context.node_key.low);
    for (Proposal& p : said(*proposer, rng)) {
      if ((parts_.only_tunables && p.instance.move != kSetTunable) ||
          parts_.without.contains(p.instance.move))
        continue;
      if (!(p.weight > 0) || !std::isfinite(p.weight)) p.weight = 1e-9;
      if (!std::isfinite(p.predicted_log_gain)) p.predicted_log_gain = 0;
      if (seen.insert(p.instance).second) all.push_back(std::move(p));
    }
  }
  return all;
}

std::optional<std::vector<Proposal>> KernelSpace::said(NodeId node,
                                                       const Proposer& proposer) const {
  const auto it = said_.find({node, std::string(proposer.name())});
  if (it == said_.end()) return std::nullopt;
  return std::get<ProposalsEvent>(decode(records_.get(it->second), "records")).proposals;
}

std::vector<Proposal> KernelSpace::ask(NodeId node,
                                       Proposer& proposer,
                                       const ProposalContext& context,
                                       Rng& rng) {
  if (auto before = said(node, proposer)) return *before;
  ProposalsEvent event{
      .key = context.node_key, .proposer = std::string(proposer.name()), .proposals = {}};
  if (const auto it = recalled_.find({event.key, event.proposer}); it != recalled_.end()) {
    event.proposals = std::move(it->second);
    recalled_.erase(it);
  } else {
    event.proposals = proposer.propose(context, rng);
    if (proposer.pure()) return std::move(event.proposals);
    record_(event);
  }
  said_[{node, event.proposer}] = records_.put(encode(event));
  return std::move(event.proposals);
}

KernelSpace::Context KernelSpace::context(NodeId id) const {
  const std::shared_ptr<const Content> content = this->content(id);
  const std::shared_ptr<const Outcome> outcome = this->outcome(id);
  Context out{.held = {content, outcome},
              .context = {.at = {parts_.spec, content->variant, parts_.device},
                          .node_key = at(id).key,
                          .outcome = outcome.get(),
                          .seed = parts_.seed,
                          .baseline = baseline_.get()}};
  for (NodeId step = id; at(step).parent != kNoNode; step = at(step).parent) {
    const std::shared_ptr<const Content> made = this->content(step);
    out.context.path.push_back(&made->instance);
    out.held.push_back(made);
  }
  std::ranges::reverse(out.context.path);
  return out;
}

SourceShares KernelSpace::shares(NodeId node, std::uint32_t action) {
  if (parts_.prior.pure()) return {};
  const std::shared_ptr<const Actions> list = open_actions(node);
  if (action >= list->size()) return {};
  std::vector<Proposal> proposals;
  for (const Action& a : *list)
    proposals.push_back({.instance = a.instance,
                         .weight = a.weight,
                         .source = a.source,
                         .variant = std::nullopt,
                         .why = ""});
  return parts_.prior.shares(context(node).context, proposals, action);
}

void KernelSpace::learn(NodeId id, const SourceShares& shares, bool ok, double log_gain) {
  if (parts_.prior.pure()) return;
  const Context context = this->context(at(id).parent);
  const std::shared_ptr<const Content> content = this->content(id);
  parts_.prior.observe({.context = context.context,
                        .instance = content->instance,
                        .source = names_[at(id).source],
                        .shares = shares,
                        .ok = ok,
                        .log_gain = log_gain});
}

/// For a prior that learns: its values when the node was first opened.
std::vector<double> KernelSpace::priors(NodeId node,
                                        const ProposalContext& context,
                                        const std::vector<Proposal>& proposals) {
  std::vector<double> out(proposals.size());
  if (proposals.empty() || at(node).priors != kNoRecord)
    return known_priors(node, context, proposals);
  if (const auto it = recalled_priors_.find(context.node_key); it != recalled_priors_.end()) {
    out = std::move(it->second);
    recalled_priors_.erase(it);
  } else {
    ProposalContext drafting = context;
    if (parts_.draft)
      drafting.drafts = [&](std::span<const Proposal* const> chosen) {
        return drafts(node, chosen);
      };
    parts_.prior.evaluate(drafting, proposals, out);
    if (parts_.prior.pure()) return out;
    if (parts_.record_priors) parts_.record_priors({.key = context.node_key, .weights = out});
  }
  StrategyState state;
  state(out);
  nodes_[index(node)].priors = records_.put(state.take());
  return known_priors(node, context, proposals);
}

/// Of a node that was opened.
std::vector<double> KernelSpace::known_priors(NodeId node,
                                              const ProposalContext& context,
                                              const std::vector<Proposal>& proposals) const {
  std::vector<double> out(proposals.size());
  if (proposals.empty()) return out;
  if (at(node).priors == kNoRecord) {
    parts_.prior.evaluate(context, proposals, out);
  } else {
    const std::string bytes = records_.get(at(node).priors);
    StrategyState state(bytes, 0, "records");
    state(out);
  }
  if (out.size() == proposals.size()) return out;
  throw bad_input(
      "priors of " + context.node_key.short_hex(), std::to_string(out.size()) + " weights",
      std::to_string(proposals.size()) + ": the program, its moves or its proposers changed since");
}

std::vector<Proposal> KernelSpace::legal(NodeId node) {
  std::vector<Proposal> out;
  const std::shared_ptr<const Actions> list = open_actions(node);
  const std::shared_ptr<const Content> content = this->content(node);
  for (const Action& action : *list) {
    out.push_back({.instance = action.instance,
                   .weight = action.prior,
                   .source = action.source,
                   .variant = action.foreign
                                  ? std::optional(edited(content->variant, action.made->edit))
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
  for (const Action& action : *open_actions(node)) out = std::max(out, action.prior);
  return out;
}

std::shared_ptr<KernelSpace::Actions> KernelSpace::open_actions(NodeId id) {
  if (parts_.notes_opened) {
    was_opened_.resize(size());
    if (!was_opened_[index(id)]) opened_.push_back(id);
    was_opened_[index(id)] = true;
  }
  if (auto known = actions_.find(id)) return known;
  const Context held = this->context(id);
  const ProposalContext& context = held.context;
  std::vector<Proposal> suggested = proposals(
      context, [&](Proposer& proposer, Rng& rng) { return ask(id, proposer, context, rng); });
  const std::vector<double> priors = this->priors(id, context, suggested);
  return listed(id, std::move(suggested), priors);
}

std::shared_ptr<KernelSpace::Actions> KernelSpace::actions(NodeId id) const {
  if (auto known = actions_.find(id)) return known;
  const Context held = this->context(id);
  const ProposalContext& context = held.context;
  std::vector<Proposal> suggested = proposals(context, [&](Proposer& proposer, Rng& rng) {
    auto before = said(id, proposer);
    return before ? std::move(*before) : proposer.propose(context, rng);
  });
  const std::vector<double> priors = known_priors(id, context, suggested);
  return listed(id, std::move(suggested), priors);
}

std::shared_ptr<KernelSpace::Actions> KernelSpace::listed(NodeId id,
                                                          std::vector<Proposal> suggested,
                                                          const std::vector<double>& priors) const {
  // The best priors stay, in the proposers' order.
  std::vector<std::size_t> order(suggested.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return priors[a] > priors[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(parts_.max_actions)));
  std::ranges::sort(order);
  double sum = 0;
  for (const std::size_t i : order) sum += priors[i];
  Actions kept;
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
  const std::size_t weight = kept.size() + 1;
  return actions_.add(id, std::make_shared<Actions>(std::move(kept)), weight);
}

void KernelSpace::open(NodeId node, std::vector<float>& priors) {
  priors.clear();
  for (const Action& action : *open_actions(node)) priors.push_back(action.prior);
}

std::shared_ptr<const Made> KernelSpace::made(NodeId node, const Proposal& proposal) const {
  if (proposal.made) return proposal.made;
  const std::shared_ptr<const Content> content = this->content(node);
  const Variant& before = content->variant;
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
         (parts_.refuses && parts_.refuses(edited(content(node)->variant, made.edit)));
}

std::optional<Hash128> KernelSpace::apply(NodeId node, std::uint32_t number) {
  const std::shared_ptr<Actions> list = open_actions(node);
  WARPATH_CHECK(number < list->size());
  Action& action = (*list)[number];
  if (!action.made && !action.foreign)
    action.made = made(node, {.instance = action.instance, .variant = std::nullopt, .why = ""});
  if (!action.made || refused(node, *action.made)) return std::nullopt;
  return action.made->key;
}

void KernelSpace::create(NodeId child, NodeId parent, const Step& step, const Hash128& key) {
  WARPATH_CHECK(index(child) == size());
  const std::shared_ptr<const Content> before = content(parent);
  if (step.action == kJump) {
    Variant after = lattice_->placed(before->variant, step.point);
    const NodeContent made{.instance = Tunables::step(before->variant, after),
                           .edit = edit_between(before->variant, after)};
    add(parent, key, made, kStrategy, std::move(after));
  } else {
    const std::shared_ptr<Actions> list = open_actions(parent);
    Action& action = (*list)[step.action];
    if (!action.made)  // the list was dropped since apply()
      action.made = made(parent, {.instance = action.instance, .variant = std::nullopt, .why = ""});
    add(parent, key, {.instance = action.instance, .edit = action.made->edit}, action.source,
        edited(before->variant, action.made->edit));
  }
}

std::optional<Dispatch> KernelSpace::graft(Search& search,
                                           NodeId parent,
                                           const Proposal& proposal,
                                           const std::function<float()>& prior) {
  const std::shared_ptr<const Made> made = this->made(parent, proposal);
  if (!made || refused(parent, *made)) return std::nullopt;
  const std::shared_ptr<const Content> before = content(parent);
  Variant after = edited(before->variant, made->edit);
  if (parts_.only_tunables) {  // another change would be another node of the same measurements
    Variant otherwise = before->variant;
    otherwise.tunables = after.tunables;
    if (otherwise != after) return std::nullopt;
  }
  std::optional<Dispatch> dispatch = search.graft(parent, made->key, prior());
  if (!dispatch) return std::nullopt;
  WARPATH_CHECK(index(dispatch->node) == size());
  add(parent, made->key, {.instance = proposal.instance, .edit = made->edit}, proposal.source,
      std::move(after));
  return dispatch;
}

bool KernelSpace::structural(NodeId node) const {
  const auto it = moves_.find(move(node));
  return it != moves_.end() && it->second->structural();
}

std::vector<Tunable> KernelSpace::domain(NodeId parent, const MoveInstance& instance) const {
  const auto it = moves_.find(instance.move);
  if (it == moves_.end()) return {};
  return it->second->domain({parts_.spec, content(parent)->variant, parts_.device}, instance.site);
}

std::vector<MoveInstance> KernelSpace::polishing(NodeId node) const {
  std::vector<MoveInstance> out;
  const Variant before = variant(node);
  for (const auto& [name, move] : moves_) {
    if (!move->polishes() || name != move->name() || parts_.without.contains(name)) continue;
    for (auto& one : move->enumerate({parts_.spec, before, parts_.device})) out.push_back(one);
  }
  return out;
}

}  // namespace warpath
