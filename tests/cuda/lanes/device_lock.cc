#include "runners/cuda/lanes/device_lock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/base/error.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::cuda;
using warpath::test::TemporaryFolder;

namespace {

/// A process that takes the lock and keeps it until it is killed.
class Owner {
 public:
  Owner(const std::filesystem::path& folder, const std::string& uuid) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      LockHolder unused;
      const auto lock = DeviceLock::try_take(folder, uuid, unused);
      const char answer = lock ? 'y' : 'n';
      static_cast<void>(!::write(ready[1], &answer, 1));
      for (;;) ::pause();
    }
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    CHECK(answer == 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Owner() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] long pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_SUITE("device_lock") {
  TEST_CASE(
      "one process has a device; who does not wait is told who it is, and an environment error "
      "ends it") {
    const TemporaryFolder folder;
    Owner owner(folder.path(), "aa");
    LockHolder holder;
    CHECK(DeviceLock::try_take(folder.path(), "aa", holder) == nullptr);
    CHECK(holder.pid == owner.pid());
    CHECK(holder.command.find("test_cuda") != std::string::npos);
    CHECK(holder.since.size() == 20);
    CHECK(DeviceLock::try_take(folder.path(), "bb", holder) != nullptr);  // another device
    try {
      static_cast<void>(DeviceLock::take(
          {.folder = folder.path(), .uuid = "aa", .label = "GPU 0", .waits = false, .say = {}}));
      FAIL("it was taken");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::environment);
      CHECK(std::string(error.what())
                .find("GPU 0 is taken by process " + std::to_string(owner.pid()) + " (") == 0);
    }
  }

  TEST_CASE("who waits says for whom, once, and has the device as soon as its owner is killed") {
    const TemporaryFolder folder;
    Owner owner(folder.path(), "aa");
    std::vector<std::string> said;
    std::jthread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      owner.kill();
    });
    const auto lock =
        DeviceLock::take({.folder = folder.path(),
                          .uuid = "aa",
                          .label = "GPU 0",
                          .say = [&](const std::string& line) { said.push_back(line); }});
    CHECK(lock != nullptr);
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("waiting") != std::string::npos);
  }

  TEST_CASE("engines of one process share a device, and it is free when the last of them is gone") {
    const TemporaryFolder folder;
    LockHolder holder;
    auto first = DeviceLock::try_take(folder.path(), "aa", holder);
    auto second = DeviceLock::try_take(folder.path(), "aa", holder);
    CHECK(first == second);
    first.reset();
    CHECK(DeviceLock::try_take(folder.path(), "aa", holder) == second);
    CHECK(second->turn().try_lock());
    second->turn().unlock();
    second.reset();
    const Owner next(folder.path(), "aa");
  }

  TEST_CASE(
      "neither a link nor a folder is taken for a lock file, and nothing is written through it") {
    const TemporaryFolder folder;
    const auto victim = folder.path() / "victim";
    std::ofstream(victim) << "precious";
    std::filesystem::create_symlink(victim, folder.path() / "warpath-gpu-aa.lock");
    std::filesystem::create_hard_link(victim, folder.path() / "warpath-gpu-bb.lock");
    std::filesystem::create_directory(folder.path() / "warpath-gpu-cc.lock");
    LockHolder holder;
    for (const char* const uuid : {"aa", "bb", "cc"}) {
      CAPTURE(uuid);
      CHECK_THROWS_AS(static_cast<void>(DeviceLock::try_take(folder.path(), uuid, holder)), Error);
    }
    std::string text;
    std::ifstream(victim) >> text;
    CHECK(text == "precious");
    CHECK_THROWS_AS(
        static_cast<void>(DeviceLock::try_take(folder.path() / "no_such_folder", "aa", holder)),
        Error);
  }
}
