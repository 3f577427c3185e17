#include "engine/log/run_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  File(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, const fs::path& path, std::string_view text) {
  for (std::size_t done = 0; done < text.size();) {
    const ::ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw disk_error(path, "cannot be written");
    done += static_cast<std::size_t>(n);
  }
}

void write_whole(const fs::path& path, std::string_view text, bool sync) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) throw disk_error(path, "cannot be written");
  write_all(file.get(), path, text);
  if (sync && ::fsync(file.get()) != 0) throw disk_error(path, "cannot be synced");
}

void sync_folder(const fs::path& folder) {
  const File file(folder, O_RDONLY | O_DIRECTORY);
  if (file.get() < 0 || ::fsync(file.get()) != 0) throw disk_error(folder, "cannot be synced");
}

void move_into_place(const fs::path& from, const fs::path& to, bool sync) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw disk_error(to, "cannot be replaced");
  if (sync) sync_folder(to.parent_path().empty() ? fs::path(".") : to.parent_path());
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw environment_error(path.string() + ": the folder cannot be made: " + error.message());
}

/// Cannot be replaced by a file.
bool is_stream(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// What a link names.
fs::path destination(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error)) || is_stream(path)) return path;
  const fs::path named = fs::exists(path, error)
                             ? fs::canonical(path, error)
                             : path.parent_path() / fs::read_symlink(path, error);
  return error ? path : named;
}

fs::path temporary_of(const fs::path& path) {
  return is_stream(path) ? path : path.parent_path() / ("." + path.filename().string() + ".tmp");
}

}  // namespace

Error disk_error(const fs::path& path, const std::string& what) {
  return environment_error(path.string() + ": " + what + ": " + std::strerror(errno));
}

AtomicFile::AtomicFile(const fs::path& path)
    : path_(destination(path)),
      temporary_(temporary_of(path_)),
      fd_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (fd_ < 0) throw disk_error(temporary_, "cannot be written");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (temporary_ != path_) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view piece) {
  write_all(fd_, temporary_, piece);
}

void AtomicFile::commit(bool sync) {
  if (temporary_ == path_) {
    ::close(std::exchange(fd_, -1));
    return;
  }
  if (sync && ::fsync(fd_) != 0) throw disk_error(temporary_, "cannot be synced");
  move_into_place(temporary_, path_, sync);
  ::close(std::exchange(fd_, -1));
}

void write_file_atomically(const fs::path& path, std::string_view text, bool sync) {
  AtomicFile file(path);
  file.write(text);
  file.commit(sync);
}

void sync_file(const fs::path& path) {
  const File file(path, O_RDONLY);
  if (file.get() < 0 || ::fdatasync(file.get()) != 0) throw disk_error(path, "cannot be synced");
}

bool RunFolder::has_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path / "events.jsonl", error));
}

bool RunFolder::is_in_use(const fs::path& path) {
  const int lock = ::open((path / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return false;
  char owner[32] = {};
  const bool known = ::pread(lock, owner, sizeof owner - 1, 0) > 0;
  // only where its last owner still lives: a lock taken to look at it might refuse a run that
  // starts
  const bool lives = known && (::kill(std::atoi(owner), 0) == 0 || errno == EPERM);
  const bool held = lives && ::flock(lock, LOCK_SH | LOCK_NB) != 0;
  ::close(lock);
  return held;
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  make_folder(path_);
  const fs::path lock = path_ / "lock";
  lock_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) throw disk_error(lock, "cannot be opened");
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    char owner[32] = {};
    const ::ssize_t n = ::pread(lock_, owner, sizeof owner - 1, 0);
    ::close(lock_);
    const std::string who =
        n > 0 ? "process " + std::string(owner) : std::string("another process");
    throw bad_input(path_.string(), "a run folder that " + who + " works in", "one that is free");
  }
  const std::string mine = std::to_string(::getpid());
  if (::ftruncate(lock_, 0) != 0 || ::pwrite(lock_, mine.data(), mine.size(), 0) < 0) {
    const int cause = errno;
    ::close(lock_);
    errno = cause;
    throw disk_error(lock, "cannot be written");
  }
}

RunFolder::~RunFolder() {
  ::close(lock_);
}

void RunFolder::write_folder(const fs::path& target,
                             const std::vector<std::pair<std::string, std::string>>& files,
                             bool sync) const {
  const fs::path final_path = path_ / target;
  std::error_code error;
  if (fs::exists(final_path, error)) return;
  make_folder(final_path.parent_path());
  const fs::path temporary =
      final_path.parent_path() / ("." + final_path.filename().string() + ".tmp");
  make_folder(temporary);
  for (const auto& [name, text] : files) write_whole(temporary / name, text, sync);
  if (sync) sync_folder(temporary);
  move_into_place(temporary, final_path, sync);
}

void RunFolder::point_best(const fs::path& target) const {
  const fs::path temporary = path_ / ".best.tmp";
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0)
    throw disk_error(temporary, "cannot be made");
  move_into_place(temporary, path_ / "best", false);
}

}  // namespace warpath
