#include "runners/worker/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::int64_t kOpenFiles = 64;
/// Time allowed between the end of the stream and the end of the process.
constexpr std::chrono::seconds kOwnEnd{1};
/// Longest delay until a stop request is noticed, and longest single wait otherwise.
constexpr std::int64_t kStopTickMs = 20, kTickMs = 1000;

ProcessSpec locked_down(const LockedWorker& worker, const std::string& folder) {
  ProcessSpec spec;
  spec.argv = worker.argv;
  spec.directory = folder;
  spec.memory_bytes = static_cast<std::int64_t>(worker.memory_bytes);
  spec.file_bytes = 1;
  spec.open_files = kOpenFiles;
  spec.niceness = worker.niceness;
  return spec;
}

}  // namespace

std::string WorkerEnd::text() const {
  return (signalled ? "signal " : "exit status ") + std::to_string(code);
}

WorkerProcess::WorkerProcess(const ProcessSpec& spec) : child_(spec), fd_(child_->fd()) {}

WorkerProcess::WorkerProcess(const LockedWorker& worker) {
  folder_.emplace("worker");
  fd_ = child_.emplace(locked_down(worker, folder_->path().string())).fd();
}

WorkerProcess::WorkerProcess(const std::function<void(int fd)>& body) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw environment_error(std::string("no socket for a worker: ") + std::strerror(errno));
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fd_ = ends[0];
  thread_ = std::thread([body, fd = ends[1]] {
    body(fd);
    ::close(fd);
  });
}

WorkerProcess::~WorkerProcess() {
  if (child_) return;  // killed by its own destructor
  static_cast<void>(end({}));
  ::close(fd_);
}

WorkerEnd WorkerProcess::end(std::chrono::duration<double> grace) {
  if (!child_) {
    ::shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    return {};
  }
  const int status = child_->wait(grace);
  return {.signalled = WIFSIGNALED(status),
          .code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
          .peak_memory_bytes = child_->peak_memory_bytes()};
}

void WorkerProcess::finish(std::chrono::duration<double> grace) {
  ::shutdown(fd_, SHUT_WR);
  static_cast<void>(end(grace));
}

void WorkerProcess::send(std::string frame, int descriptor) {
  outgoing_.push_back({.bytes = std::move(frame), .descriptor = descriptor});
  static_cast<void>(pump());
}

/// False if the stream accepts no more now, or is closed.
bool WorkerProcess::write_some(Outgoing& frame) {
  iovec part{frame.bytes.data() + frame.done, frame.bytes.size() - frame.done};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (frame.descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof frame.descriptor);
    std::memcpy(CMSG_DATA(head), &frame.descriptor, sizeof frame.descriptor);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  if (sent <= 0) return false;
  frame.descriptor = -1;
  frame.done += static_cast<std::size_t>(sent);
  return true;
}

/// Writes and reads what is possible without waiting, but reads no further than the first frame
/// that has not been taken. False at the end of the stream.
bool WorkerProcess::pump() {
  while (!outgoing_.empty() && write_some(outgoing_.front())) {
    if (outgoing_.front().done == outgoing_.front().bytes.size()) outgoing_.pop_front();
  }
  std::array<char, 1U << 16U> bytes;
  while (!decoder_.ready()) {
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      decoder_.feed({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && errno == EAGAIN;
    }
  }
  return true;
}

bool WorkerProcess::idle() {
  return pump() && !decoder_.mid_frame();
}

WorkerReply WorkerProcess::wait(Clock::time_point deadline, const std::stop_token& stop) {
  using Kind = WorkerReply::Kind;
  while (true) {
    const bool open = pump();
    if (auto frame = decoder_.next()) return {Kind::frame, std::move(*frame), {}};
    if (decoder_.broken()) return {Kind::damaged, "", end({})};
    if (!open) return {Kind::ended, "", end(kOwnEnd)};
    if (stop.stop_requested()) return {Kind::stopped, "", end({})};
    const std::int64_t left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return {Kind::timed_out, "", end({})};
    pollfd entry{.fd = fd_,
                 .events = static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT),
                 .revents = 0};
    const std::int64_t tick = stop.stop_possible() ? kStopTickMs : kTickMs;
    static_cast<void>(::poll(&entry, 1, static_cast<int>(std::min(left, tick))));
  }
}

WorkerReply WorkerProcess::wait(double seconds, const std::stop_token& stop) {
  constexpr double kLongest = 1e8;  // and whatever is no number
  const std::chrono::duration<double> limit(seconds < kLongest ? seconds : kLongest);
  return wait(Clock::now() + std::chrono::duration_cast<Clock::duration>(limit), stop);
}

}  // namespace warpath
