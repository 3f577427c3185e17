#include "runners/cuda/lanes/device_lane.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "engine/base/error.h"
#include "runners/cuda/gates/gate.h"
#include "runners/cuda/lanes/device_worker.h"
#include "runners/worker/frames.h"

namespace warpath::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kOpenSeconds = 60;

/// What a device worker may know of its surroundings: where the driver is, nothing else.
std::vector<std::string> worker_environment() {
  std::vector<std::string> out;
  for (const char* const name :
       {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
        "CUDA_PATH", "SSH_AUTH_SOCK", "NVIDIA_VISIBLE_DEVICES", "WARPATH_CACHE",
        "XDG_CACHE_HOME"}) {
    if (const char* const value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

/// A worker, and the stream to it.
class DeviceLane::Link {
 public:
  explicit Link(const LaneSetup& setup) {
    if (!setup.argv.empty()) {
      ProcessSpec process;
      process.argv = setup.argv;
      process.environment = worker_environment();
      child_.emplace(process);
      fd_ = child_->fd();
      return;
    }
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw environment_error("no socket for a device worker");
    }
    fd_ = ends[0];
    thread_ = std::thread([fd = ends[1], gpu = setup.gpu] {
      serve_device(fd, gpu);
      ::close(fd);
    });
  }
  ~Link() {
    if (child_) return;  // killed by its destructor
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] bool send(std::string_view payload, Clock::time_point deadline) {
    const std::string bytes = frame(payload);
    std::size_t done = 0;
    while (done < bytes.size()) {
      if (!wait(POLLOUT, deadline, {})) return false;
      const ssize_t put =
          ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && errno != EINTR && errno != EAGAIN) return false;
      if (put > 0) done += static_cast<std::size_t>(put);
    }
    return true;
  }

  enum class Got { message, closed, late, stopped };
  [[nodiscard]] Got receive(std::string& payload,
                            Clock::time_point deadline,
                            const std::stop_token& stop) {
    if (!wait(POLLIN, deadline, stop)) return stop.stop_requested() ? Got::stopped : Got::late;
    switch (read_frame(fd_, payload, kMaxFrameBytes, deadline)) {
      case FrameStatus::done:
        return Got::message;
      case FrameStatus::timed_out:
        return Got::late;
      default:
        return Got::closed;
    }
  }

  /// No more requests: the worker ends by itself, within a time.
  void finish() {
    constexpr std::chrono::duration<double> kGrace{20};
    ::shutdown(fd_, SHUT_WR);
    if (child_) static_cast<void>(child_->wait(kGrace));
  }

  /// Sends a request and decodes its answer; false if there is none.
  template <class Reply>
  [[nodiscard]] bool ask(const std::string& request, Reply& reply, double seconds) {
    std::string payload;
    return send(request, after(seconds)) && receive(payload, after(seconds), {}) == Got::message &&
           decode(payload, reply);
  }

  bool opening = false;  ///< its hello has been asked for
  std::string hello;     ///< as it came; empty: not yet

 private:
  /// False at the deadline, or when `stop` is requested.
  [[nodiscard]] bool wait(short events,
                          Clock::time_point deadline,
                          const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      pollfd entry{.fd = fd_, .events = events, .revents = 0};
      constexpr std::int64_t kTick = 100;  // how late a stop may be seen
      if (::poll(&entry, 1, static_cast<int>(std::min(left, kTick))) > 0) return true;
    }
    return false;
  }

  std::optional<Child> child_;
  std::thread thread_;
  int fd_ = -1;
};

DeviceLane::DeviceLane(LaneSetup setup) : setup_(std::move(setup)) {}
DeviceLane::~DeviceLane() = default;

std::unique_ptr<DeviceLane::Link> DeviceLane::start() const {
  auto link = std::make_unique<Link>(setup_);
  link->opening = link->send(encode(OpenDevice{.options = setup_.options}), after(kOpenSeconds));
  return link;
}

void DeviceLane::retire() {
  link_.reset();
  equipped_ = prepared_ = false;
}

void DeviceLane::ensure_ready() {
  const auto fail = [&](const std::string& why) {
    retire();
    ++failures_;
    throw environment_error(setup_.label + ": " + why);
  };
  if (!link_) {
    if (hello_) ++restarts_;
    link_ = spare_ ? std::move(spare_) : start();
    DeviceHello hello;
    std::string payload;
    payload = link_->hello;
    const bool answers =
        !payload.empty() ||
        (link_->opening && link_->receive(payload, after(kOpenSeconds), {}) == Link::Got::message);
    if (!answers || !decode(payload, hello)) {
      fail("the worker does not answer");
    }
    if (!hello.problem.empty()) fail(hello.problem);
    hello_ = hello;
  }
  if (tools_ && !equipped_) {
    Done done;
    if (!link_->ask(encode(*tools_), done, kOpenSeconds))
      fail("the worker does not take its tools");
    if (!done.problem.empty()) fail(done.problem);
    equipped_ = true;
  }
  // A spare that opens the device slows what runs there: it starts beside the preparation, and
  // nothing is evaluated before it stands by.
  if (setup_.spare && equipped_ && !spare_ && !setup_.argv.empty()) spare_ = start();
  if (problem_ && !prepared_) {
    Done done;
    if (!link_->ask(encode(*problem_), done, setup_.prepare_seconds))
      fail("the worker ended over the spec");
    if (!done.problem.empty()) fail(done.problem);
    prepared_ = true;
  }
  if (spare_ && spare_->hello.empty() &&
      (!spare_->opening ||
       spare_->receive(spare_->hello, after(kOpenSeconds), {}) != Link::Got::message)) {
    spare_.reset();  // the next start will say why
  }
}

void DeviceLane::close() {
  spare_.reset();
  if (link_) link_->finish();
  retire();
}

const DeviceHello& DeviceLane::open() {
  ensure_ready();
  return *hello_;
}

void DeviceLane::equip(DeviceTools tools) {
  tools_ = std::move(tools);
  equipped_ = false;
  ensure_ready();
}

void DeviceLane::prepare(const PrepareProblem& problem) {
  problem_ = problem;
  prepared_ = false;
  ensure_ready();
}

TrialReply DeviceLane::evaluate(const Evaluate& request, const std::stop_token& stop) {
  TrialReply reply;
  try {
    ensure_ready();
  } catch (const Error& error) {
    if (failed()) {
      throw environment_error(std::string(error.what()) +
                              "; it failed three times in a row and is taken out");
    }
    reply.trouble = error.what();
    return reply;
  }
  std::string payload;
  const auto deadline = after(setup_.evaluation_seconds);
  Link::Got got = Link::Got::closed;
  if (link_->send(encode(request), deadline)) got = link_->receive(payload, deadline, stop);
  if (got == Link::Got::message && decode(payload, reply)) {
    if (!reply.trouble.empty()) ++failures_;
    if (reply.trouble.empty()) failures_ = 0;
    if (reply.poisoned || !reply.trouble.empty()) retire();
    return reply;
  }
  retire();
  reply = {};
  if (got == Link::Got::stopped) {
    reply.trouble = "stopped";
    return reply;
  }
  const bool late = got == Link::Got::late;
  reply.status = late ? Status::timed_out : Status::crashed;
  reply.log = late ? "the evaluation did not end in time; its process was killed"
                   : "the evaluation ended its process";
  reply.gates.push_back({std::string(kIsolationGate), GateResult::Answer::fail, reply.log});
  reply.poisoned = true;
  return reply;
}

}  // namespace warpath::cuda
