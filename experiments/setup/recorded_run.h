#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/finals.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// One node as recorded in the log. Node 0 is the baseline.
struct RecordedNode {
  Hash128 key;
  NodeId parent = kNoNode;
  std::string move = "baseline";  ///< MoveInstance::text()
  MoveInstance instance;
  std::string proposer;
  VariantPatch change;             ///< relative to the parent
  std::optional<Outcome> outcome;  ///< absent: in flight when the log ended
  std::uint64_t build = 0;         ///< its place among the search's outcomes, from 1; 0: none
  double seconds = 0;              ///< wall time of the run when the outcome came
  double speedup = 0;              ///< by the spec's objective; 0 unless measured
  double standard_error = 0;       ///< of ln of the speed-up, within the outcome
  bool timed_again = false;        ///< as a finalist
  double final_speedup = 0;        ///< of that evaluation; 0: refused
  std::optional<Outcome> final_outcome;
  std::uint64_t line = 0;  ///< of the log: the last that said something about it
};

/// What evaluations of one kind took. They may go on side by side, so that their seconds are no
/// wall time.
struct EvaluationCost {
  std::uint64_t evaluations = 0;
  double compile_seconds = 0, run_seconds = 0;
};
struct RecordedCost {
  EvaluationCost baseline, search, heats, finals;
  double search_seconds = 0;  ///< wall time up to the last outcome of the search
  double seconds = 0;         ///< wall time up to the last event
};

/// A run folder opened read-only: without a lock, so that a running one may be inspected.
class RecordedRun {
 public:
  /// Kernels of the run can be built only if the headers of libraries are read again, as they are
  /// not part of its record.
  enum class For : std::uint8_t { reading, building };

  /// Throws Error(bad_input) naming file and line if `folder` contains no run or its log is
  /// damaged, and, for building, if the headers have changed.
  explicit RecordedRun(const std::filesystem::path& folder, For purpose = For::reading);

  /// Takes in what was written since; false if nothing was. Throws as the constructor.
  bool read_on();
  [[nodiscard]] std::uint64_t line() const { return log_.position().lines; }  ///< the last one read

  [[nodiscard]] const RunEvent& run() const { return run_; }
  [[nodiscard]] const RecordedCost& cost() const { return cost_; }
  [[nodiscard]] double started() const { return started_; }  ///< Unix time; 0: unknown
  [[nodiscard]] std::uint64_t sessions() const { return sessions_; }
  [[nodiscard]] const KernelSpec& spec() const { return spec_; }
  /// The device facts that the run's moves used; for a run without a record of them, only whether
  /// it is a GPU.
  [[nodiscard]] const DeviceFacts& device() const { return device_; }
  /// Of the baseline, by the spec's objective.
  [[nodiscard]] double baseline_ns() const { return objective_ ? objective_->baseline_ns() : 0; }
  /// By node id.
  [[nodiscard]] const std::vector<RecordedNode>& nodes() const { return nodes_; }
  /// The variant of a node, reconstructed from the baseline by the changes along its path.
  [[nodiscard]] Variant variant(std::size_t node) const;
  /// From the baseline to `node`.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t node) const;
  /// Measured nodes, best of the search first.
  [[nodiscard]] std::vector<std::size_t> ranking() const;
  /// The node with this key or key prefix, or `best` (the winner of the finals if decided) or
  /// `baseline`. Throws Error(bad_input) if there is none, or listing the candidates if there are
  /// several.
  [[nodiscard]] std::size_t find(std::string_view name) const;

 private:
  void add(const Event& event, const std::string& place);
  void begin(const Outcome& baseline);
  void take(const OutcomeEvent& event, const std::string& place);
  void spend(EvaluationCost& on, const Outcome& outcome, double seconds);
  RecordedNode& at(NodeId node, const std::string& place);

  EventReader log_;
  std::optional<DeviceFacts> known_device_;
  RunEvent run_;
  RecordedCost cost_;
  double started_ = 0;
  std::uint64_t sessions_ = 0;
  KernelSpec spec_;
  DeviceFacts device_;
  RunOptions options_;                          // as the run was configured
  std::optional<ObjectiveFunction> objective_;  // once the baseline is usable
  std::optional<Finals> finals_;                // likewise
  std::vector<RecordedNode> nodes_;
  std::vector<std::pair<std::uint64_t, NodeId>> dispatched_;  // sequence -> node, in order
};

}  // namespace warpath
