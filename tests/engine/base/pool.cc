#include "engine/base/pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "engine/base/temporary_folder.h"

using namespace warpath;

namespace {

/// Small blocks, and large ones that were grown several times.
constexpr std::uint32_t kElements = 20'000'000;

bool holds(const Pool<std::uint64_t>& pool, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (pool[i] != std::uint64_t{i} * i) return false;
  }
  return pool.size() == count;
}

Pool<std::uint64_t> filled(std::uint32_t count) {
  Pool<std::uint64_t> pool;
  for (std::uint32_t i = 0; i < count; ++i) pool.push_back(std::uint64_t{i} * i);
  return pool;
}

/// While there is one, large blocks lie in files of a folder.
class InFiles {
 public:
  InFiles() { put_blocks_in(folder_.path()); }
  ~InFiles() { put_blocks_in({}); }
  InFiles(const InFiles&) = delete;
  InFiles& operator=(const InFiles&) = delete;
  [[nodiscard]] bool is_empty() const { return std::filesystem::is_empty(folder_.path()); }

 private:
  TemporaryFolder folder_{"blocks"};
};

/// While there is one, no file of this process may become larger.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lower{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_SUITE_BEGIN("pool");

TEST_CASE("a pool holds what was put into it, however large it becomes") {
  Pool<std::uint64_t> pool;
  CHECK(pool.empty());
  for (std::uint32_t i = 0; i < kElements; ++i) {
    pool.push_back(std::uint64_t{i} * i);
    if ((i & (i + 1)) == 0) REQUIRE(holds(pool, i + 1));
  }
  CHECK(holds(pool, kElements));
  const Pool<std::uint64_t> copy = pool;
  const Pool<std::uint64_t> moved = std::move(pool);
  CHECK(holds(copy, kElements));
  CHECK(holds(moved, kElements));
  Pool<std::uint64_t> at_once;
  at_once.reserve(kElements);
  CHECK(at_once.empty());
  at_once.push_back(0);
  CHECK(holds(at_once, 1));
}

TEST_CASE("large blocks can lie in files, out of memory until they are used again") {
  const InFiles in_files;
  Pool<std::uint64_t> pool = filled(kElements);
  CHECK(in_files.is_empty());  // of files with a name
  const std::size_t before = resident_bytes();
  page_out_blocks();
  CHECK(resident_bytes() + kElements * sizeof(std::uint64_t) / 2 < before);
  CHECK(holds(pool, kElements));
  pool[7] = 8;
  page_out_blocks();
  CHECK(pool[7] == 8);
  const Pool<std::uint64_t> copy = pool;
  pool = {};
  page_out_blocks();
  CHECK(copy[7] == 8);
}

TEST_CASE("a block stays in memory where there is no room for a file") {
  SUBCASE("no such folder") {
    put_blocks_in("/no/such/folder");
    CHECK(holds(filled(kElements), kElements));
    put_blocks_in({});
  }
  SUBCASE("a file that can grow no further") {
    const InFiles in_files;
    const FileLimit limit(std::size_t{1} << 24U);
    const Pool<std::uint64_t> pool = filled(kElements);
    page_out_blocks();
    CHECK(holds(pool, kElements));
  }
}

TEST_SUITE_END();
