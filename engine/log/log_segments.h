#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"

namespace warpath {

/// Position after a line of an event log: what precedes it, and the checksum of that.
struct LogPosition {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  ///< uncompressed
  Hash128 chain;
  bool operator==(const LogPosition&) const = default;
};

/// A part of a log that is complete: a file of gzip beside it.
struct LogSegment {
  std::string file;
  std::uint64_t size = 0;  ///< of the file
  Hash128 sum;             ///< hash128 of the file
  LogPosition end;         ///< of the log, after the segment's last line
  bool operator==(const LogSegment&) const = default;
};

/// The first line of a log's file once there are segments: which they are, and the object that
/// opens the log. A line like any other, but no event.
struct LogHead {
  std::vector<LogSegment> segments;  ///< in order
  std::string first;                 ///< object of the log's first line
};
/// What the object of such a line begins with.
inline constexpr std::string_view kLogHeadStart = "{\"type\":\"segments\"";
/// One JSON object.
[[nodiscard]] std::string encode(const LogHead& head);
/// Throws Error(bad_input) "PLACE:/key: ...".
[[nodiscard]] LogHead decode_log_head(std::string_view object, const std::string& place);

/// "events.000001.jsonl.gz" for the first segment of events.jsonl.
[[nodiscard]] std::string segment_name(const std::filesystem::path& log, std::size_t number);
/// Throws Error(bad_input) "FILE: ..." if the segment of the log in `folder` is missing or altered;
/// Error(environment) if it cannot be read.
void verify_segment(const std::filesystem::path& folder, const LogSegment& segment);
/// Its text; throws as verify_segment. `start`: of the log, before the segment.
[[nodiscard]] std::string segment_text(const std::filesystem::path& folder,
                                       const LogSegment& segment,
                                       const LogPosition& start);

}  // namespace warpath
