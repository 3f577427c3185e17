#include "runners/cuda/compile/folder_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/temporary_folder.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 32;
constexpr double kKeptShare = 0.8;  // of max_bytes, after an eviction

/// Holds an exclusive lock between processes while it lives; `held()` is false if there is none to
/// have now.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      fd_ = -1;
    }
  }
  ~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  [[nodiscard]] bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Entry {
  fs::path path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

/// Every entry, and every temporary file that a dead process has left.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone) || it->path().filename() == "lock") continue;
    const Entry entry{it->path(), it->file_size(gone), it->last_write_time(gone)};
    if (!gone) entries.push_back(entry);
  }
  return entries;
}

std::uint64_t bytes_of(const std::vector<Entry>& entries) {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries) sum += entry.bytes;
  return sum;
}

}  // namespace

FolderCache::FolderCache(fs::path folder, std::string kind, std::uint64_t max_bytes)
    : folder_(std::move(folder)), kind_(std::move(kind)), max_bytes_(max_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw environment_error(folder_.string() + ": cannot hold a cache: " + error.message());
  estimate_bytes_ = bytes_of(entries_of(folder_));
}

fs::path FolderCache::path_of(const Hash128& key) const {
  const std::string name = key.hex();
  return folder_ / name.substr(0, 2) / (name + "." + kind_);
}

std::optional<std::string> FolderCache::find(const Hash128& key) {
  const fs::path path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::lock_guard lock(mutex_);
    ++counts_.misses;
    return std::nullopt;
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string magic = this->magic();
  const std::string_view sealed = bytes;
  std::optional<std::string> text;
  if (sealed.starts_with(magic) && sealed.size() >= magic.size() + kHashDigits) {
    const std::string_view payload = sealed.substr(magic.size() + kHashDigits);
    if (Hash128::parse(sealed.substr(magic.size(), kHashDigits)) == hash128(payload))
      text = payload;
  }
  if (!text) {
    drop(key);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  const std::lock_guard lock(mutex_);
  ++counts_.hits;
  return text;
}

void FolderCache::drop(const Hash128& key) {
  std::error_code ignored;
  fs::remove(path_of(key), ignored);
  const std::lock_guard lock(mutex_);
  ++counts_.corrupt;
}

void FolderCache::store(const Hash128& key, std::string_view text) {
  const std::string bytes = magic() + hash128(text).hex() + std::string(text);
  if (bytes.size() > max_bytes_) return;
  const fs::path path = path_of(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  static std::atomic<std::uint64_t> serial{0};
  const fs::path aside =
      path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(serial++);
  {
    std::ofstream file(aside, std::ios::binary);
    file << bytes;
    file.close();
    if (!file) {
      fs::remove(aside, error);
      return;
    }
  }
  fs::rename(aside, path, error);
  if (error) fs::remove(aside, error);
  const std::lock_guard lock(mutex_);
  estimate_bytes_ += bytes.size();
  if (estimate_bytes_ > max_bytes_) evict();
}

void FolderCache::evict() {
  const FolderLock lock(folder_ / "lock");
  if (!lock.held()) return;  // another process is at it
  std::vector<Entry> entries = entries_of(folder_);
  std::uint64_t total = bytes_of(entries);
  if (total > max_bytes_) {
    std::ranges::sort(entries, {}, &Entry::used);
    const auto target = static_cast<std::uint64_t>(static_cast<double>(max_bytes_) * kKeptShare);
    for (const Entry& entry : entries) {
      if (total <= target) break;
      std::error_code error;
      if (!fs::remove(entry.path, error)) continue;
      total -= entry.bytes;
      ++counts_.evicted;
    }
  }
  estimate_bytes_ = total;
}

FolderCacheCounts FolderCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

fs::path default_cache_folder(std::string_view kind) {
  if (const char* own = std::getenv("WARPATH_CACHE"); own != nullptr && *own != '\0')
    return fs::absolute(own) / kind;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "warpath" / kind;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "warpath" / kind;
  return temporary_root() / ("warpath-" + std::string(kind));
}

}  // namespace warpath::cuda
