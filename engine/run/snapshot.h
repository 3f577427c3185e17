#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/run/event_log.h"
#include "engine/search/graph.h"
#include "engine/search/search.h"

namespace warpath {

/// Version of search_state.json and its pools. Another one is refused; the log, which has a version
/// of its own, is enough.
inline constexpr std::uint64_t kSnapshotSchema = 2;

/// The search after the first `log.lines` lines of events.jsonl, so that a resume need not search
/// them again. The log is the truth: a run resumes without a snapshot, only slower, and to the same
/// bits.
struct Snapshot {
  LogPosition log;
  Graph::Arenas arenas;
  Search::State state;
  /// MoveInstance::text() of the edges that made no node: the log names those of the others. Not
  /// complete where an earlier snapshot had none.
  std::map<EdgeId, std::string> links = {};
};

/// JSON text with a checksum. Lossless.
[[nodiscard]] std::string encode(const Snapshot& snapshot);
/// Throws Error(bad_input) "PLACE:/key: ..." if the text is damaged or of another schema. `place`
/// is the file, beside which pools lie.
[[nodiscard]] Snapshot decode_snapshot(std::string_view text, const std::string& place);

/// Graphs of more edges are kept as pools beside the JSON, which then names them: nobody reads so
/// many rows, and they load by mapping.
inline constexpr std::size_t kMostReadableEdges = 20'000;

/// Writes search_state.json, and pools where the graph is large, whole or not at all: what was
/// there before serves until the new one is complete.
void save_snapshot(const Snapshot& snapshot, const std::filesystem::path& path, bool sync);
/// search_state.json: nullopt without a file. Throws as decode_snapshot.
[[nodiscard]] std::optional<Snapshot> load_snapshot(const std::filesystem::path& path);

}  // namespace warpath
