#include "runners/cuda/lanes/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "engine/base/format.h"
#include "engine/log/events.h"

namespace warpath::cuda {
namespace {

constexpr std::chrono::milliseconds kTick{200};
constexpr std::size_t kMostText = 1024;

/// What this process was started as, in one line.
std::string own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) c = c == '\0' ? ' ' : (c < ' ' || c > '~') ? '?' : c;
  constexpr std::size_t kMostCommand = 160;
  return text.substr(text.find_last_of('/', text.find(' ')) + 1).substr(0, kMostCommand);
}

LockHolder read_holder(int fd) {
  char text[kMostText + 1] = {};
  LockHolder holder;
  if (::pread(fd, text, kMostText, 0) <= 0) return holder;
  std::istringstream lines(text);
  std::string pid;
  std::getline(lines, pid);
  std::getline(lines, holder.command);
  std::getline(lines, holder.since);
  holder.pid = std::strtol(pid.c_str(), nullptr, 10);
  for (std::string* const field : {&holder.command, &holder.since})
    std::ranges::replace_if(*field, [](char c) { return c < ' ' || c > '~'; }, '?');
  return holder;
}

/// Opens the file, made where it is missing; for everybody to lock. Never through a link, which
/// somebody else may have put there.
int open_lock(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == EACCES) fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
      // O_CREAT on a file of another user is refused in folders such as /tmp: only the first one
      // makes it.
      fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
      if (fd >= 0) static_cast<void>(::fchmod(fd, 0666));
      if (fd < 0 && errno == EEXIST) continue;
    }
    struct stat status{};
    if (fd >= 0 && (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1)) {
      ::close(fd);
      throw environment_error(path.string() + ": is no lock file");
    }
    if (fd >= 0) return fd;
    break;
  }
  throw environment_error(path.string() + ": cannot be opened: " + std::strerror(errno));
}

// By file, of this process: a second engine in it has the device too.
std::mutex held_mutex;
std::map<std::string, std::weak_ptr<DeviceLock>>& held() {
  static std::map<std::string, std::weak_ptr<DeviceLock>> all;
  return all;
}

}  // namespace

std::string LockHolder::text() const {
  if (pid == 0) return "another process";
  return "process " + std::to_string(pid) + (command.empty() ? "" : " (" + command + ")") +
         (since.empty() ? "" : " since " + since);
}

std::shared_ptr<DeviceLock> DeviceLock::try_take(const std::filesystem::path& folder,
                                                 const std::string& uuid,
                                                 LockHolder& holder) {
  const std::filesystem::path path = folder / ("warpath-gpu-" + uuid + ".lock");
  const std::lock_guard guard(held_mutex);
  if (auto own = held()[path.string()].lock()) return own;
  const int fd = open_lock(path);
  int result = 0;
  do {
    result = ::flock(fd, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    const int why = errno;
    holder = read_holder(fd);
    ::close(fd);
    if (why != EWOULDBLOCK)
      throw environment_error(path.string() + ": cannot be locked: " + std::strerror(why));
    return nullptr;
  }
  const std::string text =
      std::to_string(::getpid()) + "\n" + own_command() + "\n" + utc_text(unix_now()) + "\n";
  // A process that may lock the file may not always write it: then it is empty, or names an earlier
  // holder.
  if (::ftruncate(fd, 0) == 0) static_cast<void>(!::pwrite(fd, text.data(), text.size(), 0));
  auto lock = std::make_shared<DeviceLock>(fd);
  held()[path.string()] = lock;
  return lock;
}

std::shared_ptr<DeviceLock> DeviceLock::take(const Wish& wish) {
  std::string said;
  for (;;) {
    LockHolder holder;
    if (auto lock = try_take(wish.folder, wish.uuid, holder)) return lock;
    const std::string taken = wish.label + " is taken by " + holder.text();
    if (!wish.waits) throw DeviceTaken(taken + " (--no-wait)");
    if (said != taken && wish.say) wish.say(taken + "; waiting for it (--no-wait ends instead)");
    said = taken;
    std::this_thread::sleep_for(kTick);
  }
}

DeviceLock::~DeviceLock() {
  ::close(fd_);
}

std::filesystem::path default_lock_folder() {
  const char* const named = std::getenv("WARPATH_LOCKS");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

}  // namespace warpath::cuda
