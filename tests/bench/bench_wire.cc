#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "runners/cluster/socket.h"
#include "runners/cuda/measure/messages.h"
#include "runners/worker/worker_process.h"

namespace {

using namespace warpath;
using namespace warpath::cuda;

/// A candidate with 30 kB of machine code and as much PTX, to be run on three workloads.
Evaluate typical_request() {
  Evaluate request;
  request.candidate.key = std::string(32, 'a');
  request.candidate.codes = {
      {std::string(30000, '\xee'), "_Z4copyPf", {"counter"}, std::string(30000, 'p'), false}};
  request.candidate.code_of = {0, 0, 0};
  request.candidate.numbers.resize(3);
  request.seed = 0xfeedfacecafebeefULL;
  return request;
}

/// What passes all gates says: 20 gates, three timings of 30 samples a side, 40 facts.
TrialReply typical_reply() {
  TrialReply reply;
  reply.status = Status::ok;
  for (int i = 0; i < 20; ++i)
    reply.gates.push_back({"gate_" + std::to_string(i), GateResult::Answer::pass,
                           "worst 0.25 of the tolerance in 1048576 elements"});
  for (int i = 0; i < 3; ++i) {
    WorkloadTiming timing;
    timing.workload = "workload_" + std::to_string(i);
    timing.cache = "cold";
    timing.samples_ns.assign(30, 131072.5);
    timing.baseline_samples_ns.assign(30, 262144.5);
    reply.timings.push_back(timing);
  }
  for (int i = 0; i < 40; ++i)
    reply.diagnosis.facts["fact_number_" + std::to_string(i)] = {0.5, FactSource::measured};
  return reply;
}

/// A request to a worker and its reply, both encoded, sent and decoded; time is that of both sides
/// on the processor.
void bm_exchange(benchmark::State& bench) {
  WorkerProcess worker([](int fd) {
    const TrialReply reply = typical_reply();
    std::string frame;
    DeviceRequest request;
    while (read_frame(fd, frame) == FrameStatus::done && decode(frame, request) &&
           write_frame(fd, encode(reply)) == FrameStatus::done) {
    }
  });
  const Evaluate request = typical_request();
  TrialReply reply;
  for (auto _ : bench) {
    worker.send(encode(request));
    if (!decode(worker.wait(60).frame, reply)) bench.SkipWithError("the exchange failed");
  }
}

/// A frame of so many bytes to a member of a cluster and back, over TCP on this machine.
void bm_member_frame(benchmark::State& bench) {
  cluster::Listener listener(0);
  std::jthread echo([&] {
    std::optional<cluster::Socket> socket = listener.accept(std::chrono::seconds(10));
    for (std::string frame; socket && socket->read(frame) == FrameStatus::done;) {
      if (!socket->write(frame)) break;
    }
  });
  cluster::Socket socket =
      cluster::Socket::connect("localhost", listener.port(), std::chrono::seconds(10));
  std::string frame = open_frame(), back;
  frame.append(static_cast<std::size_t>(bench.range(0)), 'x');
  close_frame(frame);
  while (bench.KeepRunning()) {
    if (!socket.write(frame) || socket.read(back) != FrameStatus::done)
      bench.SkipWithError("the exchange failed");
  }
  socket.shut_down();
}

/// Both messages to bytes and back, without a stream.
void bm_codec(benchmark::State& bench) {
  const Evaluate request = typical_request();
  const TrialReply reply = typical_reply();
  DeviceRequest request_back;
  TrialReply reply_back;
  for (auto _ : bench) {
    if (!decode(encode(request), request_back) || !decode(encode(reply), reply_back))
      bench.SkipWithError("the codec failed");
  }
}

BENCHMARK(bm_exchange)->Unit(benchmark::kMicrosecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(bm_member_frame)
    ->Arg(64)
    ->Arg(4 << 10)
    ->Arg(64 << 10)
    ->Arg(1 << 20)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
BENCHMARK(bm_codec)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
