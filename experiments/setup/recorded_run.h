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

/// One node as the log tells of it. Node 0 is the baseline.
struct RecordedNode {
  Hash128 key;
  NodeId parent = kNoNode;
  std::string move = "baseline";  ///< MoveInstance::text()
  MoveInstance instance;
  std::string proposer;
  VariantPatch change;             ///< against the parent
  std::optional<Outcome> outcome;  ///< none: it was in flight when the log ended
  double speedup = 0;              ///< by the spec's objective; 0 unless measured
  bool timed_again = false;        ///< as a finalist
  double final_speedup = 0;        ///< of that evaluation; 0: refused
  std::optional<Outcome> final_outcome;
};

/// A run folder read without being run: nothing is locked, a run under way may be looked at.
class RecordedRun {
 public:
  /// Throws Error(bad_input) naming file and line if `folder` holds no run or its log is damaged.
  explicit RecordedRun(const std::filesystem::path& folder);

  [[nodiscard]] const RunEvent& run() const { return run_; }
  [[nodiscard]] const KernelSpec& spec() const { return spec_; }
  /// What the run's moves knew of the device; of a run that did not record it, whether it is a GPU.
  [[nodiscard]] const DeviceFacts& device() const { return device_; }
  /// Of the baseline by the spec's objective.
  [[nodiscard]] double baseline_ns() const { return objective_ ? objective_->baseline_ns() : 0; }
  /// By node id.
  [[nodiscard]] const std::vector<RecordedNode>& nodes() const { return nodes_; }
  /// The variant of a node, made from the baseline by the changes along its path.
  [[nodiscard]] Variant variant(std::size_t node) const;
  /// From the baseline to `node`.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t node) const;
  /// Measured nodes, best of the search first.
  [[nodiscard]] std::vector<std::size_t> ranking() const;
  /// The node of this key or prefix of a key, or `best` (the winner of the finals where they are
  /// decided) or `baseline`. Throws Error(bad_input) listing the candidates if there are several,
  /// or if there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const;

 private:
  void add(const Event& event, const std::string& place);
  void begin(const Outcome& baseline);
  RecordedNode& at(NodeId node, const std::string& place);

  RunEvent run_;
  KernelSpec spec_;
  DeviceFacts device_;
  RunOptions options_;                          // as the run was configured
  std::optional<ObjectiveFunction> objective_;  // once the baseline is good
  std::optional<Finals> finals_;                // with it
  std::vector<RecordedNode> nodes_;
  std::vector<std::pair<std::uint64_t, NodeId>> dispatched_;  // sequence -> node, in order
};

}  // namespace warpath
