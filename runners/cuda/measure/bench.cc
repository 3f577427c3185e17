#include "runners/cuda/measure/bench.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "engine/base/counter_random.h"
#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/options.h"
#include "runners/inputs/packed_parameters.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kAnswerBytes = std::size_t{1} << 20U;
constexpr std::size_t kAnswerAlignment = 64;

Status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return Status::launch_error;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return Status::timed_out;
    default:
      return Status::crashed;
  }
}

}  // namespace

Answers::Answers(const DriverApi& api) : api_(api), memory_(allocate(api, kAnswerBytes)) {
  void* host = nullptr;
  require(api, api.cuMemAllocHost(&host, kAnswerBytes), "cannot allocate pinned memory");
  host_ = static_cast<std::byte*>(host);
}

Answers::~Answers() {
  note_release(api_.cuMemFreeHost(host_));
}

std::size_t Answers::place(std::size_t bytes) {
  const std::size_t here = used_;
  used_ += (bytes + kAnswerAlignment - 1) / kAnswerAlignment * kAnswerAlignment;
  if (used_ > kAnswerBytes) throw environment_error("more answers than one evaluation can have");
  return here;
}

void Answers::fetch() {
  if (used_ == 0) return;
  require(api_, api_.cuMemcpyDtoH(host_, memory_.get(), used_),
          "cannot read the answers of the GPU");
}

Bench::Bench(const Device& device,
             const std::string& harness_cubin,
             Peaks peaks,
             const CudaOptions& options)
    : device_(device),
      options_(options),
      limits_(device.limits()),
      harness_(device, harness_cubin),
      stream_(make_stream(device.api())),
      side_stream_(make_stream(device.api())),
      answers_(device.api()),
      flush_memory_(allocate(device.api(), harness_.flush_bytes())),
      canary_memory_(allocate(device.api(), kCanaryWords * sizeof(std::uint64_t))),
      noise_flag_(allocate(device.api(), sizeof(std::uint64_t))),
      held_flag_(allocate(device.api(), sizeof(std::uint64_t))),
      peaks_(std::move(peaks)) {
  char pci_bus_id[32] = {};
  require(api(), api().cuDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, device.handle()),
          "cannot read the GPU's bus identifier");
  std::string no_clocks;
  nvml_ = Nvml::open(pci_bus_id, no_clocks);
  std::random_device entropy;
  for (auto& word : secret_state_) word = std::uint64_t{entropy()} << 32U | entropy();
  require(api(), api().cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0),
          "cannot turn off the persisting level-2 cache");
  require(api(), api().cuMemsetD32(held_flag_.get(), held_, 1), "cannot set a flag");
}

Counters* Bench::counters(std::string& why) {
  if (!std::exchange(asked_for_counters_, true)) {
    counters_ = Counters::open(device_, "", no_counters_);
  }
  why = no_counters_;
  return counters_ ? &*counters_ : nullptr;
}

std::uint64_t Bench::secret() {
  return random_bits(secret_state_[0], secrets_++) ^ secret_state_[1];
}

void Bench::synchronize(std::string_view doing, double expected_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto limit = std::chrono::duration<double>(options_.launch_seconds + expected_seconds);
  constexpr auto kSpin = std::chrono::microseconds(500);
  for (;;) {
    const CUresult result = api().cuStreamQuery(stream());
    if (result == CUDA_SUCCESS) return;
    if (result != CUDA_ERROR_NOT_READY) {
      abandon_releases();
      throw CandidateFault{status_of(result), std::string(doing) + ": " + error_text(api(), result),
                           true};
    }
    const auto waited = Clock::now() - begin;
    if (waited > limit) {
      abandon_releases();
      throw CandidateFault{Status::timed_out,
                           std::string(doing) + " did not end within " +
                               number_text(options_.launch_seconds) + " s (cuda.launch_seconds)",
                           true};
    }
    if (waited > kSpin) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Bench::launch(const KernelFunction& kernel,
                   const LaunchNumbers& numbers,
                   const std::vector<ParameterLayout>& structs,
                   std::span<void*> arguments,
                   CUstream stream) {
  if (structs.empty()) return launch(kernel, numbers, arguments.data(), stream);
  PackedParameters packed(structs, arguments);
  launch(kernel, numbers, packed.pointers().data(), stream);
}

void Bench::launch(const KernelFunction& kernel,
                   const LaunchNumbers& numbers,
                   void** parameters,
                   CUstream stream) {
  CUlaunchConfig config{};
  const auto extent = [](std::int64_t n) { return static_cast<unsigned>(n); };
  config.gridDimX = extent(numbers.grid[0]);
  config.gridDimY = extent(numbers.grid[1]);
  config.gridDimZ = extent(numbers.grid[2]);
  config.blockDimX = extent(numbers.block[0]);
  config.blockDimY = extent(numbers.block[1]);
  config.blockDimZ = extent(numbers.block[2]);
  config.sharedMemBytes = extent(numbers.dynamic_smem_bytes);
  config.hStream = stream;
  CUlaunchAttribute cluster{};
  if (numbers.cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {extent(numbers.cluster[0]), extent(numbers.cluster[1]),
                                extent(numbers.cluster[2])};
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  const CUresult result = api().cuLaunchKernelEx(&config, kernel.function, parameters, nullptr);
  if (result == CUDA_SUCCESS) return;
  const Status status = status_of(result);
  if (status != Status::launch_error) abandon_releases();
  throw CandidateFault{status, "the launch was refused: " + error_text(api(), result),
                       status != Status::launch_error};
}

CUevent Bench::event(std::size_t i) {
  while (events_.size() <= i) events_.push_back(make_event(api()));
  return events_[i].get();
}

double Bench::elapsed_ns(std::size_t a, std::size_t b) {
  float ms = 0;
  require(api(), api().cuEventElapsedTime(&ms, event(a), event(b)), "cannot read an event");
  return static_cast<double>(ms) * 1e6;
}

double Bench::time(const std::function<void()>& work, std::string_view doing) {
  require(api(), api().cuEventRecord(event(0), stream()), "cannot record an event");
  work();
  require(api(), api().cuEventRecord(event(1), stream()), "cannot record an event");
  synchronize(doing);
  return elapsed_ns(0, 1);
}

double Bench::time_enqueued(const std::function<void()>& work, std::string_view doing) {
  hold_stream();
  require(api(), api().cuEventRecord(event(0), stream()), "cannot record an event");
  work();
  require(api(), api().cuEventRecord(event(1), stream()), "cannot record an event");
  release_stream(doing);
  return elapsed_ns(0, 1);
}

void Bench::hold_stream() {
  constexpr std::uint64_t kMostHeldNs = 100'000'000;
  // A value of its own: were the flag cleared here, behind what the stream still has to do, it
  // might be cleared after it is set.
  ++held_;
  harness_.spin(stream(), held_flag_.get(), held_, kMostHeldNs);
}

void Bench::release_stream(std::string_view doing) {
  require(api(), api().cuMemsetD32Async(held_flag_.get(), held_, 1, side_stream()),
          "cannot set a flag");
  synchronize(doing);
  require(api(), api().cuStreamSynchronize(side_stream()), "a flag could not be set");
}

void Bench::flush_l2() {
  harness_.flush_l2(stream(), flush_memory_.get(), harness_.flush_bytes(),
                    static_cast<std::uint32_t>(secret()));
}

void Bench::stir() {
  harness_.stir(stream(), secret());
}

void Bench::start_noise() {
  constexpr std::uint64_t kMostNs = 1'000'000'000;
  require(api(), api().cuMemsetD32Async(noise_flag_.get(), 0, 1, side_stream()),
          "cannot set a flag");
  harness_.noise(side_stream(), flush_memory_.get(), harness_.flush_bytes(),
                 std::max(1, limits_.multiprocessors / 2), noise_flag_.get(), 1, kMostNs);
}

void Bench::stop_noise() {
  require(api(), api().cuMemsetD32Async(noise_flag_.get(), 1, 1, stream()), "cannot set a flag");
  synchronize("the noise kernel's flag");
  require(api(), api().cuStreamSynchronize(side_stream()), "the noise kernel failed");
}

double Bench::launch_floor_ns() {
  if (launch_floor_ns_ > 0) return launch_floor_ns_;
  std::vector<double> samples;
  for (int i = 0; i < 32; ++i) {
    samples.push_back(time([&] { harness_.guard_fill(stream(), canary_memory_.get(), 16, 0); },
                           "a small kernel"));
  }
  return launch_floor_ns_ = median(samples);
}

CanaryReading Bench::watch() {
  constexpr double kRowNs = 8e6;
  double alone_ns = 0;
  if (const std::string problem = canary(alone_ns); !problem.empty())
    throw environment_error(problem);
  // The stream is held until all of them are enqueued: a host that is interrupted then leaves no
  // gap. No more than its queue takes.
  const auto launches = static_cast<std::size_t>(std::clamp(kRowNs / alone_ns, 64.0, 256.0));
  hold_stream();
  const std::uint64_t seed = secret();
  require(api(), api().cuEventRecord(event(0), stream()), "cannot record an event");
  for (std::size_t i = 0; i < launches; ++i) {
    harness_.canary(stream(), canary_memory_.get(), seed);
    require(api(), api().cuEventRecord(event(i + 1), stream()), "cannot record an event");
  }
  release_stream("the canary kernel");
  std::vector<double> each;
  for (std::size_t i = 0; i < launches; ++i) each.push_back(elapsed_ns(i, i + 1));
  const CanaryReading reading = read_canary(each, elapsed_ns(0, launches));
  canary_rest_ns_ =
      canary_rest_ns_ > 0 ? std::min(canary_rest_ns_, reading.median_ns) : reading.median_ns;
  return reading;
}

std::optional<std::vector<long>> Bench::foreign_processes() const {
  if (!nvml_) return std::nullopt;
  const auto all = nvml_->compute_processes();
  if (!all) return std::nullopt;
  // The engine is what started this worker; a worker in a thread of the engine is the engine.
  const bool is_worker = options_.isolation == "process";
  return foreign_to(*all, ::getpid(), is_worker ? ::getppid() : ::getpid(), parent_process);
}

std::string Bench::canary(double& ns) {
  const std::uint64_t seed = secret();
  std::vector<std::uint64_t> got(kCanaryWords);
  ns = time([&] { harness_.canary(stream(), canary_memory_.get(), seed); }, "the canary kernel");
  require(api(), api().cuMemcpyDtoH(got.data(), canary_memory_.get(), got.size() * sizeof got[0]),
          "cannot read the canary's answer");
  return got == canary_answer(seed) ? "" : "the canary kernel gave a wrong answer";
}

}  // namespace warpath::cuda
