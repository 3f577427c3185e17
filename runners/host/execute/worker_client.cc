#include "runners/host/execute/worker_client.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/base/temporary_folder.h"
#include "runners/host/execute/worker.h"
#include "runners/host/options.h"

namespace warpath::host {
namespace {

constexpr double kStartSeconds = 10;
/// Bytes of a reply beyond the outputs: samples.
constexpr std::uint64_t kReplyRoom = 4U << 20U;

WorkerLoss loss_of(const WorkerReply& reply) {
  using Kind = WorkerReply::Kind;
  if (reply.kind == Kind::timed_out) return {.kind = WorkerLoss::Kind::timed_out};
  if (reply.kind == Kind::stopped) return {.kind = WorkerLoss::Kind::stopped};
  if (reply.kind != Kind::ended) return {.kind = WorkerLoss::Kind::damaged};
  if (reply.end.signalled) return {.kind = WorkerLoss::Kind::signalled, .code = reply.end.code};
  return {.kind = reply.end.code == kWorkerOutOfMemory ? WorkerLoss::Kind::out_of_memory
                                                       : WorkerLoss::Kind::exited,
          .code = reply.end.code};
}

/// Times that candidates may have forged: they are no shorter than a launch can be, and did not
/// take longer than the runner waited for them.
bool can_be(const std::vector<double>& samples_ns, double seconds) {
  constexpr double kLeastNs = 1;
  return std::ranges::all_of(samples_ns, [](double ns) { return ns >= kLeastNs; }) &&
         std::accumulate(samples_ns.begin(), samples_ns.end(), 0.0) <= seconds * 1e9;
}

}  // namespace

int block_threads(const HostOptions& options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

WorkerClient::WorkerClient(std::string program, const HostOptions& options)
    : program_(std::move(program)), options_(options) {}

void WorkerClient::start() {
  ProcessSpec spec;
  spec.argv = {program_, "worker", "host"};
  spec.directory = temporary_root().string();
  spec.memory_bytes = options_.memory_mib << 20;
  spec.file_bytes = 1;
  worker_ = std::make_unique<WorkerProcess>(spec);
  ++started_;
  worker_->send(encode(StartCommand{.threads = block_threads(options_)}));
  Reply reply;
  // If the worker does not answer this, the next request reports it as lost.
  const WorkerReply got = worker_->wait(kStartSeconds);
  if (got.kind != WorkerReply::Kind::frame || !decode(got.frame, reply)) return;
  if (const auto* const hello = std::get_if<Hello>(&reply))
    sandbox_ = {.landlock = hello->landlock, .seccomp = hello->seccomp};
}

const Sandbox& WorkerClient::sandbox() {
  if (!worker_) start();
  return sandbox_;
}

template <class Expected>
Answer<Expected> WorkerClient::exchange(std::string request,
                                        Limit limit,
                                        const std::stop_token& stop,
                                        int descriptor) {
  if (!worker_) start();
  Answer<Expected> out;
  WorkerReply got;
  if (worker_->idle()) {
    worker_->set_max_bytes(output_bytes_ + kReplyRoom);
    worker_->send(std::move(request), descriptor);
    got = worker_->wait(limit.count(), stop);
  } else {
    got = worker_->wait(0);  // it has ended, or its reply may have been written by a candidate
    if (got.kind == WorkerReply::Kind::timed_out) got.kind = WorkerReply::Kind::damaged;
    if (got.kind == WorkerReply::Kind::frame) got.frame.clear();
  }
  Reply reply;
  if (got.kind == WorkerReply::Kind::frame && decode(got.frame, reply)) {
    if (auto* const expected = std::get_if<Expected>(&reply)) {
      out.reply = std::move(*expected);
      return out;
    }
    if (const auto* const words = std::get_if<LastWords>(&reply)) {
      if (const auto fault = words->fault())
        out.loss = {.kind = WorkerLoss::Kind::signalled, .code = fault->signal, .fault = fault};
    }
  }
  if (!out.loss) out.loss = loss_of(got);
  worker_.reset();
  return out;
}

Answer<LoadReply> WorkerClient::load(const std::string& object_path,
                                     std::size_t kernel,
                                     Limit limit,
                                     const std::stop_token& stop,
                                     std::size_t steps) {
  const int object = ::open(object_path.c_str(), O_RDONLY | O_CLOEXEC);
  auto answer = exchange<LoadReply>(
      encode(LoadCommand{.path = object_path, .kernel = kernel, .steps = steps}), limit, stop,
      object);
  if (object >= 0) ::close(object);
  return answer;
}

std::optional<WorkerLoss> WorkerClient::bind(const std::vector<BoundArgument>& arguments,
                                             Limit limit,
                                             const std::stop_token& stop,
                                             const std::vector<ParameterLayout>& parameters) {
  output_bytes_ = 0;
  for (const BoundArgument& argument : arguments) {
    if (argument.role != ArgRole::input) output_bytes_ += argument.size_bytes;
  }
  return exchange<Bound>(encode(BindCommand{arguments, parameters}), limit, stop).loss;
}

Answer<LaunchReply> WorkerClient::launch(const LaunchCommand& command,
                                         Limit limit,
                                         const std::stop_token& stop) {
  return exchange<LaunchReply>(encode(command), limit, stop);
}

Answer<LaunchReply> WorkerClient::time(const TimeCommand& command,
                                       Limit limit,
                                       const std::stop_token& stop) {
  const Stopwatch waiting;
  auto answer = exchange<LaunchReply>(encode(command), limit, stop);
  if (!answer.loss && answer.reply.end == BlockEnd::done &&
      !can_be(answer.reply.samples_ns, waiting.seconds())) {
    answer.loss = {.kind = WorkerLoss::Kind::damaged};
    worker_.reset();
  }
  return answer;
}

}  // namespace warpath::host
