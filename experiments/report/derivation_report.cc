#include "experiments/report/derivation_report.h"

#include <algorithm>
#include <span>

#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/search/derivation.h"

namespace warpath {
namespace {

constexpr std::size_t kShownMoves = 4;

std::string counted(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string move_text(const SearchGraph& of, EdgeId edge) {
  const std::string& move = of.moves[index(edge)];
  return move.empty() ? "a move that is not recorded" : valid_utf8(move);
}

std::string cycles_text(const SearchGraph& of) {
  const auto groups = cycles(of.graph);
  if (groups.empty()) return "No moves in it undo each other.";
  std::size_t variants = 0;
  for (const std::vector<NodeId>& group : groups) variants += group.size();
  return counted(variants, "variant") + (variants == 1 ? " lies" : " lie") +
         " on cycles, where moves undo each other: " + counted(groups.size(), "group") +
         (groups.size() == 1 ? "." : format(", the largest of %zu.", groups.front().size()));
}

std::string shortest_text(const SearchGraph& of, NodeId best, std::size_t found_by) {
  const std::vector<EdgeId> shortest = shortest_derivation(of.graph, best);
  if (shortest.size() >= found_by)
    return "No known way to the best kernel is shorter than the path above, of " +
           counted(found_by, "move") + ".";
  std::string moves;
  for (const EdgeId e : shortest) moves += (moves.empty() ? "" : "; ") + move_text(of, e);
  return "The best kernel was found by " + counted(found_by, "move") +
         "; the shortest known way has " + std::to_string(shortest.size()) + ": " + moves + ".";
}

/// Different moves of `edges`, the first few by name.
std::string alternatives(const SearchGraph& of, std::span<const EdgeId> edges) {
  std::vector<std::string> moves;
  for (const EdgeId e : edges) {
    if (std::string move = move_text(of, e); std::ranges::find(moves, move) == moves.end())
      moves.push_back(std::move(move));
  }
  std::string out;
  for (std::size_t i = 0; i < std::min(moves.size(), kShownMoves); ++i)
    out += (i == 0 ? "" : " or ") + moves[i];
  if (moves.size() > kShownMoves) out += format(" or %zu others", moves.size() - kShownMoves);
  return out;
}

}  // namespace

void add_derivation(const RecordedRun& run, const SearchGraph& of, std::size_t best, Document& to) {
  const NodeId node{static_cast<std::uint32_t>(best)};
  to.heading(2, "Ways to the best kernel");
  to.paragraph("As far as the search looked: its graph has " +
               counted(of.graph.node_count(), "variant") + " and " +
               counted(of.graph.edge_count(), "move") + " between them. " + cycles_text(of));
  if (!of.gap.empty()) to.paragraph("It is not complete: " + valid_utf8(of.gap) + ".");
  to.paragraph(shortest_text(of, node, run.path(best).size() - 1));
  to.paragraph(
      "Every known way to the best kernel passes these variants in this order, by one of the moves "
      "into "
      "each: without them it is not reached.");
  std::vector<Document::Row> rows{{"kernel", "speed-up in the search", "moves into it"}};
  for (const Dominator& dominator : dominators(of.graph, node)) {
    const RecordedNode& passed = run.nodes()[index(dominator.node)];
    rows.push_back({passed.key.short_hex(), known_ratio_text(passed.speedup),
                    alternatives(of, dominator.entries)});
  }
  to.table(std::move(rows));
}

}  // namespace warpath
