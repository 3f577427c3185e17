#include "runners/pool.h"

#include <tbb/concurrent_queue.h>

#include <algorithm>
#include <exception>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace warpath {
namespace {

class RunnerPool final : public Evaluator {
 public:
  RunnerPool(Runner& runner, const KernelSpec& spec)
      : runner_(runner), spec_(spec), width_(std::max(runner.lanes(), 1)) {}

  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;
  ~RunnerPool() noexcept override {
    cancel();
    for (std::size_t i = 0; i < lanes_.size(); ++i) jobs_.push(nullptr);
  }

  [[nodiscard]] int width() const override { return width_; }
  [[nodiscard]] int useful() const override {
    return std::clamp(runner_.useful_lanes(), 1, width_);
  }

  void submit(Submission submission) override {
    WARPATH_CHECK(submission.variant.has_value());
    jobs_.push(std::make_shared<const Wanted>(std::move(submission), withdrawn_.get_token()));
    ++under_way_;
    if (lanes_.size() < std::min(under_way_, static_cast<std::size_t>(width_)))
      lanes_.emplace_back([this] { work(); });
  }

  [[nodiscard]] std::optional<Completion> wait(std::chrono::milliseconds timeout) override {
    if (stop_.stop_requested() || !finished_.try_acquire_for(timeout)) return std::nullopt;
    Result result;
    WARPATH_CHECK(results_.try_pop(result));  // a push precedes every release
    --under_way_;
    if (result.error) std::rethrow_exception(result.error);
    return std::move(result.completion);
  }

  void withdraw() override { std::exchange(withdrawn_, std::stop_source()).request_stop(); }

  void cancel() override {
    stop_.request_stop();
    results_.clear();
  }

 private:
  struct Wanted {
    Submission submission;
    std::stop_token withdrawn;
  };
  using Job = std::shared_ptr<const Wanted>;  // null: the lane ends
  struct Result {
    Completion completion;
    std::exception_ptr error;  // of the infrastructure
  };

  /// A lane: evaluations one after the other, until there is none for it.
  void work() {
    Job job;
    for (jobs_.pop(job); job != nullptr; jobs_.pop(job)) {
      if (stop_.stop_requested()) continue;
      Result result = evaluate(*job, stop_.get_token());
      if (stop_.stop_requested()) continue;
      results_.push(std::move(result));
      finished_.release();
    }
  }

  /// The boundary of a lane: nothing is thrown from here.
  Result evaluate(const Wanted& wanted, std::stop_token stop) noexcept {
    const Submission& job = wanted.submission;
    Result result;
    result.completion.sequence = job.sequence;
    result.completion.withdrawn = wanted.withdrawn.stop_requested();
    if (result.completion.withdrawn) return result;
    try {
      const RunRequest request{.spec = spec_,
                               .variant = *job.variant,
                               .key = job.key,
                               .seed = job.seed,
                               .incumbent_ns = job.incumbent_ns,
                               .stage = job.stage,
                               .searched_ns = job.searched_ns,
                               .against = job.against ? &*job.against : nullptr,
                               .seconds_left = job.seconds_left,
                               .withdrawn = wanted.withdrawn};
      result.completion.outcome = guarded_run(runner_, request, std::move(stop));
      result.completion.withdrawn = was_withdrawn(request, result.completion.outcome);
    } catch (const Error&) {
      result.error = std::current_exception();
    }
    return result;
  }

  Runner& runner_;
  const KernelSpec& spec_;
  int width_;
  std::stop_source stop_;
  std::stop_source withdrawn_;  // of what was submitted since the last withdraw()
  tbb::concurrent_bounded_queue<Job> jobs_;
  tbb::concurrent_queue<Result> results_;
  std::counting_semaphore<> finished_{0};
  std::size_t under_way_ = 0;
  // Threads of their own: lanes mostly wait (for a device, a compiler), so more of them than cores
  // is right, and one that waits for work must not look for it meanwhile.
  std::vector<std::jthread> lanes_;
};

}  // namespace

std::unique_ptr<Evaluator> runner_pool(Runner& runner, const KernelSpec& spec) {
  return std::make_unique<RunnerPool>(runner, spec);
}

}  // namespace warpath
