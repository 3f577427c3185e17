#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/registry.h"
#include "engine/base/rng.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

/// What moves and runners may know of the device; probed, never taken from a table.
struct DeviceFacts {
  std::string runner;       ///< "host", "cuda", "synthetic", "replay"
  std::string name;         ///< CPU or GPU model
  std::string arch;         ///< "sm_90a"; empty on the host
  int multiprocessors = 0;  ///< cores on the host
  int max_threads_per_block = 1024;
  std::int64_t max_smem_per_block_bytes = 48 << 10;
  bool is_gpu = false;
};

/// Parameters of a move as written in records: names to integers.
using MoveParameters = std::map<std::string, std::int64_t, std::less<>>;

/// (move, site, parameters): the label of an edge. `site` is where in the variant it applies
/// ("launch", "loop:2", "argument:x", "tunable:TILE"), in terms that stay valid for equal sources;
/// empty = the whole kernel. A choice that is no number (a form, an order) is a number too;
/// Move::domain names its values in the help.
struct MoveInstance {
  std::string move;
  std::string site;
  MoveParameters parameters;
  auto operator<=>(const MoveInstance&) const = default;
  /// "change_block_sizes@launch(block_x=128)"; "@" and the parentheses only where there is a site,
  /// a parameter. Bytes of the move or site outside [A-Za-z0-9_.:/<>*+-] are written %XX.
  [[nodiscard]] std::string text() const;
  /// The instance that `text` was made from. Throws Error(bad_input) with `place`.
  [[nodiscard]] static MoveInstance parse(std::string_view text, std::string_view place);
  [[nodiscard]] Hash128 key() const;
};

/// Names separated by commas; blanks do not count.
[[nodiscard]] std::set<std::string, std::less<>> move_names(std::string_view text);

/// What a move sees. All references outlive the call.
struct MoveContext {
  const KernelSpec& spec;
  const Variant& variant;
  const DeviceFacts& device;
};

/// A canonical transformation. Pure: the same context and parameters give the same variant,
/// whatever was called before. Chance enters only where parameters are chosen (Proposer, inner
/// tuning), so an edge's label reproduces its child. A compound move is a Move of its own with the
/// parameters of its parts. Thread-safe (const). One file each; the top `meson.build` holds the
/// list of names.
class Move {
 public:
  virtual ~Move() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Other names (those of earlier systems) under which a record or a script may refer to it.
  [[nodiscard]] virtual std::vector<std::string> aliases() const { return {}; }
  /// True if the move decides how the work is divided, staged or computed, false if it adjusts what
  /// is there: proposers try the first kind first, because what the second gains depends on it.
  [[nodiscard]] virtual bool structural() const { return false; }
  /// The (site, parameters) at which the move may apply, best guess first within a site; the
  /// instances of a site stand together. Bounded by the ranges of the move; no instance may be
  /// listed twice. A move with many numeric parameters lists a coarse grid here and its whole range
  /// in domain().
  [[nodiscard]] virtual std::vector<MoveInstance> enumerate(const MoveContext& context) const = 0;
  /// The numeric parameters at `site` with all their legal values: what an inner tuner may vary and
  /// what a foreign proposal may ask for. apply() takes any combination or says why not. Empty:
  /// nothing beyond enumerate().
  [[nodiscard]] virtual std::vector<Tunable> domain(const MoveContext&,
                                                    std::string_view /*site*/) const {
    return {};
  }
  /// The new variant; nullopt if the move does not apply there (with one line in `why`), also for
  /// sites and parameters that it never enumerated. The kernel computes the same up to rounding:
  /// the reference and its tolerance decide. The result may be illegal for the device or break a
  /// constraint of the spec: callers and runners find out.
  [[nodiscard]] virtual std::optional<Variant> apply(const MoveContext& context,
                                                     const MoveInstance& instance,
                                                     std::string& why) const = 0;
  /// The instance that undoes this one on the result, if there is one.
  [[nodiscard]] virtual std::optional<MoveInstance> inverse(const MoveContext&,
                                                            const MoveInstance&) const {
    return std::nullopt;
  }
};
using MoveRegistry = Registry<Move>;

/// What a move makes of a variant: a legal one that keeps the spec's constraints.
struct Made {
  Hash128 key;  ///< variant_key of the result
  VariantEdit edit;
  bool operator==(const Made&) const = default;
};

/// One suggested way to leave a node. Proposals of rules, language models and files are the same
/// record and pass the same gates.
struct Proposal {
  /// with `variant`: labels differ by the parameter "text" = low 63 bits of its key
  MoveInstance instance;
  /// relative preference of the proposer, > 0; priors start from it
  double weight = 1;
  std::string source = "rules";  ///< proposer's registered name
  /// whole variant of a foreign proposal, as records keep it
  std::optional<Variant> variant;
  double predicted_log_gain = 0;  ///< NaN-free; 0 if unknown
  std::string why;
  /// what its move makes of the node, by whoever applied it already; no part of records. Null, and
  /// no `variant`: Move::apply is asked when the search comes to it. Shared, because proposals are
  /// copied and sorted by the hundred.
  std::shared_ptr<const Made> made = nullptr;
};

struct ProposalContext {
  MoveContext at;
  Hash128 node_key;
  const Outcome* outcome = nullptr;  ///< of the node's own evaluation; null if unknown
  std::uint64_t seed = 0;
  const Outcome* baseline = nullptr;  ///< of the spec's own kernel; null if unknown
  /// the moves that made the node of it, first to last
  std::vector<const MoveInstance*> path = {};
};

/// Suggests moves at a node. A pure function of the context for rule proposers; foreign ones are
/// recorded.
class Proposer {
 public:
  virtual ~Proposer() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// No two proposals with equal instances. `rng` is a stream of the node: hash(seed, "propose",
  /// node key).
  [[nodiscard]] virtual std::vector<Proposal> propose(const ProposalContext& context, Rng& rng) = 0;
  /// False (a language model, a file that may change): what it says is recorded, and read back on
  /// resume.
  [[nodiscard]] virtual bool pure() const { return true; }
};

/// What sources of a prior say of one proposal: P(s, a) by each times the number of proposals. 1:
/// as a uniform one.
using SourceShares = std::map<std::string, double, std::less<>>;

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
  /// Every outcome in the order in which they were applied; a resumed search tells them again. Only
  /// where it is not pure.
  virtual void observe(const Trial&) {}
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
  /// Text of a file that priors begin with: kModelFile, kTacticGraphFile. nullopt: there is none.
  std::function<std::optional<std::string>(std::string_view name)> read = {};
};
inline constexpr std::string_view kModelFile = "prior_model.json";
inline constexpr std::string_view kTacticGraphFile = "tactic_graph.json";
using PriorRegistry = Registry<Prior, const PriorConfig&>;

}  // namespace warpath
