#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/replay/recording.h"

namespace warpath {

/// Evaluated variants of one kernel with the moves between them, as a sweep or a search leaves them
/// (`warpath record`), to be searched again without a device. Row 0 is the baseline. Format:
/// docs/recorded-spaces.md.
class RecordedGraph final : public Recording {
 public:
  struct Action {
    MoveInstance instance;
    std::string source;        ///< proposer
    double weight = 1;         ///< the proposer's weight
    std::uint32_t target = 0;  ///< row
    bool operator==(const Action&) const = default;
  };
  struct Node {
    Variant variant;
    Hash128 key;      ///< variant_key(variant)
    Outcome outcome;  ///< without the verdict's details and the log
    std::vector<Action> actions = {};
  };

  /// `spec` must contain its source and reference. Throws Error(bad_input) with `place` if the
  /// parts are inconsistent: a baseline other than the spec's, a failed baseline, a duplicate key,
  /// an action without a target.
  RecordedGraph(std::string name,
                DeviceFacts device,
                KernelSpec spec,
                std::vector<Node> nodes,
                std::vector<Row> rows,
                std::string_view place);

  [[nodiscard]] const KernelSpec& spec() const { return spec_; }
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  [[nodiscard]] const Node& node(std::uint32_t row) const { return nodes_[row]; }
  /// The diagnosis of a variant, the graph's own, as compiling it would tell; null: it has none.
  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(std::uint32_t row) const {
    const std::optional<Diagnosis>& known = nodes_[row].outcome.diagnosis;
    return {std::shared_ptr<const Diagnosis>(), known ? &*known : nullptr};
  }
  /// The row; kNone: not recorded.
  [[nodiscard]] std::uint32_t find(const Hash128& key) const;

  [[nodiscard]] bool drawable() const override { return false; }
  /// By moves from the baseline, through variants that run. What inner tuning made of one, and no
  /// move of another, is not.
  [[nodiscard]] std::vector<std::uint32_t> reachable() const override;
  [[nodiscard]] std::uint32_t first_row(const Options&,
                                        std::uint64_t,
                                        std::uint64_t) const override {
    return 0;
  }
  [[nodiscard]] std::unique_ptr<Walk> walk(std::uint32_t first, const Steps& steps) const override;
  void neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const override;

 private:
  DeviceFacts facts_;
  KernelSpec spec_;
  std::vector<Node> nodes_;  // by row
  std::unordered_map<std::string, std::uint32_t> rows_by_key_;
};

inline constexpr std::string_view kGraphFormat = "warpath-graph";

/// Text that parse_graph() parses to an equal graph.
[[nodiscard]] std::string graph_text(const RecordedGraph& graph);
/// `place` names the file in messages. Throws Error(bad_input).
[[nodiscard]] RecordedGraph parse_graph(const std::string& text,
                                        const std::string& name,
                                        const std::string& place);
/// Writes it gzipped, atomically.
void save_graph(const RecordedGraph& graph, const std::filesystem::path& file);

}  // namespace warpath
