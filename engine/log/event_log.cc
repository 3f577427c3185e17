#include "engine/log/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/base/file_reader.h"
#include "engine/base/hash_pieces.h"
#include "engine/log/run_folder.h"

namespace warpath {
namespace {

constexpr std::size_t kSumDigits = 32;
constexpr std::size_t kLineTail = kSumKey.size() + kSumDigits + 2;  // ,"sum":"...."}
constexpr std::chrono::seconds kBatch{1};

Hash128 first_link() {
  return hash128("warpath events");
}

Hash128 link(const Hash128& before, std::string_view object) {
  return Hasher().add(before).add(object).digest();
}

std::string sealed(std::string_view object, const Hash128& sum) {
  WARPATH_CHECK(object.size() > 2 && object.back() == '}' &&
                object.find('\n') == std::string_view::npos);
  std::string line(object.substr(0, object.size() - 1));
  line += kSumKey;
  line += sum.hex();
  line += "\"}\n";
  return line;
}

bool is_head(std::string_view object) {
  return object.starts_with(kLogHeadStart);
}

/// The head of the log in `path`; without segments if it has none.
LogHead head_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file) throw bad_input(path.string(), "", "a readable event log");
  if (!std::getline(file, line) || file.eof() || !is_head(line) || line.size() <= kLineTail)
    return {};
  const std::string object = line.substr(0, line.size() - kLineTail) + "}";
  return decode_log_head(object, path.string() + ":1");
}

}  // namespace

EventReader::EventReader(std::filesystem::path path) : path_(std::move(path)) {
  head_ = head_of(path_);
  position_ = start_of(0);
}

LogPosition EventReader::start_of(std::size_t part) const {
  return part == 0 ? LogPosition{.lines = 0, .bytes = 0, .chain = first_link()}
                   : head_.segments[part - 1].end;
}

void EventReader::open(std::size_t part) {
  if (part >= head_.segments.size()) head_ = head_of(path_);  // there may be more by now
  part_ = std::min(part, head_.segments.size());
  if (part_ < head_.segments.size()) {
    file_ = std::make_unique<std::istringstream>(
        segment_text(path_.parent_path(), head_.segments[part_], start_of(part_)));
  } else {
    file_ = std::make_unique<std::ifstream>(path_, std::ios::binary);
    if (!*file_) throw bad_input(path_.string(), "", "a readable event log");
  }
}

void EventReader::skip_to(const LogPosition& position) {
  std::size_t part = 0;
  for (; part < head_.segments.size() && head_.segments[part].end.bytes <= position.bytes; ++part)
    verify_segment(path_.parent_path(), head_.segments[part]);
  position_ = start_of(part);
  open(part);
}

std::string EventReader::first() {
  if (!head_.segments.empty()) return head_.first;
  EventReader other(path_);
  return other.next().value();
}

std::string EventReader::place_of_next() const {
  const std::string file = part_ < head_.segments.size()
                               ? (path_.parent_path() / head_.segments[part_].file).string()
                               : path_.string();
  return file + ":" + std::to_string(position_.lines - start_of(part_).lines + 1);
}

std::string EventReader::place() const {
  return place_;
}

/// Without its line feed; nullopt at the end of the log.
std::optional<std::string> EventReader::next_line() {
  std::string line;
  if (!file_) open(part_);
  while (!torn_ && !std::getline(*file_, line)) {
    if (file_->bad()) throw environment_error(path_.string() + ": cannot be read");
    if (part_ == head_.segments.size()) return std::nullopt;
    if (position_ != head_.segments[part_].end)
      throw bad_input(place_of_next(), "", "the end of the segment that the log states");
    open(part_ + 1);
  }
  if (torn_) return std::nullopt;
  if (file_->eof()) {  // no line feed: the writer died here
    if (part_ < head_.segments.size()) throw bad_input(place_of_next(), line, "a whole line");
    torn_ = true;
    return std::nullopt;
  }
  return line;
}

/// The object of a line that follows from those before it.
std::string EventReader::checked(const std::string& line) {
  place_ = place_of_next();
  if (line.size() <= kLineTail ||
      line.compare(line.size() - kLineTail, kSumKey.size(), kSumKey) != 0 ||
      !line.ends_with("\"}")) {
    throw bad_input(place_, line, "an event that ends in its sum");
  }
  const auto sum =
      Hash128::parse(std::string_view(line).substr(line.size() - kSumDigits - 2, kSumDigits));
  std::string object = line.substr(0, line.size() - kLineTail) + "}";
  const Hash128 expected = link(position_.chain, object);
  // Compared as text: an upper-case digit is an altered digit.
  if (!sum || line.compare(line.size() - kSumDigits - 2, kSumDigits, expected.hex()) != 0) {
    throw bad_input(place_, line.substr(line.size() - kSumDigits - 2, kSumDigits),
                    "sum " + expected.hex() +
                        ": this line, or one before it, was altered, removed, repeated or moved");
  }
  position_ = {
      .lines = position_.lines + 1, .bytes = position_.bytes + line.size() + 1, .chain = expected};
  return object;
}

std::optional<std::string> EventReader::next() {
  while (const auto line = next_line()) {
    std::string object = checked(*line);
    if (!is_head(object)) return object;
  }
  if (position_.lines == 0)
    throw bad_input(path_.string() + ":1", torn_ ? "a part of a line" : "nothing",
                    "the line that opens an event log");
  return std::nullopt;
}

void EventReader::retry() {
  torn_ = false;
  std::size_t part = part_;
  head_ = head_of(path_);
  while (part < head_.segments.size() && head_.segments[part].end.bytes <= position_.bytes) ++part;
  open(part);
  file_->seekg(static_cast<std::streamoff>(position_.bytes - start_of(part_).bytes));
}

SyncRule parse_sync_rule(std::string_view name, std::string_view place) {
  if (name == "always") return SyncRule::always;
  if (name == "batch") return SyncRule::batch;
  if (name == "never") return SyncRule::never;
  throw bad_input(place, name, "always, batch or never");
}

EventWriter EventWriter::create(const std::filesystem::path& path,
                                std::string_view first,
                                SyncRule rule,
                                std::uint64_t segment_bytes) {
  const Hash128 sum = link(first_link(), first);
  const std::string line = sealed(first, sum);
  write_file_atomically(path, line, rule != SyncRule::never);
  return {path, {.lines = 1, .bytes = line.size(), .chain = sum}, rule, segment_bytes};
}

EventWriter::EventWriter(std::filesystem::path path,
                         const LogPosition& position,
                         SyncRule rule,
                         std::uint64_t segment_bytes)
    : path_(std::move(path)),
      position_(position),
      rule_(rule),
      segment_bytes_(segment_bytes),
      head_(head_of(path_)),
      last_sync_(std::chrono::steady_clock::now()) {
  if (head_.first.empty() && segment_bytes_ > 0) head_.first = EventReader(path_).next().value();
  open();
}

/// The file, cut to `position_`.
void EventWriter::open() {
  if (fd_ >= 0) ::close(fd_);
  start_ = head_.segments.empty() ? 0 : head_.segments.back().end.bytes;
  WARPATH_CHECK(start_ <= position_.bytes);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) throw disk_error(path_, "cannot be opened for writing");
  if (::ftruncate(fd_, static_cast<off_t>(position_.bytes - start_)) != 0 ||
      ::lseek(fd_, 0, SEEK_END) < 0) {
    const int cause = errno;
    ::close(std::exchange(fd_, -1));
    errno = cause;
    throw disk_error(path_, "cannot be cut to its last whole line");
  }
}

EventWriter::EventWriter(EventWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      position_(other.position_),
      rule_(other.rule_),
      segment_bytes_(other.segment_bytes_),
      head_(std::move(other.head_)),
      start_(other.start_),
      dirty_(other.dirty_),
      unsettled_(other.unsettled_),
      last_sync_(other.last_sync_) {}

EventWriter::~EventWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void EventWriter::write(std::string_view line) {
  for (std::size_t done = 0; done < line.size();) {
    const ::ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw disk_error(path_, "cannot be appended to");
    done += static_cast<std::size_t>(n);
  }
}

void EventWriter::append(std::string_view object, bool important) {
  if (segment_bytes_ > 0 && position_.bytes - start_ >= segment_bytes_) begin_segment();
  const Hash128 sum = link(position_.chain, object);
  const std::string line = sealed(object, sum);
  write(line);
  position_ = {.lines = position_.lines + 1, .bytes = position_.bytes + line.size(), .chain = sum};
  dirty_ = true;
  unsettled_ = unsettled_ || important;
}

void EventWriter::settle() {
  if (!unsettled_) return;
  const bool due = std::chrono::steady_clock::now() - last_sync_ >= kBatch;
  if (rule_ == SyncRule::always || (rule_ == SyncRule::batch && due)) sync();
}

void EventWriter::begin_segment() {
  const bool sync = rule_ != SyncRule::never;
  const std::string name = segment_name(path_, head_.segments.size() + 1);
  LogSegment segment{.file = name, .size = 0, .sum = {}, .end = position_};
  AtomicFile file(path_.parent_path() / name);
  PieceHasher sum_of_file;
  GzipWriter writer([&](std::string_view piece) {
    file.write(piece);
    sum_of_file.add(piece);
    segment.size += piece.size();
  });
  const FileReader log(path_);
  const auto next = log.pieces(position_.bytes - start_);
  for (auto piece = next(); !piece.empty(); piece = next()) writer.add(piece);
  writer.finish();
  file.commit(sync);
  segment.sum = sum_of_file.digest();
  LogHead head = head_;
  head.segments.push_back(std::move(segment));
  const std::string object = encode(head);
  const Hash128 sum = link(position_.chain, object);
  const std::string line = sealed(object, sum);
  write_file_atomically(path_, line, sync);
  head_ = std::move(head);
  position_ = {.lines = position_.lines + 1, .bytes = position_.bytes + line.size(), .chain = sum};
  open();
  dirty_ = unsettled_ = false;
}

void EventWriter::sync() {
  if (!dirty_ || rule_ == SyncRule::never) return;
  if (::fdatasync(fd_) != 0) throw disk_error(path_, "cannot be synced");
  dirty_ = unsettled_ = false;
  last_sync_ = std::chrono::steady_clock::now();
}

}  // namespace warpath
