#include "experiments/study/landscape_recording.h"

#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "runners/synthetic/move_landscape.h"

namespace warpath {
namespace {

using Made = MoveLandscape::Made;

Recording::Row row_of(const MoveLandscape& landscape, Made made) {
  Recording::Row row{.status = landscape.status(made), .compile_seconds = 1, .run_seconds = 0.1};
  if (row.status == Status::ok) row.time_ns = landscape.time_ns(made);
  return row;
}

Hash128 key_of(Made made) {
  return {mix64(made), mix64(~made)};
}

/// Its nodes are sets of moves; there is no text.
class LandscapeWalk final : public Recording::Walk {
 public:
  explicit LandscapeWalk(const MoveLandscape& landscape)
      : landscape_(landscape), nodes_{{.row = row_of(landscape, 0)}} {}

  [[nodiscard]] std::uint32_t row(NodeId node) const override {
    return node == NodeId{0} ? 0 : Recording::kNone;
  }
  [[nodiscard]] const Recording::Row& found(NodeId node) const override { return at(node).row; }

  void open(NodeId node, std::vector<float>& priors) override {
    landscape_.priors(at(node).made, priors);
  }
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override {
    const int move = static_cast<int>(action);
    if (!landscape_.legal(at(node).made, move)) return std::nullopt;
    return key_of(MoveLandscape::apply(at(node).made, move));
  }
  /// To make a move and to undo it are two changes.
  [[nodiscard]] std::string code(NodeId node) const override {
    return std::to_string(landscape_.code(at(node).made));
  }
  [[nodiscard]] std::uint64_t label(NodeId node, std::uint32_t action) const override {
    return 1 + 2 * std::uint64_t{action} + (at(node).made >> action & 1U);
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    return landscape_.has_kinds() ? landscape_.group(static_cast<int>(action))
                                  : label(node, action);
  }
  [[nodiscard]] std::uint64_t site(NodeId node, std::uint32_t action) const override {
    return family(node, action);
  }
  void create(NodeId child, NodeId parent, const Step& step, const Hash128&) override {
    WARPATH_CHECK(index(child) == nodes_.size());
    const Made made = MoveLandscape::apply(at(parent).made, static_cast<int>(step.action));
    nodes_.push_back(
        {.made = made, .parent = parent, .action = step.action, .row = row_of(landscape_, made)});
  }

  [[nodiscard]] std::uint32_t size() const override {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] Hash128 key(NodeId node) const override { return key_of(at(node).made); }
  [[nodiscard]] Variant variant(NodeId) const override { return {}; }
  [[nodiscard]] NodeId parent(NodeId node) const override { return at(node).parent; }
  [[nodiscard]] MoveInstance instance(NodeId node) const override {
    if (node == NodeId{0}) return {};
    return {.move = std::string(kMove), .site = std::to_string(at(node).action), .parameters = {}};
  }
  [[nodiscard]] std::string_view move(NodeId node) const override {
    return node == NodeId{0} ? std::string_view() : kMove;
  }
  [[nodiscard]] std::string_view source(NodeId) const override { return "landscape"; }
  [[nodiscard]] bool structural(NodeId) const override { return false; }
  [[nodiscard]] std::vector<Tunable> domain(NodeId, const MoveInstance&) const override {
    return {};
  }
  /// Nothing proposes to it.
  [[nodiscard]] std::optional<Dispatch> graft(Search&,
                                              NodeId,
                                              const Proposal&,
                                              const std::function<float()>&) override {
    return std::nullopt;
  }
  [[nodiscard]] float largest_prior(NodeId) override { return 0; }

 private:
  static constexpr std::string_view kMove = "step";
  struct Node {
    Made made = 0;
    NodeId parent = kNoNode;
    std::uint32_t action = 0;
    Recording::Row row;
  };
  [[nodiscard]] const Node& at(NodeId node) const { return nodes_[index(node)]; }

  const MoveLandscape& landscape_;
  std::vector<Node> nodes_;  // by NodeId
};

class LandscapeRecording final : public Recording {
 public:
  LandscapeRecording(std::string name, MoveLandscape landscape, std::string_view place)
      : Recording(std::move(name),
                  "synthetic",
                  {row_of(landscape, 0), row_of(landscape, landscape.optimum())},
                  place),
        landscape_(std::move(landscape)) {}

  [[nodiscard]] std::uint64_t variants() const override {
    return std::uint64_t{1} << landscape_.moves();
  }
  [[nodiscard]] bool drawable() const override { return false; }
  [[nodiscard]] std::uint32_t first_row(const Options&,
                                        std::uint64_t,
                                        std::uint64_t) const override {
    return 0;
  }
  [[nodiscard]] std::unique_ptr<Walk> walk(std::uint32_t, const Steps&) const override {
    return std::make_unique<LandscapeWalk>(landscape_);
  }
  void neighbours(std::uint32_t, std::vector<std::uint32_t>&) const override {}

 private:
  MoveLandscape landscape_;
};

}  // namespace

std::shared_ptr<const Recording> landscape_recording(const std::string& name,
                                                     std::string_view place) {
  const std::size_t last = name.rfind('-');
  const std::size_t first =
      last == std::string::npos || last == 0 ? last : name.rfind('-', last - 1);
  std::uint64_t seed = 0;
  const char* const end = name.data() + name.size();
  if (first == std::string::npos || std::from_chars(name.data() + last + 1, end, seed).ptr != end)
    throw bad_input(place, name, "FAMILY-PRIOR-SEED");
  const MoveFamily& family = move_family(name.substr(0, first), place);
  const MovePrior prior = move_prior(name.substr(first + 1, last - first - 1), place);
  return std::make_shared<LandscapeRecording>(name, MoveLandscape(family, prior, seed), place);
}

}  // namespace warpath
