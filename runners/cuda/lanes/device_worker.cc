#include "runners/cuda/lanes/device_worker.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <variant>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cuda/measure/evaluation.h"
#include "runners/cuda/measure/messages.h"
#include "runners/cuda/measure/peaks_measure.h"
#include "runners/cuda/options.h"
#include "runners/worker/frames.h"

namespace warpath::cuda {
namespace {

constexpr int kFailed = static_cast<int>(ErrorCode::environment);

std::string uuid_text(const DriverApi& api, CUdevice device) {
  CUuuid uuid{};
  require(api, api.cuDeviceGetUuid(&uuid, device), "cannot read the GPU's identifier");
  return hex_text({uuid.bytes, sizeof uuid.bytes});
}

/// Everything between two messages.
class Worker {
 public:
  Worker(int out, int gpu) : out_(out), gpu_(gpu) {}

  /// False: the worker ends with `status`.
  bool serve(std::string_view frame) {
    DeviceRequest request;
    if (!decode(frame, request)) return end(kFailed);
    return std::visit([this](auto& message) { return answer(message); }, request);
  }
  int status = 0;

 private:
  bool end(int with) {
    status = with;
    return false;
  }
  bool send(const std::string& message) {
    return write_frame(out_, message) == FrameStatus::done || end(kFailed);
  }

  bool answer(OpenDevice& request) {
    DeviceHello hello;
    try {
      options_ = group_from_json<CudaOptions>(nlohmann::json::parse(request.options), "options");
      std::string why;
      api_ = load_driver(why);
      if (!api_) throw environment_error("no CUDA driver: " + why);
      device_ = std::make_unique<Device>(*api_, gpu_);
      hello.limits = device_->limits();
      hello.facts = {.runner = "cuda",
                     .name = device_->name(),
                     .arch = device_->arch(),
                     .multiprocessors = hello.limits.multiprocessors,
                     .max_threads_per_block = hello.limits.threads_per_block,
                     .max_smem_per_block_bytes = hello.limits.smem_per_block_bytes,
                     .is_gpu = true};
      hello.uuid = uuid_text(*api_, device_->handle());
      require(*api_, api_->cuDriverGetVersion(&hello.driver_version),
              "cannot read the driver's version");
      std::size_t available = 0, total = 0;
      require(*api_, api_->cuMemGetInfo(&available, &total), "cannot tell how much memory is free");
      hello.free_bytes = available;
    } catch (const std::exception& error) {
      hello.problem = error.what();
    }
    return send(encode(hello)) && (hello.problem.empty() || end(kFailed));
  }

  bool answer(DeviceTools& request) {
    if (device_ == nullptr) return end(kFailed);
    return done([&] {
      Peaks peaks;
      if (!request.peaks_cubin.empty()) {
        peaks = find_peaks(*device_, default_peaks_folder(), [&] { return request.peaks_cubin; });
      }
      bench_ = std::make_unique<Bench>(*device_, request.harness_cubin, std::move(peaks), options_);
    });
  }

  bool answer(PrepareProblem& request) {
    if (bench_ == nullptr) return end(kFailed);
    return done([&] {
      evaluation_.reset();
      problem_.reset();
      ProblemSetup setup;
      setup.spec = spec_from_json(nlohmann::json::parse(request.spec), "spec");
      setup.workloads = std::move(request.workloads);
      setup.reference = std::move(request.reference);
      setup.baseline = std::move(request.baseline);
      setup.seed = request.seed;
      setup.exact_memory = request.exact_memory;
      problem_ = std::make_unique<Problem>(*bench_, std::move(setup));
      evaluation_ = std::make_unique<Evaluation>(*bench_, *problem_);
    });
  }

  bool answer(Evaluate& request) {
    if (evaluation_ == nullptr) return end(kFailed);
    std::optional<Candidate> versus;
    if (request.rival && request.versus) {
      versus = std::move(*request.rival);
    } else if (request.rival) {
      evaluation_->set_rival(std::move(*request.rival));
    }
    TrialReply reply;
    try {
      reply = evaluation_->run({.candidate = std::move(request.candidate),
                                .stage = request.stage,
                                .seed = request.seed,
                                .incumbent_ns = request.incumbent_ns,
                                .profile = request.profile,
                                .searched_ns = request.searched_ns,
                                .pairs_seconds = request.pairs_seconds,
                                .versus = std::move(versus),
                                .untimed = request.untimed});
    } catch (const CandidateFault& fault) {
      reply.trouble = fault.detail;
    } catch (const std::exception& error) {
      reply.trouble = error.what();
    }
    if (!reply.trouble.empty()) abandon_releases();
    const bool over = reply.poisoned || !reply.trouble.empty();
    return send(encode(reply)) && (!over || end(0));
  }

  /// Answers Done; a worker that could not do it ends.
  bool done(const std::function<void()>& work) {
    Done reply;
    try {
      work();
    } catch (const CandidateFault& fault) {
      reply.problem = fault.detail;
    } catch (const std::exception& error) {
      reply.problem = error.what();
    }
    return send(encode(reply)) && (reply.problem.empty() || end(kFailed));
  }

  int out_;
  int gpu_;
  CudaOptions options_;
  std::optional<DriverApi> api_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Evaluation> evaluation_;
};

/// Ends this process when the one that started it is gone, or the first of its group: a tool
/// between the engine and its worker does not pass its own end on.
void end_with_parent() {
  std::thread([parent = ::getppid(), group = ::getpgrp()] {
    constexpr std::chrono::milliseconds kParentCheck{200};
    while (::getppid() == parent && (::kill(group, 0) == 0 || errno != ESRCH))
      std::this_thread::sleep_for(kParentCheck);
    ::_exit(kFailed);
  }).detach();
}

}  // namespace

int device_worker_main(int in_fd, int out_fd, int gpu) {
  end_with_parent();
  auto* const worker = new Worker(out_fd, gpu);  // never freed: see below
  std::string request;
  for (;;) {
    const FrameStatus got = read_frame(in_fd, request);
    if (got == FrameStatus::closed) break;
    if (got != FrameStatus::done) ::_exit(kFailed);
    if (!worker->serve(request)) break;
  }
  // A poisoned context fails every release, and one with a running kernel waits for it: the process
  // ends, and the driver cleans up behind it.
  ::_exit(worker->status);
}

void serve_device(int fd, int gpu) {
  Worker worker(fd, gpu);
  std::string request;
  while (read_frame(fd, request) == FrameStatus::done && worker.serve(request)) {
  }
}

}  // namespace warpath::cuda
