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

#include "engine/plugin/options.h"
#include "engine/plugin/prior.h"
#include "engine/run/events.h"
#include "engine/run/variant_space.h"
#include "engine/search/search.h"

namespace warpath {

/// The search space over real variants: proposers suggest the actions of a node, a prior weighs
/// them, moves make the variants. Node ids are those of the search's graph; the space stores the
/// nodes' contents. Not thread-safe.
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
    return at(node).actions->at(action).instance.key().low;
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    return hash128(at(node).actions->at(action).instance.move).low;
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
  [[nodiscard]] Variant variant(NodeId node) const override { return at(node).variant; }
  [[nodiscard]] NodeId parent(NodeId node) const override { return at(node).parent; }
  [[nodiscard]] MoveInstance instance(NodeId node) const override { return at(node).instance; }
  [[nodiscard]] std::string_view move(NodeId node) const override { return at(node).instance.move; }
  [[nodiscard]] std::string_view source(NodeId node) const override { return at(node).source; }
  [[nodiscard]] bool structural(NodeId node) const override;
  [[nodiscard]] MoveInstance action(NodeId node, std::uint32_t number) const override {
    return at(node).actions->at(number).instance;
  }
  [[nodiscard]] std::vector<Tunable> domain(NodeId parent,
                                            const MoveInstance& instance) const override;
  [[nodiscard]] std::optional<Dispatch> graft(Search& search,
                                              NodeId parent,
                                              const Proposal& proposal,
                                              const std::function<float()>& prior) override;
  [[nodiscard]] float largest_prior(NodeId node) override;
  [[nodiscard]] SourceShares shares(NodeId node, std::uint32_t action) override;
  void learn(NodeId node, const SourceShares& shares, bool ok, double log_gain) override;
  void set_outcome(NodeId node, const Outcome& outcome) override;
  [[nodiscard]] const Outcome* outcome(NodeId node) const override;

  // For late proposers.
  /// The actions that the search would choose from at `node`, best first; and the nodes opened in
  /// this process since the last call.
  [[nodiscard]] std::vector<Proposal> legal(NodeId node);
  [[nodiscard]] std::vector<NodeId> take_opened() { return std::exchange(opened_, {}); }
  [[nodiscard]] bool has_opened() const { return !opened_.empty(); }
  [[nodiscard]] ProposalContext context(NodeId node) const;

  // For replaying a log.
  /// From now on `event.proposer` gives these proposals at that variant.
  void recall(const ProposalsEvent& event);
  /// From now on the prior gives these weights at that variant.
  void recall(const PriorsEvent& event) { recalled_priors_[event.key] = event.weights; }
  /// Recreates the node made by `event` without a search. Throws Error(bad_input) with `place`
  /// unless it is the next one.
  void restore(const DispatchEvent& event, const std::string& place);

 private:
  struct Action {
    /// the result; null: not applied yet, or not applicable
    std::shared_ptr<const Made> made;
    MoveInstance instance;
    std::string source;
    float prior = 0;
    double weight = 1;     // the proposer's weight
    bool foreign = false;  // came with a variant of its own
  };
  struct Node {
    Variant variant;
    Hash128 key;
    NodeId parent = kNoNode;
    MoveInstance instance;
    std::string source;
    std::optional<Outcome> outcome;
    std::optional<std::vector<Action>> actions;  // once opened in this process
  };
  class Tunables;  // the lattice

  [[nodiscard]] const Node& at(NodeId node) const { return nodes_[index(node)]; }
  std::vector<Action>& actions(NodeId node);
  std::vector<Proposal> proposals(const ProposalContext& context);
  [[nodiscard]] std::vector<double> priors(const ProposalContext& context,
                                           const std::vector<Proposal>& proposals);
  /// The result of a proposal at `node`, applied here unless its proposer did; null if it is
  /// illegal, regardless of the runner.
  [[nodiscard]] std::shared_ptr<const Made> made(NodeId node, const Proposal& proposal) const;
  [[nodiscard]] bool refused(NodeId node, const Made& made) const;
  [[nodiscard]] bool allowed(const Variant& variant) const;

  Parts parts_;
  std::function<void(const ProposalsEvent&)> record_;
  std::map<std::string, std::unique_ptr<Move>, std::less<>> moves_;  // by name and alias
  std::map<std::pair<Hash128, std::string>, std::vector<Proposal>> recalled_;
  std::map<Hash128, std::vector<double>> recalled_priors_;
  std::vector<Node> nodes_;  // by NodeId
  std::vector<NodeId> opened_;
  std::unique_ptr<Tunables> lattice_;  // null: no tunable of the spec has two values
};

}  // namespace warpath
