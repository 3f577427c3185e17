#include "runners/cuda/measure/peaks_measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/driver/device.h"

namespace warpath::cuda {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr int kSamples = 7;
constexpr double kSampleNs =
    1.5e6;  // long enough that launching and the events' resolution do not count
constexpr unsigned kPeakThreads = 256;

/// Graph with everything that `submit` puts on `stream`, ready to run.
GraphExec capture(const DriverApi& api, CUstream stream, const std::function<void()>& submit) {
  require(api, api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cannot capture a graph");
  submit();
  CUgraph raw = nullptr;
  require(api, api.cuStreamEndCapture(stream, &raw), "cannot capture a graph");
  const Graph graph(api, raw);
  CUgraphExec exec = nullptr;
  require(api, api.cuGraphInstantiate(&exec, raw, 0), "cannot prepare a graph");
  return {api, exec};
}

/// What the measurements share: the kernels, a stream, a pair of events, two buffers.
class PeakBench {
 public:
  PeakBench(const Device& device, const std::string& cubin)
      : api_(device.api()),
        stream_(make_stream(api_)),
        begin_(make_event(api_)),
        end_(make_event(api_)) {
    CUmodule module = nullptr;
    require(api_, api_.cuModuleLoadData(&module, cubin.data()),
            "the kernels that measure peaks cannot be loaded");
    module_ = Module(api_, module);
    multiprocessors_ =
        static_cast<unsigned>(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    std::size_t available = 0, total = 0;
    require(api_, api_.cuMemGetInfo(&available, &total),
            "cannot read how much device memory is free");
    constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
    buffer_bytes_ = std::min(kMostBytes, available / 4) / kBlockBytes * kBlockBytes;
    from_ = allocate(api_, buffer_bytes_);
    to_ = allocate(api_, buffer_bytes_);
    require(api_, api_.cuMemsetD32Async(from_.get(), kPattern, buffer_bytes_ / 4, stream_.get()),
            "cannot fill device memory");
    synchronize();
  }

  /// nullptr if the module lacks it: not every kernel exists for every chip.
  [[nodiscard]] CUfunction find(const char* name) const {
    CUfunction function = nullptr;
    return api_.cuModuleGetFunction(&function, module_.get(), name) == CUDA_SUCCESS ? function
                                                                                    : nullptr;
  }

  /// Best time of one launch in ns.
  double time_ns(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
    launch(function, blocks, threads, arguments);  // the first one loads code and raises clocks
    double best = sample_ns(function, blocks, threads, arguments);
    for (int i = 1; i < kSamples; ++i)
      best = std::min(best, sample_ns(function, blocks, threads, arguments));
    return best;
  }

  /// Bytes a second of a kernel (in, out, n) over a whole buffer; `moved` counts the buffer once or
  /// twice.
  double stream_rate(const char* name, unsigned elements_per_block, double moved) {
    CUdeviceptr in = from_.get(), out = to_.get();
    unsigned long long count = buffer_bytes_ / kElementBytes;
    void* arguments[] = {&in, &out, &count};
    const auto blocks =
        static_cast<unsigned>((count + elements_per_block - 1) / elements_per_block);
    return moved * static_cast<double>(buffer_bytes_) /
           time_ns(require_function(name), blocks, kPeakThreads, arguments) * kNsPerS;
  }

  /// Rounds of a kernel (out, iterations) a second, over all its blocks; `blocks` a multiprocessor.
  /// 0 if the chip lacks it.
  double round_rate(const char* name, unsigned blocks_per_multiprocessor, unsigned threads) {
    const CUfunction function = find(name);
    if (function == nullptr) return 0;
    const unsigned blocks = blocks_per_multiprocessor * multiprocessors_;
    CUdeviceptr out = to_.get();
    unsigned iterations = 64;
    void* arguments[] = {&out, &iterations};
    iterations = long_enough(function, blocks, threads, arguments, iterations);
    return iterations / time_ns(function, blocks, threads, arguments) * kNsPerS * blocks;
  }

  /// Bytes a second of peak_l2 over `region` bytes, a power of two.
  double l2_rate(std::size_t region) {
    const CUfunction function = require_function("peak_l2");
    const unsigned blocks = kL2Blocks * multiprocessors_;
    CUdeviceptr in = from_.get(), out = to_.get();
    auto mask = static_cast<unsigned>(region / kElementBytes - 1);
    unsigned iterations = 16;
    void* arguments[] = {&in, &out, &mask, &iterations};
    iterations = long_enough(function, blocks, kPeakThreads, arguments, iterations);
    const double bytes = 4.0 * kElementBytes * kPeakThreads * blocks * iterations;
    return bytes / time_ns(function, blocks, kPeakThreads, arguments) * kNsPerS;
  }

  void measure_launches(Peaks& peaks);

 private:
  static constexpr std::size_t kElementBytes = 16;
  static constexpr std::size_t kBlockBytes = kElementBytes * 2048;
  static constexpr unsigned kPattern = 0x3f8ccccd;  // 1.1
  static constexpr unsigned kL2Blocks = 8;

  CUfunction require_function(const char* name) const {
    const CUfunction function = find(name);
    if (function == nullptr)
      throw environment_error(std::string("the kernels that measure peaks lack ") + name);
    return function;
  }

  void launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
    require(api_,
            api_.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_.get(), arguments,
                                nullptr),
            "a kernel that measures peaks cannot be launched");
  }

  void synchronize() {
    require(api_, api_.cuStreamSynchronize(stream_.get()), "a kernel that measures peaks failed");
  }

  [[nodiscard]] double between_events_ns() const {
    float elapsed_ms = 0;
    require(api_, api_.cuEventElapsedTime(&elapsed_ms, begin_.get(), end_.get()),
            "cannot read the time between two events");
    return static_cast<double>(elapsed_ms) * kNsPerMs;
  }

  double timed_ns(const std::function<void()>& submit) {
    require(api_, api_.cuEventRecord(begin_.get(), stream_.get()), "cannot record an event");
    submit();
    require(api_, api_.cuEventRecord(end_.get(), stream_.get()), "cannot record an event");
    synchronize();
    return between_events_ns();
  }

  double sample_ns(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
    return timed_ns([&] { launch(function, blocks, threads, arguments); });
  }

  /// Iterations for which a launch takes about kSampleNs; `iterations` is the argument's value now,
  /// its last.
  unsigned long_enough(CUfunction function,
                       unsigned blocks,
                       unsigned threads,
                       void** arguments,
                       unsigned iterations) {
    launch(function, blocks, threads, arguments);
    const double time = std::max(sample_ns(function, blocks, threads, arguments), 1.0);
    constexpr double kMost = 1 << 26;
    return static_cast<unsigned>(std::clamp(iterations * kSampleNs / time, 16.0, kMost));
  }

  const DriverApi& api_;
  Stream stream_;
  Event begin_, end_;
  Module module_;
  DeviceMemory from_, to_;
  std::size_t buffer_bytes_ = 0;
  unsigned multiprocessors_ = 0;
};

void PeakBench::measure_launches(Peaks& peaks) {
  const CUfunction empty = require_function("peak_empty");
  constexpr int kRepeats = 101;
  constexpr int kBatch = 50;
  const auto submit = [&] { launch(empty, 1, 32, nullptr); };
  std::vector<double> pairs, singles, graphs, hosts;
  const GraphExec graph = capture(api_, stream_.get(), [&] {
    for (int i = 0; i < kBatch; ++i) submit();
  });
  const auto replay = [&] {
    require(api_, api_.cuGraphLaunch(graph.get(), stream_.get()), "cannot launch a graph");
  };
  replay();
  synchronize();
  for (int i = 0; i < kRepeats; ++i) {
    pairs.push_back(timed_ns([] {}));
    singles.push_back(timed_ns(submit));
    graphs.push_back(timed_ns(replay) / kBatch);
    const auto start = std::chrono::steady_clock::now();
    submit();
    synchronize();
    hosts.push_back(
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
  }
  peaks.launch_event_ns = median(singles);
  peaks.launch_graph_ns = median(graphs);
  peaks.launch_host_ns = median(hosts);
  std::vector<double> times = pairs;
  times.insert(times.end(), singles.begin(), singles.end());
  std::ranges::sort(times);
  double resolution_ns = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap_ns = times[i] - times[i - 1];
    constexpr double kRounding = 0.5;  // ns: event times are floats of milliseconds
    if (gap_ns > kRounding && (resolution_ns == 0 || gap_ns < resolution_ns))
      resolution_ns = gap_ns;
  }
  peaks.event_resolution_ns = resolution_ns;
}

std::string uuid_of(const Device& device) {
  CUuuid uuid{};
  require(device.api(), device.api().cuDeviceGetUuid(&uuid, device.handle()),
          "cannot read the GPU's UUID");
  return hex_text({uuid.bytes, sizeof uuid.bytes});
}

int driver_version(const Device& device) {
  int version = 0;
  require(device.api(), device.api().cuDriverGetVersion(&version),
          "cannot read the driver's version");
  return version;
}

/// A kernel of device_code/peaks.cuh that makes operations of one type.
struct Probe {
  const char* type;
  const char* method;
  const char* kernel;
  unsigned blocks;  ///< a multiprocessor
  unsigned threads;
  double operations;  ///< a block and round
};

constexpr unsigned kWarps = kPeakThreads / 32;
constexpr double kChains = 8;
constexpr double kLane = 2 * 4 * kChains * kPeakThreads;  // multiply-adds of every thread
constexpr double mma(double m, double n, double k) {
  return 2 * m * n * k * kChains * kWarps;
}
constexpr double wgmma(double k) {
  return 2 * 64 * 256 * k * 2;
}  // two a round

constexpr Probe kProbes[] = {
    {"float32", "fma", "peak_fma_f32", 8, kPeakThreads, kLane},
    {"float64", "fma", "peak_fma_f64", 8, kPeakThreads, kLane},
    {"int32", "mad and three-way add", "peak_int32", 8, kPeakThreads, kLane},
    {"sfu", "ex2.approx", "peak_ex2", 8, kPeakThreads, kLane / 2},
    {"bfloat16", "mma.sync", "peak_mma_bf16", 4, kPeakThreads, mma(16, 8, 16)},
    {"float16", "mma.sync", "peak_mma_bf16", 4, kPeakThreads, mma(16, 8, 16)},
    {"float16", "mma.sync, fp16 sums", "peak_mma_f16", 4, kPeakThreads, mma(16, 8, 16)},
    {"tf32", "mma.sync", "peak_mma_tf32", 4, kPeakThreads, mma(16, 8, 8)},
    {"int8", "mma.sync", "peak_mma_s8", 4, kPeakThreads, mma(16, 8, 32)},
    {"bfloat16", "wgmma", "peak_wgmma_bf16", 3, 128, wgmma(16)},
    {"float16", "wgmma", "peak_wgmma_bf16", 3, 128, wgmma(16)},
    {"tf32", "wgmma", "peak_wgmma_tf32", 3, 128, wgmma(8)},
    {"int8", "wgmma", "peak_wgmma_s8", 3, 128, wgmma(32)},
};

/// Whether the best of our ways to make operations of `type` is the fastest that the chip has.
bool is_limit(std::string_view type, int compute_major) {
  if (type == "int32" || type == "sfu") return false;  // other pipes can take over a part
  // From compute capability 10.0 on there are instructions that no kernel here uses: tcgen05,
  // packed fp32 multiply-adds.
  constexpr int kFirstUnknown = 10;
  return compute_major < kFirstUnknown;
}

void measure_operations(PeakBench& bench, const Device& device, Peaks& peaks) {
  const int major = device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  std::map<std::string, double, std::less<>>
      known;  // rounds a second by kernel: two types share one
  const auto rounds = [&](const Probe& probe) {
    const auto found = known.find(probe.kernel);
    if (found != known.end()) return found->second;
    return known.emplace(probe.kernel, bench.round_rate(probe.kernel, probe.blocks, probe.threads))
        .first->second;
  };
  const auto offer = [&](const Probe& probe) {
    const double rate = rounds(probe) * probe.operations;
    Rate& best = peaks.operations[probe.type];
    if (rate > best.per_s) best = {rate, probe.method, is_limit(probe.type, major)};
  };
  for (const Probe& probe : kProbes) offer(probe);
  const double products = major >= 9 ? mma(16, 8, 16) / 2 : mma(8, 8, 4);
  offer({"float64", "mma.sync", "peak_mma_f64", 4, kPeakThreads, products});
}

}  // namespace

Peaks measure_peaks(const Device& device, const std::string& cubin) {
  PeakBench bench(device, cubin);
  bench.round_rate("peak_fma_f32", 8, kPeakThreads);  // raises the clocks
  Peaks peaks;
  peaks.gpu = device.name();
  peaks.uuid = uuid_of(device);
  peaks.driver = driver_version(device);
  peaks.l2_size_bytes = device.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  peaks.copy_bytes_per_s = bench.stream_rate("peak_copy", 1024, 2);
  peaks.read_bytes_per_s = bench.stream_rate("peak_read", 2048, 1);
  peaks.write_bytes_per_s = bench.stream_rate("peak_write", 1024, 1);
  std::size_t region = std::size_t{1} << 16U;
  while (region * 8 <= static_cast<std::size_t>(peaks.l2_size_bytes))
    region *= 2;  // an eighth to a quarter of the cache
  peaks.l2_bytes_per_s = bench.l2_rate(region);
  measure_operations(bench, device, peaks);
  bench.measure_launches(peaks);
  return peaks;
}

Peaks find_peaks(const Device& device,
                 const std::filesystem::path& folder,
                 const std::function<std::string()>& compile) {
  if (auto known = read_peaks(folder, uuid_of(device), driver_version(device))) return *known;
  Peaks peaks = measure_peaks(device, compile());
  write_peaks(folder, peaks);
  return peaks;
}

}  // namespace warpath::cuda
