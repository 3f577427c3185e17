#include "runners/worker/process.h"

#include <dirent.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "runners/worker/worker_process.h"

using namespace std::chrono_literals;
using warpath::Child;
using warpath::ProcessEnd;
using warpath::ProcessSpec;
using warpath::run_process;
using warpath::WorkerProcess;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin", "GREETING=hello"};
  return spec;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE("a child has exactly the environment it was given, and its output comes back") {
  const auto result =
      run_process(shell("echo $GREETING $HOME; echo problem >&2; exit 3"), 10s, 1000);
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.code == 3);
  CHECK(result.output == "hello\nproblem\n");
}

TEST_CASE("a child inherits no descriptor beyond the standard three") {
  const auto result = run_process(shell("ls /proc/self/fd"), 10s, 1000);
  CHECK(result.output == "0\n1\n2\n3\n");  // 3 is the folder that ls reads
}

TEST_CASE("a time limit ends the child and what it started") {
  const auto result = run_process(shell("sleep 300 & echo $!; wait"), 0.2s, 1000);
  CHECK(result.end == ProcessEnd::timed_out);
  CHECK(result.seconds < 5);
  const auto grandchild = static_cast<pid_t>(std::stol(result.output));
  bool gone = false;  // it is reaped by init, not by us: allow that a moment
  for (int i = 0; i < 2000 && !gone; ++i) {
    gone = ::kill(grandchild, 0) != 0 ||
           std::filesystem::exists("/proc/" + std::to_string(grandchild) + "/exe") == false;
  }
  CHECK(gone);
}

TEST_CASE("a background process does not hold up the end of its parent") {
  const auto result = run_process(shell("sleep 300 & echo done"), 20s, 1000);
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.output == "done\n");
  CHECK(result.seconds < 10);
}

TEST_CASE("output, memory and stop requests are limits too") {
  CHECK(run_process(shell("yes"), 10s, 5000).end == ProcessEnd::too_verbose);
  CHECK(run_process(shell("yes"), 10s, 5000).output.size() == 5000);
  auto hungry = shell("x=1234567890; while :; do x=$x$x; done");
  hungry.memory_bytes = 200 << 20;
  const auto result = run_process(hungry, 20s, 100000);
  CHECK((result.end == ProcessEnd::signalled ||
         (result.end == ProcessEnd::exited && result.code != 0)));
  std::stop_source source;
  source.request_stop();
  CHECK(run_process(shell("sleep 300"), 20s, 1000, source.get_token()).end == ProcessEnd::stopped);
}

TEST_CASE("a signal's number comes back") {
  const auto result = run_process(shell("kill -SEGV $$"), 10s, 1000);
  CHECK(result.end == ProcessEnd::signalled);
  CHECK(result.code == SIGSEGV);
}

TEST_CASE("a program that is missing is an environment error that names it") {
  ProcessSpec spec;
  spec.argv = {"no-such-program"};
  spec.environment = {"PATH=/usr/bin:/bin"};
  CHECK_THROWS_WITH_AS(static_cast<void>(run_process(spec, 1s, 10)),
                       "cannot start no-such-program: not found in /usr/bin:/bin", warpath::Error);
  spec.argv = {"/no/such/program"};
  CHECK_THROWS_AS(static_cast<void>(run_process(spec, 1s, 10)), warpath::Error);
}

TEST_CASE("nothing is leaked: no descriptor, no zombie") {
  static_cast<void>(run_process(shell("true"), 10s, 10));
  const auto before = open_descriptors();
  for (int i = 0; i < 20; ++i) static_cast<void>(run_process(shell("exit 1"), 10s, 10));
  for (int i = 0; i < 5; ++i) {
    Child child(shell("cat"));
  }
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a conversation goes both ways, and its end is told apart from silence") {
  Child child(shell("read line; echo got $line; sleep 300"));
  const std::string text = "ping\n";
  const auto soon = [] { return std::chrono::steady_clock::now() + 10s; };
  CHECK(child.write(std::as_bytes(std::span(text.data(), text.size())), soon(), {}) ==
        Child::Io::done);
  std::string reply(9, '\0');
  CHECK(child.read(std::as_writable_bytes(std::span(reply.data(), reply.size())), soon(), {}) ==
        Child::Io::done);
  CHECK(reply == "got ping\n");
  CHECK(child.read(std::as_writable_bytes(std::span(reply.data(), 1)),
                   std::chrono::steady_clock::now() + 50ms, {}) == Child::Io::timed_out);
  CHECK(WIFSIGNALED(child.kill()));
  CHECK(child.read(std::as_writable_bytes(std::span(reply.data(), 1)), soon(), {}) ==
        Child::Io::closed);
}

TEST_CASE("what can be moved without waiting is moved, and silence is told apart from the end") {
  Child child(shell("read line; echo got $line"));
  std::array<std::byte, 100> bytes{};
  CHECK(child.read_some(bytes) == 0);
  const std::string text = "ping\n";
  CHECK(child.write_some(std::as_bytes(std::span(text))) == text.size());
  std::size_t got = 0;
  pollfd wait{child.fd(), POLLIN, 0};
  while (::poll(&wait, 1, 10000) == 1) {
    const auto more = child.read_some(std::span(bytes).subspan(got));
    if (!more) break;
    got += *more;
  }
  CHECK(got == 9);
  CHECK_FALSE(child.read_some(bytes).has_value());
  CHECK(child.wait(10s) == 0);
  CHECK(child.peak_memory_bytes() > 100000);
}

TEST_CASE("a child may be held to a number of descriptors") {
  auto limited = shell("ulimit -n");
  limited.open_files = 17;
  CHECK(run_process(limited, 10s, 100).output == "17\n");
}

TEST_CASE("a child outlives the thread that started it") {
  std::unique_ptr<Child> child;
  std::thread([&] { child = std::make_unique<Child>(shell("exec sleep 300")); }).join();
  std::this_thread::sleep_for(100ms);
  CHECK(::kill(child->pid(), 0) == 0);
  CHECK(WIFSIGNALED(child->kill()));
}

TEST_CASE("a child is killed with the process that started it, however that ends") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t starter = ::fork();
  if (starter == 0) {
    const Child child(shell("exec sleep 300"));
    const pid_t pid = child.pid();
    static_cast<void>(!::write(ends[1], &pid, sizeof pid));
    ::kill(::getpid(), SIGKILL);
  }
  pid_t child = 0;
  REQUIRE(::read(ends[0], &child, sizeof child) == static_cast<ssize_t>(sizeof child));
  REQUIRE(::waitpid(starter, nullptr, 0) == starter);
  const auto gone = [&] {  // or a zombie that nobody has reaped yet
    std::ifstream file("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(file, text);
    return text.empty() || text.find(") Z") != std::string::npos;
  };
  for (int i = 0; i < 100 && !gone(); ++i) std::this_thread::sleep_for(50ms);
  CHECK(gone());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a worker is spoken to in frames of any size, and its folder goes with it") {
  std::filesystem::path folder;
  {
    WorkerProcess worker({.argv = {"/bin/cat"}});
    folder = std::filesystem::read_symlink("/proc/" + std::to_string(worker.pid()) + "/cwd");
    CHECK(std::filesystem::is_empty(folder));
    std::string large(5 << 20, 'x');
    for (std::size_t i = 0; i < large.size(); i += 1000)
      large[i] = static_cast<char>('a' + i / 1000 % 26);
    worker.send("first");
    worker.send(large);
    std::vector<std::string> echoed;
    while (echoed.size() < 2) {
      pollfd wait{worker.fd(),
                  static_cast<short>(worker.wants_to_write() ? POLLIN | POLLOUT : POLLIN), 0};
      REQUIRE(::poll(&wait, 1, 10000) == 1);
      REQUIRE(worker.pump());
      while (auto message = worker.receive()) echoed.push_back(std::move(*message));
    }
    CHECK(echoed[0] == "first");
    CHECK(echoed[1] == large);
    const int status = worker.kill();
    CHECK(WIFSIGNALED(status));
    CHECK_FALSE(worker.pump());
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_SUITE_END();
