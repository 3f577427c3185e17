#include "runners/worker/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "runners/worker/sandbox.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollSliceMs = 20;  // how soon a stop request is noticed

/// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int release() { return std::exchange(fd_, -1); }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::string resolve(const ProcessSpec& spec) {
  const std::string& name = spec.argv.at(0);
  if (name.find('/') != std::string::npos) return name;
  for (const auto& variable : spec.environment) {
    if (variable.rfind("PATH=", 0) != 0) continue;
    std::size_t begin = 5;
    while (begin <= variable.size()) {
      const std::size_t end = std::min(variable.find(':', begin), variable.size());
      const std::string path = variable.substr(begin, end - begin) + "/" + name;
      if (::access(path.c_str(), X_OK) == 0) return path;
      begin = end + 1;
    }
  }
  throw environment_error("cannot start " + name + ": not found in " + [&] {
    for (const auto& variable : spec.environment) {
      if (variable.rfind("PATH=", 0) == 0) return variable.substr(5);
    }
    return std::string("an empty PATH");
  }());
}

void limit(int resource, std::int64_t most) {
  if (most <= 0) return;
  const rlimit value{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &value);
}

/// Between fork and exec of a threaded parent: only async-signal-safe calls.
[[noreturn]] void become(const ProcessSpec& spec,
                         const char* path,
                         char* const* argv,
                         char* const* environment,
                         int in,
                         int out,
                         int error,
                         int report,
                         pid_t starter) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != starter) ::_exit(127);  // it ended before it could be watched
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGQUIT})
    ::signal(signal, SIG_DFL);
  // The sources may be 0..2 themselves: move them out of the way first.
  const int high_in = ::fcntl(in, F_DUPFD, 16), high_out = ::fcntl(out, F_DUPFD, 16);
  const int high_error = ::fcntl(error, F_DUPFD, 16), high_report = ::fcntl(report, F_DUPFD, 16);
  const int high_held = spec.held < 0 ? -1 : ::fcntl(spec.held, F_DUPFD, 16);
  ::dup2(high_in, 0);
  ::dup2(high_out, 1);
  ::dup2(high_error, 2);
  ::dup2(high_report, 3);
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  if (spec.sandbox != nullptr) spec.sandbox->enter();  // while its own descriptor is open
  if (high_held >= 0) ::dup2(high_held, 4);
  ::close_range(high_held >= 0 ? 5 : 4, ~0U, 0);
  int failed = 0;
  if (!spec.directory.empty() && ::chdir(spec.directory.c_str()) != 0) failed = errno;
  if (failed == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (spec.niceness > 0)
      ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + spec.niceness);
    limit(RLIMIT_AS, spec.memory_bytes);
    limit(RLIMIT_FSIZE, spec.file_bytes);
    limit(RLIMIT_CPU, spec.cpu_seconds);
    limit(RLIMIT_NOFILE, spec.open_files);
    ::execve(path, argv, environment);
    failed = errno;
  }
  [[maybe_unused]] const auto written = ::write(3, &failed, sizeof failed);
  ::_exit(127);
}

/// Runs calls one after the other on a thread that lives as long as the process. PR_SET_PDEATHSIG
/// refers to the thread that forked, not to the process: children forked by this thread die exactly
/// when the process does.
class Starter {
 public:
  static void run(const std::function<void()>& call) {
    static std::mutex making;
    static Starter* starter = nullptr;  // never freed: its thread never ends
    Starter* mine = nullptr;
    {
      const std::lock_guard lock(making);
      // a forked process has no threads
      if (starter == nullptr || starter->process_ != ::getpid()) starter = new Starter;
      mine = starter;
    }
    std::unique_lock lock(mine->mutex_);
    mine->free_.wait(lock, [&] { return mine->call_ == nullptr; });
    bool done = false;
    mine->call_ = &call, mine->done_ = &done;
    mine->wake_.notify_one();
    mine->finished_.wait(lock, [&] { return done; });
  }

 private:
  Starter() {
    std::thread([this] { loop(); }).detach();
  }
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return call_ != nullptr; });
      (*call_)();
      *done_ = true;
      call_ = nullptr;
      finished_.notify_all();
      free_.notify_one();
    }
  }
  const pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable wake_, free_, finished_;
  const std::function<void()>* call_ = nullptr;
  bool* done_ = nullptr;
};

pid_t spawn(const ProcessSpec& spec, int in, int out, int error) {
  const std::string path = resolve(spec);
  const auto argv = pointers(spec.argv), environment = pointers(spec.environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw environment_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  Fd report_read(ends[0]), report_write(ends[1]);
  pid_t pid = -1;
  int fork_error = 0;
  Starter::run([&] {
    // No signal handler of the parent may run in the child before exec.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t starter = ::getpid();
    pid = ::fork();
    fork_error = errno;
    if (pid == 0)
      become(spec, path.c_str(), argv.data(), environment.data(), in, out, error,
             report_write.get(), starter);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  if (pid < 0) throw environment_error("cannot start " + path + ": " + std::strerror(fork_error));
  ::setpgid(pid, pid);  // both sides, so that the group exists whoever runs first
  report_write.reset();
  int failed = 0;
  ssize_t got;
  while ((got = ::read(report_read.get(), &failed, sizeof failed)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof failed)) {
    ::waitpid(pid, nullptr, 0);
    throw environment_error("cannot start " + path + ": " + std::strerror(failed));
  }
  return pid;
}

int reap(pid_t pid, rusage& usage) {
  int status = 0;
  while (::wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return status;
}

/// True if the child has ended; its status is left for reap().
bool ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

int slice(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, kPollSliceMs));
}

}  // namespace

ProcessResult run_process(const ProcessSpec& spec,
                          std::chrono::duration<double> time_limit,
                          std::size_t output_limit_bytes,
                          const std::stop_token& stop) {
  const auto start = Clock::now();
  const auto deadline = start + std::chrono::duration_cast<Clock::duration>(time_limit);
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int ends[2];
  if (null.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    throw environment_error("cannot start " + spec.argv.at(0) + ": " + std::strerror(errno));
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  const pid_t pid = spawn(spec, null.get(), write_end.get(), write_end.get());
  write_end.reset();

  ProcessResult result;
  bool killed = false;
  const auto kill_as = [&](ProcessEnd end) { result.end = end, killed = true; };
  std::array<char, 1 << 16> buffer;
  // Ends with the child, not with the pipe: a grandchild may hold the pipe open for ever.
  bool open = true, last_round = false;
  while (!killed) {
    pollfd wait{read_end.get(), POLLIN, 0};
    if (open && !last_round) ::poll(&wait, 1, slice(deadline));
    if (!open && !last_round) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const ssize_t got = open ? ::read(read_end.get(), buffer.data(), buffer.size()) : -1;
    if (got > 0) result.output.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) open = false;
    if (result.output.size() > output_limit_bytes) kill_as(ProcessEnd::too_verbose);
    if (got > 0) continue;
    if (last_round) break;
    if (ended(pid))
      last_round = true;
    else if (Clock::now() >= deadline)
      kill_as(ProcessEnd::timed_out);
    else if (stop.stop_requested())
      kill_as(ProcessEnd::stopped);
  }
  ::kill(-pid, SIGKILL);  // also kills the child's own children; until the zombie is reaped, the
                          // group id cannot be reused
  rusage usage{};
  const int status = reap(pid, usage);
  if (result.output.size() > output_limit_bytes) result.output.resize(output_limit_bytes);
  if (!killed) {
    result.end = WIFSIGNALED(status) ? ProcessEnd::signalled : ProcessEnd::exited;
    result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

Child::Child(const ProcessSpec& spec) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw environment_error("cannot start " + spec.argv.at(0) + ": " + std::strerror(errno));
  }
  Fd mine(ends[0]);
  const Fd theirs(ends[1]);
  const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  pid_ = spawn(spec, theirs.get(), theirs.get(), null.get());
  ::fcntl(mine.get(), F_SETFL, O_NONBLOCK);
  socket_ = mine.release();
}

Child::~Child() {
  kill();
  ::close(socket_);
}

int Child::kill() {
  if (!reaped_) {
    ::kill(-pid_, SIGKILL);
    rusage usage{};
    status_ = reap(pid_, usage);
    peak_memory_bytes_ = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
    reaped_ = true;
  }
  return status_;
}

bool Child::ended() const {
  return reaped_ || warpath::ended(pid_);
}

int Child::wait(std::chrono::duration<double> time_limit) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(time_limit);
  while (!ended() && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return kill();
}

std::string last_line(std::string_view output) {
  while (!output.empty() && std::isspace(static_cast<unsigned char>(output.back())) != 0)
    output.remove_suffix(1);
  const std::size_t start = output.rfind('\n');
  return std::string(start == std::string_view::npos ? output : output.substr(start + 1));
}

}  // namespace warpath
