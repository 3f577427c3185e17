#include "runners/cuda/counters/counters.h"

namespace warpath::cuda {

// What Counters is where this program was built without CUPTI's headers: `open` says so, and no
// object is ever made.
struct Counters::State {
  std::vector<ResolvedMetric> resolved;
  std::string chip;
  Cost cost;
};

std::optional<Counters> Counters::open(const Device&,
                                       const std::string&,
                                       std::string& why,
                                       std::span<const Metric>) {
  why =
      "this program was built without the headers of CUPTI (cupti_range_profiler.h, CUDA 12.6 or "
      "newer)";
  return std::nullopt;
}

Counters::Counters(std::unique_ptr<State> state) : state_(std::move(state)) {}
Counters::~Counters() = default;
Counters::Counters(Counters&&) noexcept = default;
Counters& Counters::operator=(Counters&&) noexcept = default;

std::optional<Readings> Counters::collect(const std::function<void()>&,
                                          const std::function<void()>&,
                                          std::string&) {
  return std::nullopt;
}

const std::vector<ResolvedMetric>& Counters::resolved() const {
  return state_->resolved;
}

std::size_t Counters::passes() const {
  return 0;
}

const std::string& Counters::chip() const {
  return state_->chip;
}

const Counters::Cost& Counters::last_cost() const {
  return state_->cost;
}

}  // namespace warpath::cuda
