#include "runners/pool.h"

#include <tbb/concurrent_queue.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <exception>
#include <semaphore>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

class RunnerPool final : public Evaluator {
 public:
  RunnerPool(Runner& runner, const KernelSpec& spec)
      : runner_(runner),
        spec_(spec),
        width_(std::max(runner.lanes(), 1)),
        parallelism_(tbb::global_control::max_allowed_parallelism,
                     static_cast<std::size_t>(width_) + 1),
        arena_(width_, 0) {}

  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;
  ~RunnerPool() noexcept override {
    cancel();
    arena_.execute([this] { tasks_.wait(); });
  }

  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] int useful() const override {
    return std::clamp(runner_.useful_lanes(), 1, width_);
  }

  void submit(Submission submission) override {
    WARPATH_CHECK(submission.variant.has_value());
    // Shared: a task must be copyable, and a variant is large.
    auto job = std::make_shared<const Submission>(std::move(submission));
    arena_.enqueue(tasks_.defer([this, job = std::move(job), stop = stop_.get_token()] {
      if (stop.stop_requested()) return;
      Result result = evaluate(*job, stop);
      if (stop.stop_requested()) return;
      results_.push(std::move(result));
      finished_.release();
    }));
  }

  [[nodiscard]] std::optional<Completion> wait(std::chrono::milliseconds timeout) override {
    if (stop_.stop_requested() || !finished_.try_acquire_for(timeout)) return std::nullopt;
    Result result;
    WARPATH_CHECK(results_.try_pop(result));  // a push precedes every release
    if (result.error) std::rethrow_exception(result.error);
    return std::move(result.completion);
  }

  void cancel() override {
    stop_.request_stop();
    results_.clear();
  }

 private:
  struct Result {
    Completion completion;
    std::exception_ptr error;  // of the infrastructure
  };

  /// The task boundary: nothing is thrown from here.
  Result evaluate(const Submission& job, std::stop_token stop) noexcept {
    Result result;
    result.completion.sequence = job.sequence;
    try {
      const RunRequest request{.spec = spec_,
                               .variant = *job.variant,
                               .key = job.key,
                               .seed = job.seed,
                               .incumbent_ns = job.incumbent_ns,
                               .stage = job.stage,
                               .searched_ns = job.searched_ns,
                               .against = job.against ? &*job.against : nullptr,
                               .seconds_left = job.seconds_left};
      result.completion.outcome = guarded_run(runner_, request, std::move(stop));
    } catch (const Error&) {
      result.error = std::current_exception();
    }
    return result;
  }

  Runner& runner_;
  const KernelSpec& spec_;
  int width_;
  // lanes mostly wait (for a device, a compiler): more of them than cores is right
  tbb::global_control parallelism_;
  std::stop_source stop_;
  tbb::concurrent_queue<Result> results_;
  std::counting_semaphore<> finished_{0};
  tbb::task_group tasks_;
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Evaluator> runner_pool(Runner& runner, const KernelSpec& spec) {
  return std::make_unique<RunnerPool>(runner, spec);
}

}  // namespace warpath
