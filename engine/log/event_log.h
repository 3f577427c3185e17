#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"
#include "engine/log/log_segments.h"

namespace warpath {

/// Precedes the checksum in a line of the log, and in a snapshot: ,"sum":"..."}
inline constexpr std::string_view kSumKey = ",\"sum\":\"";

/// Reads a log of one JSON object a line, each ending in its checksum:
///
///   {"type":"run",...,"sum":"<32 hex>"}\n
///
/// sum_i = hash(sum_{i-1}, the object without its sum), sum_0 = hash of the log's format name. An
/// altered, removed, repeated or moved line is thus detected at the first line that does not follow
/// from those before it. (Removing whole lines at the end leaves a valid, shorter log, the same
/// file as after an earlier crash.)
///
///   events.000001.jsonl.gz  events.000002.jsonl.gz  ...  events.jsonl
///   lines 1 to n            LogHead, lines               LogHead, lines
///
/// A log that has become long is in segments, of which only the last grows; its first line names
/// the others. Lines of this kind are read over.
class EventReader {
 public:
  /// Throws Error(bad_input) naming the file if it cannot be read or contains no line.
  explicit EventReader(std::filesystem::path path);

  /// Before the first next(): goes on with the segment that contains the byte after `position`.
  /// Those before it are compared with their checksums, not read.
  void skip_to(const LogPosition& position);
  /// The object that opens the log. Throws as next().
  [[nodiscard]] std::string first();
  /// The next object, without its sum; nullopt at the end. A last line without a line feed was not
  /// completed and is skipped (`torn()`). Throws Error(bad_input) "FILE:LINE: ..." for any other
  /// damage.
  [[nodiscard]] std::optional<std::string> next();
  [[nodiscard]] const LogPosition& position() const { return position_; }
  [[nodiscard]] bool torn() const { return torn_; }
  /// After the end: next() looks again, at what a writer has appended since.
  void retry();
  /// "FILE:LINE" of the object last returned; LINE in its file, uncompressed.
  [[nodiscard]] std::string place() const;
  /// "FILE:LINE" of the object that next() returns next, for messages.
  [[nodiscard]] std::string place_of_next() const;

 private:
  /// Reads what segments there are, and opens one of them or, if `part` is their number, the file
  /// that grows.
  void open(std::size_t part);
  [[nodiscard]] LogPosition start_of(std::size_t part) const;
  [[nodiscard]] std::optional<std::string> next_line();
  [[nodiscard]] std::string checked(const std::string& line);

  std::filesystem::path path_;
  LogHead head_;
  std::size_t part_ = 0;
  std::unique_ptr<std::istream> file_;
  LogPosition position_;
  std::string place_;
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
  /// Creates the file with its first line, atomically. A file of `segment_bytes` becomes a segment;
  /// 0: never.
  [[nodiscard]] static EventWriter create(const std::filesystem::path& path,
                                          std::string_view first,
                                          SyncRule rule,
                                          std::uint64_t segment_bytes = 0);
  /// Continues after `position` of an EventReader that has come to the end; truncates what follows
  /// (a torn line).
  EventWriter(std::filesystem::path path,
              const LogPosition& position,
              SyncRule rule,
              std::uint64_t segment_bytes = 0);
  EventWriter(EventWriter&& other) noexcept;
  EventWriter& operator=(EventWriter&&) = delete;
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();  ///< does not sync

  /// Appends one JSON object (text, no line feed). Written to the file on return; settle() syncs
  /// what is `important`.
  void append(std::string_view object, bool important);
  /// Syncs important lines, if the rule says so: one sync for all that came at once.
  void settle();
  /// Syncs everything appended, unless the rule is `never`.
  void sync();
  [[nodiscard]] const LogPosition& position() const { return position_; }

 private:
  void open();
  void write(std::string_view line);
  /// Compresses the file beside it, then replaces it by one that names the segment. A process that
  /// dies in between leaves a file that nothing names; it is written again.
  void begin_segment();

  std::filesystem::path path_;
  int fd_ = -1;
  LogPosition position_;
  SyncRule rule_;
  std::uint64_t segment_bytes_ = 0;
  LogHead head_;
  std::uint64_t start_ = 0;  // of the file, in bytes of the log
  bool dirty_ = false;
  bool unsettled_ = false;  // an important line is not synced
  std::chrono::steady_clock::time_point last_sync_;
};

}  // namespace warpath
