#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/setup/recorded_run.h"
#include "priors/tactics/experience.h"
#include "priors/tactics/gain_training.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {

/// The trials in a run folder or a recorded graph. For a run: the moves that made its nodes; for a
/// graph: every recorded move, with nodes reached by the fewest moves.
class RecordedTrials {
 public:
  /// Throws Error(bad_input) naming the file or folder.
  explicit RecordedTrials(const std::filesystem::path& place);
  [[nodiscard]] const std::string& kernel() const { return kernel_; }  ///< name of the spec
  /// id of the run, or name of the graph
  [[nodiscard]] const std::string& run() const { return run_; }

  struct Tried {
    const ProposalContext& context;  ///< of the node
    std::uint64_t node = 0;
    const MoveInstance& instance;
    Status status = Status::crashed;
    double log_gain = 0;                   ///< as in Experience
    const Diagnosis* diagnosis = nullptr;  ///< of the result; null: none is known
  };
  /// Calls `each` node by node; only nodes with a time have trials.
  void visit(const std::function<void(const Tried&)>& each) const;

  [[nodiscard]] std::vector<Experience> experiences() const;
  [[nodiscard]] std::vector<GainExample> examples() const;
  /// Of what compiling tells (draft_features), without those that have no diagnosis. All moves of a
  /// kernel are one.
  [[nodiscard]] std::vector<GainExample> draft_examples() const;

 private:
  void visit_run(const std::function<void(const Tried&)>& each) const;
  void visit_graph(const std::function<void(const Tried&)>& each) const;

  std::optional<RecordedRun> folder_;
  std::shared_ptr<const RecordedGraph> graph_;
  std::string kernel_, run_, device_;
};

}  // namespace warpath
