#include "runners/cuda/lanes/device_lane.h"

#include <cstdlib>

#include "engine/base/error.h"
#include "runners/cuda/lanes/device_worker.h"
#include "runners/cuda/plan/gate.h"
#include "runners/worker/worker_process.h"

namespace warpath::cuda {
namespace {

constexpr double kOpenSeconds = 60;
constexpr std::chrono::seconds kGrace{20};

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

}  // namespace

/// A worker that was asked to open its device.
class DeviceLane::Link : public WorkerProcess {
 public:
  explicit Link(const LaneSetup& setup)
      : WorkerProcess(ProcessSpec{.argv = setup.argv, .environment = worker_environment()}) {
    send(encode(OpenDevice{.options = setup.options}));
  }
  /// In a thread of this process.
  Link(const LaneSetup& setup, int gpu) : WorkerProcess([gpu](int fd) { serve_device(fd, gpu); }) {
    send(encode(OpenDevice{.options = setup.options}));
  }

  /// Receives the reply to the last request; false if there is none.
  template <class Reply>
  [[nodiscard]] bool receive(Reply& reply, double seconds) {
    const WorkerReply got = wait(seconds);
    return got.kind == WorkerReply::Kind::frame && decode(got.frame, reply);
  }
  template <class Reply>
  [[nodiscard]] bool ask(std::string request, Reply& reply, double seconds) {
    send(std::move(request));
    return receive(reply, seconds);
  }

  std::optional<DeviceHello> hello;  ///< nullopt: not waited for yet
};

DeviceLane::DeviceLane(LaneSetup setup) : setup_(std::move(setup)) {}
DeviceLane::~DeviceLane() = default;

std::unique_ptr<DeviceLane::Link> DeviceLane::start() const {
  return setup_.argv.empty() ? std::make_unique<Link>(setup_, setup_.gpu)
                             : std::make_unique<Link>(setup_);
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
    if (link_->hello) {
      hello = *link_->hello;
    } else if (!link_->receive(hello, kOpenSeconds)) {
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
  if (spare_ && !spare_->hello) {
    DeviceHello hello;
    if (spare_->receive(hello, kOpenSeconds))
      spare_->hello = std::move(hello);
    else
      spare_.reset();  // the next start will say why
  }
}

void DeviceLane::close() {
  spare_.reset();
  if (link_) link_->finish(kGrace);
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
  using Kind = WorkerReply::Kind;
  link_->send(encode(request));
  const WorkerReply got = link_->wait(setup_.evaluation_seconds, stop);
  if (got.kind == Kind::frame && decode(got.frame, reply)) {
    if (!reply.trouble.empty()) ++failures_;
    if (reply.trouble.empty()) failures_ = 0;
    if (reply.poisoned || !reply.trouble.empty()) retire();
    return reply;
  }
  retire();
  reply = {};
  if (got.kind == Kind::stopped) {
    reply.trouble = "stopped";
    return reply;
  }
  const bool late = got.kind == Kind::timed_out;
  reply.status = late ? Status::timed_out : Status::crashed;
  reply.log = late ? "the evaluation did not end in time; its process was killed"
                   : "the evaluation ended its process";
  reply.gates.push_back({std::string(kIsolationGate), GateResult::Answer::fail, reply.log});
  reply.poisoned = true;
  return reply;
}

}  // namespace warpath::cuda
