#include "runners/worker/process.h"

#include <dirent.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "runners/worker/wire.h"
#include "runners/worker/worker_process.h"

using namespace std::chrono_literals;
using warpath::Child;
using warpath::decode_frame;
using warpath::encode_frame;
using warpath::ProcessEnd;
using warpath::ProcessSpec;
using warpath::read_frame;
using warpath::run_process;
using warpath::WorkerProcess;
using warpath::WorkerReply;
using warpath::write_frame;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin", "GREETING=hello"};
  return spec;
}

const warpath::LockedWorker echo{.argv = {"/bin/cat"}};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE(
    "a process may be less urgent than the one that starts it, and those that it starts too") {
  ProcessSpec spec = shell("nice; sh -c nice");
  const std::string own = run_process(spec, 10s, 4096).output;
  spec.niceness = 3;
  const int before = std::stoi(own);
  const std::string expected = std::to_string(std::min(before + 3, 19)) + "\n";
  CHECK(run_process(spec, 10s, 4096).output == expected + expected);
}

TEST_CASE("the last line of an output is the last that says something") {
  using warpath::last_line;
  CHECK(last_line("first\nsecond \r\n\n") == "second");
  CHECK(last_line("alone") == "alone");
  CHECK(last_line(" \n\n").empty());
}

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
    WorkerProcess worker(echo);
    folder = std::filesystem::read_symlink("/proc/" + std::to_string(worker.pid()) + "/cwd");
    CHECK(std::filesystem::is_empty(folder));
    std::string large(5 << 20, 'x');
    for (std::size_t i = 0; i < large.size(); i += 1000)
      large[i] = static_cast<char>('a' + i / 1000 % 26);
    CHECK(worker.idle());
    worker.send(encode_frame(std::string("first")));
    worker.send(encode_frame(large));
    std::string echoed;
    REQUIRE(decode_frame(worker.wait(10).frame, echoed));
    CHECK(echoed == "first");
    REQUIRE(decode_frame(worker.wait(10).frame, echoed));
    CHECK(echoed == large);
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE(
    "silence, a stop request, the end and nonsense are told apart, and each ends the worker") {
  const auto gone = [](pid_t pid) { return ::kill(pid, 0) != 0; };
  {
    WorkerProcess silent(echo);
    const WorkerReply reply = silent.wait(0.05);
    CHECK(reply.kind == WorkerReply::Kind::timed_out);
    CHECK(reply.end.text() == "signal 9");
    CHECK(gone(silent.pid()));
    CHECK_FALSE(silent.idle());
    silent.send(encode_frame(1));  // to nobody
    CHECK(silent.wait(10).kind == WorkerReply::Kind::ended);
  }
  {
    WorkerProcess stopped(echo);
    std::stop_source source;
    source.request_stop();
    CHECK(stopped.wait(10, source.get_token()).kind == WorkerReply::Kind::stopped);
    CHECK(gone(stopped.pid()));
  }
  {
    const std::string frame = encode_frame(std::string("last"));
    WorkerProcess ending(shell("head -c " + std::to_string(frame.size()) + "; exit 3"));
    ending.send(frame);
    CHECK(ending.wait(10).frame == frame);
    const WorkerReply reply = ending.wait(10);
    CHECK(reply.kind == WorkerReply::Kind::ended);
    CHECK(reply.end.text() == "exit status 3");
    CHECK(reply.end.peak_memory_bytes > 100000);
  }
  CHECK(WorkerProcess(shell("kill -SEGV $$")).wait(10).end.text() == "signal 11");
  CHECK(WorkerProcess(shell("echo this is no frame; sleep 300")).wait(10).kind ==
        WorkerReply::Kind::damaged);
  CHECK(WorkerProcess(shell("echo WPf1; sleep 300")).wait(0.05).kind ==
        WorkerReply::Kind::timed_out);  // the begin of one
}

TEST_CASE("a worker that sends without end costs no memory, nor does one that lies about a size") {
  const std::string header = R"(WPf1\001\0\0\0\0\0\0\0)";
  WorkerProcess endless(shell("while :; do printf '" + header + "x'; done"));
  for (int i = 0; i < 3; ++i) CHECK(endless.wait(10).kind == WorkerReply::Kind::frame);
  WorkerProcess lying(shell(R"(printf 'WPf1\0\0\0\0\0\0\0\001'; sleep 300)"));
  CHECK(lying.wait(10).kind == WorkerReply::Kind::damaged);
}

TEST_CASE("a worker may be a thread, which ends with the stream") {
  bool ended = false;
  {
    WorkerProcess worker([&](int fd) {
      std::string frame;
      while (read_frame(fd, frame) == warpath::FrameStatus::done &&
             write_frame(fd, frame) == warpath::FrameStatus::done) {
      }
      ended = true;
    });
    CHECK(worker.pid() == -1);
    worker.send(encode_frame(7));
    int echoed = 0;
    REQUIRE(decode_frame(worker.wait(10).frame, echoed));
    CHECK(echoed == 7);
  }
  CHECK(ended);
}

TEST_CASE("a worker that is told to finish ends by itself") {
  WorkerProcess worker(shell("cat; exit 5"));
  worker.finish(10s);
  CHECK(worker.wait(1).end.code == 5);
}

TEST_SUITE_END();
