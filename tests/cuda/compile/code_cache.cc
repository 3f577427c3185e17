#include "runners/cuda/compile/code_cache.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <vector>

#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::Hash128;
using warpath::Status;
using warpath::cuda::code_key;
using warpath::cuda::CodeCache;
using warpath::cuda::CompileRequest;
using warpath::cuda::CompileResult;
using warpath::test::TemporaryFolder;

namespace {

CompileResult result_of(std::uint64_t i, std::size_t bytes = 1000) {
  CompileResult result;
  result.status = Status::ok;
  result.ptx = "ptx " + std::to_string(i);
  result.cubin = std::string(bytes, static_cast<char>('a' + i % 26));
  return result;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".code") files.push_back(entry.path());
  }
  return files;
}

}  // namespace

TEST_SUITE_BEGIN("code_cache");

TEST_CASE(
    "the key covers text, kernel, architecture, options in order and the compiler's version") {
  const CompileRequest base{"source", "k", "sm_90a", {"-DA=1", "-DB=2"}};
  std::set<std::string> keys{code_key(base, "13.0").hex(), code_key(base, "12.9").hex()};
  for (const CompileRequest& other : {CompileRequest{"source ", "k", "sm_90a", {"-DA=1", "-DB=2"}},
                                      CompileRequest{"source", "k2", "sm_90a", {"-DA=1", "-DB=2"}},
                                      CompileRequest{"source", "k", "sm_90", {"-DA=1", "-DB=2"}},
                                      CompileRequest{"source", "k", "sm_90a", {"-DB=2", "-DA=1"}},
                                      CompileRequest{"source", "k", "sm_90a", {"-DA=1-DB=2"}}}) {
    keys.insert(code_key(other, "13.0").hex());
  }
  CHECK(keys.size() == 7);
  CHECK(code_key(base, "13.0") == code_key(base, "13.0"));
}

TEST_CASE("what was stored is found by this process and the next") {
  const TemporaryFolder folder;
  CodeCache cache(folder.path(), 1 << 20);
  const Hash128 key{1, 2};
  CHECK_FALSE(cache.find(key));
  cache.store(key, result_of(1));
  CHECK(cache.find(key) == result_of(1));
  CHECK(CodeCache(folder.path(), 1 << 20).find(key) == result_of(1));
  CHECK(cache.counts().hits == 1);
  CHECK(cache.counts().misses == 1);
}

TEST_CASE("only results that follow from the key are kept") {
  const TemporaryFolder folder;
  CodeCache cache(folder.path(), 1 << 20);
  for (const Status status : {Status::timed_out, Status::crashed, Status::limits_exceeded}) {
    CompileResult result = result_of(1);
    result.status = status;
    cache.store({7, 7}, result);
    CHECK_FALSE(cache.find({7, 7}));
  }
  CompileResult refused;
  refused.status = Status::compile_error;
  refused.log = "kernel.cu(1): error";
  cache.store({7, 8}, refused);
  CHECK(cache.find({7, 8}) == refused);
}

TEST_CASE("a damaged or torn entry is dropped, never returned") {
  const TemporaryFolder folder;
  CodeCache cache(folder.path(), 1 << 20);
  for (std::uint64_t i = 0; i < 40; ++i) {
    cache.store({i, 0}, result_of(i));
    const fs::path file = files_in(folder.path()).front();
    if (i % 2 == 0) {
      fs::resize_file(file, i * fs::file_size(file) / 40);
    } else {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(static_cast<std::streamoff>(i * fs::file_size(file) / 40));
      stream.put('\xff');
    }
    CAPTURE(i);
    CHECK_FALSE(cache.find({i, 0}));
    CHECK(files_in(folder.path()).empty());
  }
  CHECK(cache.counts().corrupt == 40);
}

TEST_CASE("the entries used longest ago go when the bound is reached") {
  const TemporaryFolder folder;
  CodeCache cache(folder.path(), 50000);
  for (std::uint64_t i = 0; i < 40; ++i) cache.store({i, 0}, result_of(i));
  for (const auto& file : files_in(folder.path()))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(cache.find({3, 0}));  // used now
  for (std::uint64_t i = 100; i < 110; ++i) cache.store({i, 0}, result_of(i));
  CHECK(cache.find({3, 0}));
  CHECK(cache.find({109, 0}));
  CHECK(cache.counts().evicted > 0);
  std::uint64_t bytes = 0;
  for (const auto& file : files_in(folder.path())) bytes += fs::file_size(file);
  CHECK(bytes <= 50000);
  cache.store({1000, 0}, result_of(1, 60000));
  CHECK_FALSE(cache.find({1000, 0}));
}

TEST_CASE("several processes share one folder without harm") {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      CodeCache cache(folder.path(), 30000);
      bool sound = true;
      for (std::uint64_t i = 0; i < 200; ++i) {
        const Hash128 key{i % 40, 0};
        cache.store(key, result_of(i % 40));
        const auto found = cache.find(key);
        sound = sound && (!found || *found == result_of(i % 40));
      }
      ::_exit(sound && cache.counts().corrupt == 0 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
}

TEST_SUITE_END();
