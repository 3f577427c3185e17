#pragma once

#include <cstdint>
#include <filesystem>
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
inline constexpr std::uint64_t kSnapshotSchema = 7;

/// A text for some edges; few texts differ.
class EdgeTexts {
 public:
  /// Edges in ascending order.
  void add(EdgeId edge, const std::string& text);
  /// Null: none.
  [[nodiscard]] const std::string* find(EdgeId edge) const;
  [[nodiscard]] std::size_t size() const { return edges_.size(); }
  void keep(StrategyState& state);
  bool operator==(const EdgeTexts&) const = default;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;  // edge, number of its text
  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  // in texts_
};

/// The run after the first `log.lines` lines of events.jsonl, so that a resume need not repeat
/// them. The log is authoritative: without a snapshot a run resumes to the same bits, only more
/// slowly.
struct Snapshot {
  LogPosition log;
  Graph::Arenas arenas;
  Search::State state;
  /// MoveInstance::text() of the edges that made no node; the log names the others.
  EdgeTexts links = {};
  /// What else the session knows, as bytes.
  std::string kept = {};
};

/// JSON text with a checksum. Lossless.
[[nodiscard]] std::string encode(const Snapshot& snapshot);
/// Throws Error(bad_input) "PLACE:/key: ..." if the text is damaged or of another schema. `place`:
/// the file; pools are beside it.
[[nodiscard]] Snapshot decode_snapshot(std::string_view text, const std::string& place);

/// Graphs with more edges are stored as pools beside the JSON, which names them: they load by
/// mapping, and nobody reads that many rows.
inline constexpr std::size_t kMostReadableEdges = 20'000;

/// Writes search_state.json, and, if the graph is large, pools and a file of bytes, atomically: the
/// previous snapshot remains valid until the new one is complete.
void save_snapshot(Snapshot snapshot, const std::filesystem::path& path, bool sync);
/// Loads search_state.json; nullopt if there is none. Throws as decode_snapshot.
[[nodiscard]] std::optional<Snapshot> load_snapshot(const std::filesystem::path& path);

}  // namespace warpath
