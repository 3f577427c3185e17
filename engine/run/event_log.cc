#include "engine/run/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/run/run_folder.h"

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

}  // namespace

EventReader::EventReader(std::filesystem::path path)
    : path_(std::move(path)), file_(path_, std::ios::binary) {
  if (!file_) throw bad_input(path_.string(), "", "a readable event log");
  position_.chain = first_link();
}

std::string EventReader::place() const {
  return path_.string() + ":" + std::to_string(position_.lines);
}

std::optional<std::string> EventReader::next() {
  std::string line;
  if (torn_ || !std::getline(file_, line)) {
    if (file_.bad()) throw environment_error(path_.string() + ": cannot be read");
    if (position_.lines == 0)
      throw bad_input(path_.string() + ":1", "nothing", "the line that opens an event log");
    return std::nullopt;
  }
  const std::string at = path_.string() + ":" + std::to_string(position_.lines + 1);
  if (file_.eof()) {  // no line feed: the writer died here
    if (position_.lines == 0) throw bad_input(at, line, "the line that opens an event log, whole");
    torn_ = true;
    return std::nullopt;
  }
  if (line.size() <= kLineTail ||
      line.compare(line.size() - kLineTail, kSumKey.size(), kSumKey) != 0 ||
      !line.ends_with("\"}")) {
    throw bad_input(at, line, "an event that ends in its sum");
  }
  const auto sum =
      Hash128::parse(std::string_view(line).substr(line.size() - kSumDigits - 2, kSumDigits));
  std::string object = line.substr(0, line.size() - kLineTail) + "}";
  const Hash128 expected = link(position_.chain, object);
  // Compared as text: an upper-case digit is an altered digit.
  if (!sum || line.compare(line.size() - kSumDigits - 2, kSumDigits, expected.hex()) != 0) {
    throw bad_input(at, line.substr(line.size() - kSumDigits - 2, kSumDigits),
                    "sum " + expected.hex() +
                        ": this line, or one before it, was altered, removed, repeated or moved");
  }
  position_ = {
      .lines = position_.lines + 1, .bytes = position_.bytes + line.size() + 1, .chain = expected};
  return object;
}

void EventReader::retry() {
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(position_.bytes));
  torn_ = false;
}

SyncRule parse_sync_rule(std::string_view name, std::string_view place) {
  if (name == "always") return SyncRule::always;
  if (name == "batch") return SyncRule::batch;
  if (name == "never") return SyncRule::never;
  throw bad_input(place, name, "always, batch or never");
}

EventWriter EventWriter::create(const std::filesystem::path& path,
                                std::string_view first,
                                SyncRule rule) {
  const Hash128 sum = link(first_link(), first);
  const std::string line = sealed(first, sum);
  write_file_atomically(path, line, rule != SyncRule::never);
  return {path, {.lines = 1, .bytes = line.size(), .chain = sum}, rule};
}

EventWriter::EventWriter(std::filesystem::path path, const LogPosition& position, SyncRule rule)
    : path_(std::move(path)),
      position_(position),
      rule_(rule),
      last_sync_(std::chrono::steady_clock::now()) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) throw disk_error(path_, "cannot be opened for writing");
  if (::ftruncate(fd_, static_cast<off_t>(position_.bytes)) != 0 || ::lseek(fd_, 0, SEEK_END) < 0) {
    const int cause = errno;
    ::close(fd_);
    errno = cause;
    throw disk_error(path_, "cannot be cut to its last whole line");
  }
}

EventWriter::EventWriter(EventWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      position_(other.position_),
      rule_(other.rule_),
      dirty_(other.dirty_),
      last_sync_(other.last_sync_) {}

EventWriter::~EventWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void EventWriter::append(std::string_view object, bool important) {
  const Hash128 sum = link(position_.chain, object);
  const std::string line = sealed(object, sum);
  for (std::size_t done = 0; done < line.size();) {
    const ::ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw disk_error(path_, "cannot be appended to");
    done += static_cast<std::size_t>(n);
  }
  position_ = {.lines = position_.lines + 1, .bytes = position_.bytes + line.size(), .chain = sum};
  dirty_ = true;
  const bool due = std::chrono::steady_clock::now() - last_sync_ >= kBatch;
  if (important && (rule_ == SyncRule::always || (rule_ == SyncRule::batch && due))) sync();
}

void EventWriter::sync() {
  if (!dirty_ || rule_ == SyncRule::never) return;
  if (::fdatasync(fd_) != 0) throw disk_error(path_, "cannot be synced");
  dirty_ = false;
  last_sync_ = std::chrono::steady_clock::now();
}

}  // namespace warpath
