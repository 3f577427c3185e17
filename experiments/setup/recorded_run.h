#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/objective.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/events.h"
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
  double speedup = 0;              ///< by the spec's objective; 0 unless measured
  bool timed_again = false;        ///< as a finalist
  double final_speedup = 0;        ///< of that evaluation; 0: refused
  std::optional<Outcome> final_outcome;
};

/// A run folder opened read-only: without a lock, so that a running one may be inspected.
class RecordedRun {
 public:
  /// Throws Error(bad_input) naming file and line if `folder` contains no run or its log is
  /// damaged.
  explicit RecordedRun(const std::filesystem::path& folder);

  [[nodiscard]] const RunEvent& run() const { return run_; }
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
  RecordedNode& at(NodeId node, const std::string& place);

  RunEvent run_;
  KernelSpec spec_;
  DeviceFacts device_;
  RunOptions options_;                          // as the run was configured
  std::optional<ObjectiveFunction> objective_;  // once the baseline is usable
  std::optional<Finals> finals_;                // likewise
  std::vector<RecordedNode> nodes_;
  std::vector<std::pair<std::uint64_t, NodeId>> dispatched_;  // sequence -> node, in order
};

}  // namespace warpath
