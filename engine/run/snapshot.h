#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/search/graph.h"
#include "engine/search/search.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// Version of search_state.json and its pools. Others are rejected; the log, which has its own
/// version, suffices.
inline constexpr std::uint64_t kSnapshotSchema = 13;

/// A text for some edges; few texts differ.
class EdgeTexts {
 public:
  /// Edges in ascending order.
  void add(EdgeId edge, const std::string& text);
  /// In that order.
  void for_each(const std::function<void(EdgeId, const std::string&)>& use) const;
  void keep(StrategyState& state);

 private:
  /// Of each the distance to the one before and the number of its text, as a StrategyState writes
  /// them: two bytes or so.
  std::string edges_;
  std::uint32_t last_ = 0;
  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // in texts_
};

/// What is written of the run after the first `log.lines` lines of events.jsonl, so that a resume
/// need not repeat them. The log is authoritative: without a snapshot a run resumes to the same
/// bits, only more slowly.
struct SnapshotParts {
  LogPosition log;
  const Graph& graph;
  const Search::State& state;
  /// MoveInstance::text() of the edges that made no node; the log names the others.
  EdgeTexts& links;
  /// Writes what else the session knows; empty: nothing.
  std::function<void(StrategyState&)> keep = {};
};
/// The same as it was read.
struct Snapshot {
  LogPosition log;
  Graph graph;
  Search::State state;
  EdgeTexts links = {};
  /// Reads what else the session knows.
  StrategyState kept = {};
};

/// JSON text with a checksum. Throws Error(bad_input) "PLACE:/key: ..." if the text is damaged, of
/// another schema or no graph. `place`: the file; pools are beside it.
[[nodiscard]] Snapshot decode_snapshot(std::string_view text, const std::string& place);

/// Graphs with more edges are stored as pools beside the JSON, which names them: nobody reads that
/// many rows.
inline constexpr std::size_t kMostReadableEdges = 20'000;

/// Writes search_state.json, and, if the graph is large, pools and a file of bytes, atomically: the
/// previous snapshot remains valid until the new one is complete. Large or small, it takes some MB
/// of memory.
void save_snapshot(const SnapshotParts& parts, const std::filesystem::path& path, bool sync);
/// Loads search_state.json; nullopt if there is none. Throws as decode_snapshot.
[[nodiscard]] std::optional<Snapshot> load_snapshot(const std::filesystem::path& path);

}  // namespace warpath
