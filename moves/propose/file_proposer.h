#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plugin/late_proposer.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// One external candidate.
struct ForeignProposal {
  std::string at = "baseline";  ///< key of the node, or "baseline"
  Proposal proposal;            ///< without its variant if made by a move
  std::string text;             ///< a source, blocks or a diff (moves/patch/patch.h); empty: none
  std::string launch;           ///< JSON of the whole plan; empty: the parent's
  std::string place;            ///< FILE:LINE
};

/// Parses one JSON object of a proposals file, with `place` (FILE:LINE) in error messages; files
/// named in it are relative to `folder`. docs/llm.md describes the keys. Throws Error(bad_input).
[[nodiscard]] ForeignProposal foreign_proposal(std::string_view line,
                                               const std::string& place,
                                               const std::filesystem::path& folder);
/// All lines of a file except empty ones and those that begin with #.
[[nodiscard]] std::vector<ForeignProposal> read_proposals(const std::string& file);

/// A candidate at one node: the proposal (with its variant if made from a text or launch plan,
/// otherwise with the complete instance of the move) and its result.
struct MadeProposal {
  Proposal proposal;
  Variant variant;
};
/// Throws Error(bad_input) naming the place if it does not apply to `at.variant`, violates a
/// constraint or changes nothing.
[[nodiscard]] MadeProposal made_for(const ForeignProposal& foreign,
                                    const MoveContext& at,
                                    const MoveTable& moves);

/// Proposes the contents of a file or a person's suggestions, before anything else is tried at the
/// node. Inapplicable ones are reported and skipped.
class FileProposer final : public LateProposer {
 public:
  /// `root`: key of the baseline. `moves` must outlive the proposer.
  FileProposer(std::string name,
               std::vector<ForeignProposal> proposals,
               const Hash128& root,
               const MoveTable& moves);
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] bool once() const override { return false; }
  [[nodiscard]] std::vector<Hash128> wishes() const override;
  void offer(const Offer& offer) override;
  void learn(const Lesson&) override {}
  [[nodiscard]] std::vector<Arrival> take() override { return std::exchange(ready_, {}); }
  [[nodiscard]] bool waiting() override { return false; }
  void close() override {}
  /// One line for each proposal that did not apply.
  [[nodiscard]] const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  std::string name_;
  const MoveTable& moves_;
  std::multimap<Hash128, ForeignProposal> proposals_;  // by node
  std::vector<Arrival> ready_;
  std::vector<std::string> refusals_;
};

}  // namespace warpath
