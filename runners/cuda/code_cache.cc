#include "runners/cuda/code_cache.h"

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

#include "engine/error.h"
#include "runners/wire.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "warpath code 1\n";
constexpr std::string_view kSuffix = ".code";
constexpr double kKeptShare = 0.8;  // of max_bytes, after an eviction

/// Holds an exclusive lock between processes while it lives; `held()` is false if there is none to have now.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
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
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
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

std::string sealed(const CompileResult& result) {
  const std::string payload = encode(result);
  return std::string(kMagic) + hash128(payload).hex() + payload;
}

/// The payload, or nullopt if the checksum does not hold.
std::optional<CompileResult> unsealed(std::string_view bytes) {
  constexpr std::size_t kHashDigits = 32;
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kHashDigits) return std::nullopt;
  const auto expected = Hash128::parse(bytes.substr(kMagic.size(), kHashDigits));
  const std::string_view payload = bytes.substr(kMagic.size() + kHashDigits);
  CompileResult result;
  if (!expected || hash128(payload) != *expected || !decode(payload, result)) return std::nullopt;
  return result;
}

}  // namespace

Hash128 code_key(const CompileRequest& request, std::string_view nvrtc_version) {
  Hasher hasher;
  hasher.add("code").add(request.source).add(request.kernel).add(request.arch).add(nvrtc_version);
  hasher.add(static_cast<std::uint64_t>(request.options.size()));
  for (const std::string& option : request.options) hasher.add(option);
  return hasher.digest();
}

CodeCache::CodeCache(fs::path folder, std::uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw environment_error(folder_.string() + ": cannot hold a cache: " + error.message());
  estimate_bytes_ = bytes_of(entries_of(folder_));
}

fs::path CodeCache::path_of(const Hash128& key) const {
  const std::string name = key.hex();
  return folder_ / name.substr(0, 2) / (name + std::string(kSuffix));
}

std::optional<CompileResult> CodeCache::find(const Hash128& key) {
  const fs::path path = path_of(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const std::lock_guard lock(mutex_);
    ++counts_.misses;
    return std::nullopt;
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto result = unsealed(bytes);
  std::error_code ignored;
  if (result) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  } else {
    fs::remove(path, ignored);
  }
  const std::lock_guard lock(mutex_);
  ++(result ? counts_.hits : counts_.corrupt);
  return result;
}

void CodeCache::store(const Hash128& key, const CompileResult& result) {
  if (result.status != Status::ok && result.status != Status::compile_error) return;
  const std::string bytes = sealed(result);
  if (bytes.size() > max_bytes_) return;
  const fs::path path = path_of(key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  static std::atomic<std::uint64_t> serial{0};
  const fs::path aside = path.string() + "." + std::to_string(::getpid()) + "." + std::to_string(serial++);
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

void CodeCache::evict() {
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

CodeCacheCounts CodeCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

fs::path default_code_cache_folder() {
  if (const char* own = std::getenv("WARPATH_CACHE"); own != nullptr && *own != '\0') return fs::absolute(own) / "code";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return fs::path(cache) / "warpath" / "code";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return fs::path(home) / ".cache" / "warpath" / "code";
  return fs::temp_directory_path() / "warpath-code";
}

}  // namespace warpath::cuda
