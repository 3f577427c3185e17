#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/registry.h"
#include "engine/plugin/proposer.h"

namespace warpath {

/// What became of a proposal.
struct Trial {
  const ProposalContext& context;  ///< of the node where it was made
  const MoveInstance& instance;
  const std::string& source;  ///< its proposer
  /// Prior::shares when it was chosen; empty: not chosen by its prior (inner tuning, late
  /// proposals)
  const SourceShares& shares;
  bool ok = false;
  double log_gain = 0;  ///< ok: ln(time of the node / time of the child)
};

/// Turns proposals into P(s, a). One thread only.
class Prior {
 public:
  virtual ~Prior() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Fills `out` (size of `proposals`): finite, >= 0, sum 1. Follows a permutation of the
  /// proposals.
  virtual void evaluate(const ProposalContext& context,
                        const std::vector<Proposal>& proposals,
                        std::vector<double>& out) = 0;
  /// False: it learns from observe(). What it says of a node is then recorded, and read back on
  /// resume.
  [[nodiscard]] virtual bool pure() const { return true; }
  /// Of proposal `chosen`, which is about to be evaluated: recorded with it and handed back to
  /// observe(). Only where it is not pure.
  [[nodiscard]] virtual SourceShares shares(const ProposalContext&,
                                            const std::vector<Proposal>&,
                                            std::size_t /*chosen*/) {
    return {};
  }
  /// Every outcome in the order in which they were applied; a resumed search tells those again that
  /// its snapshot does not cover. Only where it is not pure.
  virtual void observe(const Trial&) {}
  /// What observe() taught it, for a snapshot. Only where it is not pure.
  [[nodiscard]] virtual std::string learned() const { return ""; }
  /// Brings a fresh prior, made with equal options and files, to where learned() was called. Throws
  /// Error(bad_input) with `place` if `state` is not of this prior.
  virtual void relearn(std::string_view /*state*/, const std::string& /*place*/) {}
  /// Fills `out` with the expected log gain of each proposal, a loss counted as 0; false: it has no
  /// idea.
  [[nodiscard]] virtual bool expected_gains(const ProposalContext&,
                                            const std::vector<Proposal>&,
                                            std::vector<double>& /*out*/) {
    return false;
  }
  /// Texts that it was made with, by the names that PriorConfig::read knows: kept in the run's
  /// folder, so that a resumed run makes it of the same.
  [[nodiscard]] virtual std::map<std::string, std::string> files() const { return {}; }
};

struct Options;  // engine/plugin/options.h

/// What a prior is made with.
struct PriorConfig {
  const Options* options = nullptr;  ///< null: defaults; outlives the call
  /// Text of a file that priors begin with: kModelFile, kTacticGraphFile,
  /// kDraftModelFile. nullopt: there is none.
  std::function<std::optional<std::string>(std::string_view name)> read = {};
};
inline constexpr std::string_view kModelFile = "prior_model.json";
inline constexpr std::string_view kTacticGraphFile = "tactic_graph.json";
inline constexpr std::string_view kDraftModelFile = "draft_model.json";
using PriorRegistry = Registry<Prior, const PriorConfig&>;

}  // namespace warpath
