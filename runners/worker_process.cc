#include "runners/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/error.h"

namespace warpath {
namespace {

constexpr int kExitCannotStart = 127;

std::string make_empty_folder() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string pattern = (error ? std::filesystem::path("/tmp") : base) / "warpath-worker-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw environment_error(pattern + ": cannot be made: " + std::strerror(errno));
  return pattern;
}

void limit(int resource, rlim_t value) {
  const rlimit both{.rlim_cur = value, .rlim_max = value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become_worker(int socket, const char* folder, char* const* argv, std::uint64_t memory_bytes, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitCannotStart);
  ::setpgid(0, 0);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (::chdir(folder) != 0 || nowhere < 0 || ::dup2(socket, 0) < 0 || ::dup2(socket, 1) < 0 || ::dup2(nowhere, 2) < 0) {
    ::_exit(kExitCannotStart);
  }
#ifdef SYS_close_range
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 64);
  if (memory_bytes > 0) limit(RLIMIT_AS, memory_bytes);
  char* const no_environment[] = {nullptr};
  ::execve(argv[0], argv, no_environment);
  ::_exit(kExitCannotStart);
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) : folder_(make_empty_folder()) {
  std::vector<std::string> arguments = command.argv;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become_worker(ends[1], folder_.c_str(), argv.data(), command.memory_bytes, parent);
    ::close(ends[1]);
  }
  if (pid_ < 0) {
    const std::string reason = std::strerror(errno);
    if (ends[0] >= 0) ::close(ends[0]);
    ::rmdir(folder_.c_str());
    throw environment_error("cannot start a worker process: " + reason);
  }
  socket_ = ends[0];
  ::fcntl(socket_, F_SETFL, O_NONBLOCK);
}

WorkerProcess::~WorkerProcess() {
  kill();
  ::close(socket_);
  ::rmdir(folder_.c_str());
}

void WorkerProcess::send(std::string_view payload) {
  outgoing_ += frame(payload);
  static_cast<void>(pump());
}

bool WorkerProcess::pump() {
  while (!outgoing_.empty()) {
    const ssize_t put = ::send(socket_, outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) break;  // full, or gone: reading tells which
    outgoing_.erase(0, static_cast<std::size_t>(put));
  }
  char bytes[1U << 16U];
  while (true) {
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) {
      decoder_.feed({bytes, static_cast<std::size_t>(got)});
    } else if (got == 0) {
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return !decoder_.broken();
    } else if (errno != EINTR) {
      return false;
    }
  }
}

void WorkerProcess::kill() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // should it not lead its group yet
  rusage usage{};
  while (::wait4(pid_, &status_, 0, &usage) < 0 && errno == EINTR) {
  }
  peak_memory_bytes_ = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
  pid_ = -1;
}

}  // namespace warpath
