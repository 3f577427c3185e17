#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/event_log.h"
#include "engine/graph.h"
#include "engine/search.h"

namespace warpath {

/// The search after the first `log.lines` lines of events.jsonl, so that a resume need not search them again. The log is the
/// truth: a run resumes without a snapshot, only slower, and to the same bits.
struct Snapshot {
  LogPosition log;
  Graph::Arenas arenas;
  Search::State state;
};

/// JSON text with a checksum. Lossless.
[[nodiscard]] std::string encode(const Snapshot& snapshot);
/// Throws Error(bad_input) "PLACE:/key: ..." if the text is damaged or of another schema.
[[nodiscard]] Snapshot decode_snapshot(std::string_view text, const std::string& place);

/// search_state.json: nullopt without a file.
[[nodiscard]] std::optional<Snapshot> load_snapshot(const std::filesystem::path& path);

}  // namespace warpath
