#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// Precedes the checksum in a line of the log, and in a snapshot: ,"sum":"..."}
inline constexpr std::string_view kSumKey = ",\"sum\":\"";

/// Position after a line of an event log: what precedes it, and the checksum of that.
struct LogPosition {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  Hash128 chain;
  bool operator==(const LogPosition&) const = default;
};

/// Reads a log of one JSON object a line, each ending in its checksum:
///
///   {"type":"run",...,"sum":"<32 hex>"}\n
///
/// sum_i = hash(sum_{i-1}, the object without its sum), sum_0 = hash of the log's format name. An
/// altered, removed, repeated or moved line is thus detected at the first line that does not follow
/// from those before it. (Removing whole lines at the end leaves a valid, shorter log, the same
/// file as after an earlier crash.)
class EventReader {
 public:
  /// Throws Error(bad_input) naming the file if it cannot be read or contains no line.
  explicit EventReader(std::filesystem::path path);

  /// The next object, without its sum; nullopt at the end. A last line without a line feed was not
  /// completed and is skipped (`torn()`). Throws Error(bad_input) "FILE:LINE: ..." for any other
  /// damage.
  [[nodiscard]] std::optional<std::string> next();
  [[nodiscard]] const LogPosition& position() const { return position_; }
  [[nodiscard]] bool torn() const { return torn_; }
  /// After the end: next() looks again, at what a writer has appended since.
  void retry();
  /// "FILE:LINE" of the object last returned.
  [[nodiscard]] std::string place() const;

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  LogPosition position_;
  bool torn_ = false;
};

/// When appended lines are synced. An unsynced line survives the death of the process, but not of
/// the machine.
enum class SyncRule : std::uint8_t { always, batch, never };
/// Throws Error(bad_input) with `place` unless `name` is always, batch or never.
[[nodiscard]] SyncRule parse_sync_rule(std::string_view name, std::string_view place);

/// Appends to a log. Only one writer per file (ensured by RunFolder's lock). Throws
/// Error(environment) naming the file on an I/O error.
class EventWriter {
 public:
  /// Creates the file with its first line, atomically.
  [[nodiscard]] static EventWriter create(const std::filesystem::path& path,
                                          std::string_view first,
                                          SyncRule rule);
  /// Continues after `position` of an EventReader; truncates what follows (a torn line).
  EventWriter(std::filesystem::path path, const LogPosition& position, SyncRule rule);
  EventWriter(EventWriter&& other) noexcept;
  EventWriter& operator=(EventWriter&&) = delete;
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();  ///< does not sync

  /// Appends one JSON object (text, no line feed). Written to the file on return; synced if
  /// `important` and the rule say so.
  void append(std::string_view object, bool important);
  /// Syncs everything appended, unless the rule is `never`.
  void sync();
  [[nodiscard]] const LogPosition& position() const { return position_; }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  LogPosition position_;
  SyncRule rule_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point last_sync_;
};

}  // namespace warpath
