#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/pool.h"
#include "engine/log/events.h"
#include "engine/log/record_store.h"
#include "engine/plugin/options.h"
#include "engine/plugin/prior.h"
#include "engine/run/drafts.h"
#include "engine/run/node_content.h"
#include "engine/run/variant_space.h"
#include "engine/search/node_cache.h"
#include "engine/search/search.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// The search space over real variants: proposers suggest the actions of a node, a prior weighs
/// them, moves make the variants. Node ids are those of the search's graph; the space stores the
/// nodes' contents: a row of numbers each, and records (NodeContent, Outcome, weights of a learning
/// prior) in a RecordStore. Variants and actions are made of these when they are needed, and kept
/// while they are used. Not thread-safe.
class KernelSpace final : public VariantSpace {
 public:
  struct Parts {  ///< referenced objects must outlive the space
    const KernelSpec& spec;
    const DeviceFacts& device;
    const MoveRegistry& moves;
    std::vector<Proposer*> proposers;  ///< in order of precedence
    Prior& prior;
    int max_actions = 256;
    std::uint64_t seed = 1;
    /// variants known, without an evaluation, to lead nowhere; empty: none
    std::function<bool(const Variant&)> refuses = {};
    /// only moves of tunables can change what is evaluated
    bool only_tunables = false;
    std::set<std::string, std::less<>> without = {};  ///< moves whose proposals are ignored
    bool notes_opened = false;                        ///< for take_opened(); otherwise it has none
    /// Runner::draft of each; empty: nothing can be drafted
    Drafter draft = {};
    /// receives, while a node is opened, the weights that a learning prior gave there
    std::function<void(const PriorsEvent&)> record_priors = {};
  };
  /// `record` receives, while a node is opened, the proposals that an impure proposer made there.
  KernelSpace(const Parts& parts, std::function<void(const ProposalsEvent&)> record);
  ~KernelSpace() override;

  // For the search.
  void open(NodeId node, std::vector<float>& priors) override;
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override;
  [[nodiscard]] std::uint64_t label(NodeId node, std::uint32_t action) const override {
    return actions(node)->at(action).instance.key().low;
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    return hash128(actions(node)->at(action).instance.move).low;
  }
  [[nodiscard]] std::uint64_t site(NodeId node, std::uint32_t action) const override {
    return change_of(actions(node)->at(action).instance).site;
  }
  [[nodiscard]] Change grafted(NodeId node) const override {
    return change_of(content(node)->instance);
  }
  void create(NodeId child, NodeId parent, const Step& step, const Hash128& key) override;
  [[nodiscard]] const Lattice* lattice() const override;
  void levels(NodeId node, std::span<Level> out) const override;
  std::optional<Hash128> jump(NodeId node, std::span<const Level> point) override;

  // For the campaign.
  [[nodiscard]] std::uint32_t size() const override {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] Hash128 key(NodeId node) const override { return at(node).key; }
  [[nodiscard]] Variant variant(NodeId node) const override { return content(node)->variant; }
  [[nodiscard]] NodeId parent(NodeId node) const override { return at(node).parent; }
  [[nodiscard]] MoveInstance instance(NodeId node) const override {
    return content(node)->instance;
  }
  [[nodiscard]] std::string_view move(NodeId node) const override { return names_[at(node).move]; }
  [[nodiscard]] std::string_view source(NodeId node) const override {
    return names_[at(node).source];
  }
  [[nodiscard]] bool structural(NodeId node) const override;
  [[nodiscard]] MoveInstance action(NodeId node, std::uint32_t number) const override {
    return actions(node)->at(number).instance;
  }
  [[nodiscard]] std::vector<Tunable> domain(NodeId parent,
                                            const MoveInstance& instance) const override;
  [[nodiscard]] std::optional<Dispatch> graft(Search& search,
                                              NodeId parent,
                                              const Proposal& proposal,
                                              const std::function<float()>& prior) override;
  [[nodiscard]] float largest_prior(NodeId node) override;
  [[nodiscard]] std::vector<MoveInstance> polishing(NodeId node) const override;
  [[nodiscard]] SourceShares shares(NodeId node, std::uint32_t action) override;
  void learn(NodeId node, const SourceShares& shares, bool ok, double log_gain) override;
  void set_outcome(NodeId node, const Outcome& outcome) override;
  [[nodiscard]] std::shared_ptr<const Outcome> outcome(NodeId node) const override;

  // For late proposers.
  /// The actions that the search would choose from at `node`, best first; and the nodes opened in
  /// this process since the last call.
  [[nodiscard]] std::vector<Proposal> legal(NodeId node);
  [[nodiscard]] std::vector<NodeId> take_opened() { return std::exchange(opened_, {}); }
  [[nodiscard]] bool has_opened() const { return !opened_.empty(); }
  /// A context and what it refers to.
  struct Context {
    std::vector<std::shared_ptr<const void>> held;
    ProposalContext context;
  };
  [[nodiscard]] Context context(NodeId node) const;

  // For replaying a log.
  /// From now on `event.proposer` gives these proposals at that variant.
  void recall(const ProposalsEvent& event);
  /// From now on the prior gives these weights at that variant.
  void recall(const PriorsEvent& event) { recalled_priors_[event.key] = event.weights; }

  // For a snapshot.
  /// Where the records are; of a session in a file of the run folder.
  [[nodiscard]] RecordStore& records() { return records_; }
  /// Saves or restores everything except the records; on restore these must be as they were when it
  /// was saved.
  void keep(StrategyState& state);

 private:
  // How many are kept of what can be made again: variants, outcomes, actions of all open nodes.
  static constexpr std::size_t kContents = 2000, kOutcomes = 200, kActions = 60'000;

  struct Action {
    /// the result; null: not applied yet, or not applicable
    std::shared_ptr<const Made> made;
    MoveInstance instance;
    std::string source;
    float prior = 0;
    double weight = 1;     // the proposer's weight
    bool foreign = false;  // came with a variant of its own
  };
  /// What a node is beside its records.
  struct Node {
    Hash128 key;
    RecordRef content = kNoRecord;  // NodeContent; the root has none
    RecordRef outcome = kNoRecord;
    RecordRef priors = kNoRecord;  // a learning prior's, since it was opened
    NodeId parent = kNoNode;
    std::uint16_t move = 0, source = 0;  // of names_
    void keep(StrategyState& state) { state(key, content, outcome, priors, parent, move, source); }
  };
  static_assert(sizeof(Node) == 40);
  struct Content {
    Variant variant;
    MoveInstance instance;
  };
  using Actions = std::vector<Action>;
  class Tunables;  // the lattice

  [[nodiscard]] const Node& at(NodeId node) const { return nodes_[index(node)]; }
  [[nodiscard]] std::uint16_t name_number(std::string_view name);
  /// The next node.
  void add(NodeId parent,
           const Hash128& key,
           const NodeContent& content,
           std::string_view source,
           Variant variant);
  [[nodiscard]] std::shared_ptr<const Content> content(NodeId node) const;
  /// Opens the node if it is not: what impure proposers and a learning prior say is recorded.
  std::shared_ptr<Actions> open_actions(NodeId node);
  /// Of a node that was opened.
  [[nodiscard]] std::shared_ptr<Actions> actions(NodeId node) const;
  [[nodiscard]] std::shared_ptr<Actions> listed(NodeId node,
                                                std::vector<Proposal> suggested,
                                                const std::vector<double>& priors) const;
  /// Of all proposers, in order. `said`: what one of them proposes.
  [[nodiscard]] std::vector<Proposal> proposals(
      const ProposalContext& context,
      const std::function<std::vector<Proposal>(Proposer&, Rng&)>& said) const;
  /// What it said when the node was opened, if that is recorded.
  [[nodiscard]] std::optional<std::vector<Proposal>> said(NodeId node,
                                                          const Proposer& proposer) const;
  /// The proposals of `proposer` at `node`: the recorded ones if there are any, otherwise new ones.
  [[nodiscard]] std::vector<Proposal> ask(NodeId node,
                                          Proposer& proposer,
                                          const ProposalContext& context,
                                          Rng& rng);
  [[nodiscard]] std::vector<double> priors(NodeId node,
                                           const ProposalContext& context,
                                           const std::vector<Proposal>& proposals);
  [[nodiscard]] std::vector<double> known_priors(NodeId node,
                                                 const ProposalContext& context,
                                                 const std::vector<Proposal>& proposals) const;
  /// The result of a proposal at `node`, applied here unless its proposer did; null if it is
  /// illegal, regardless of the runner.
  [[nodiscard]] std::shared_ptr<const Made> made(NodeId node, const Proposal& proposal) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Diagnosis>> drafts(
      NodeId node, std::span<const Proposal* const> proposals) const;
  [[nodiscard]] bool refused(NodeId node, const Made& made) const;
  [[nodiscard]] bool allowed(const Variant& variant) const;

  Parts parts_;
  std::function<void(const ProposalsEvent&)> record_;
  std::map<std::string, std::unique_ptr<Move>, std::less<>> moves_;  // by name and alias
  std::map<std::pair<Hash128, std::string>, std::vector<Proposal>> recalled_;
  std::map<Hash128, std::vector<double>> recalled_priors_;
  RecordStore records_;
  std::map<std::pair<NodeId, std::string>, RecordRef> said_;  // ProposalsEvents of opened nodes
  std::shared_ptr<const Content> root_;
  std::shared_ptr<const Outcome> baseline_;  // the root's
  Pool<Node> nodes_;                         // by NodeId
  std::vector<std::string> names_;           // of moves and proposers
  mutable NodeCache<const Content> contents_{kContents};
  mutable NodeCache<const Outcome> outcomes_{kOutcomes};
  mutable NodeCache<Actions> actions_{kActions};
  std::vector<bool> was_opened_;  // by this process, by NodeId
  std::vector<NodeId> opened_;
  std::unique_ptr<Tunables> lattice_;  // null: no tunable of the spec has two values
};

}  // namespace warpath
