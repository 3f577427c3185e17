#include "experiments/evaluate/build_shares.h"

#include <algorithm>
#include <charconv>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/plugin/objective.h"
#include "experiments/console/table_text.h"

namespace warpath {
namespace {

constexpr double kLeastLeft = 0.01;

/// The largest lower time bound over the time of the first workload; 0: unknown.
double share_of_bound(const Outcome& outcome) {
  if (!outcome.diagnosis || outcome.timings.empty()) return 0;
  double bound_ns = 0;
  for (const auto& [resource, bound] : outcome.diagnosis->time_bound_ns)
    bound_ns = std::max(bound_ns, bound.value);
  const double ns = typical_ns(outcome, outcome.timings.front().workload);
  return ns > 0 ? std::min(1.0, bound_ns / ns) : 0;
}

}  // namespace

BuildShares::BuildShares(std::vector<Kernel> kernels, std::int64_t total, std::int64_t slice)
    : kernels_(std::move(kernels)), asked_(kernels_.size()), total_(total), slice_(slice) {
  if (!kernels_.empty())
    slice_ =
        std::clamp<std::int64_t>(total_ / static_cast<std::int64_t>(kernels_.size()), 1, slice);
}

std::optional<std::size_t> BuildShares::next() const {
  std::int64_t spent = 0;
  for (const Kernel& kernel : kernels_) spent += kernel.builds;
  if (spent >= total_) return std::nullopt;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Kernel& kernel = kernels_[i];
    if (kernel.ended) continue;
    if (kernel.slices == 0) return i;
    if (!best || kernel.left() > kernels_[*best].left() ||
        (kernel.left() == kernels_[*best].left() && kernel.builds < kernels_[*best].builds))
      best = i;
  }
  return best;
}

std::int64_t BuildShares::budget(std::size_t kernel) const {
  std::int64_t spent = 0;
  for (const Kernel& other : kernels_) spent += other.builds;
  return kernels_[kernel].builds + std::min(slice_, total_ - spent);
}

void BuildShares::take(std::size_t at, const SessionResult* result) {
  asked_[at] = budget(at);
  Kernel& kernel = kernels_[at];
  ++kernel.slices;
  if (result == nullptr || !result->baseline_ok) {
    kernel.ended = true;
    return;
  }
  kernel.builds = static_cast<std::int64_t>(result->builds);
  kernel.ended = kernel.builds < asked_[at];
  const double best = 1 / std::max(1.0, result->speedup);
  const double gained = kernel.best - best;
  kernel.idle = gained > 0 ? 0 : kernel.idle + 1;
  kernel.best = best;
  const Outcome* const outcome =
      result->best_outcome ? result->best_outcome.get() : result->baseline_outcome.get();
  const double share = outcome == nullptr ? 0 : share_of_bound(*outcome);
  kernel.bound_is_known = share > 0;
  kernel.distance = best * (share > 0 ? 1 - share : std::max(kLeastLeft, gained / best));
}

std::string shares_table(const BuildShares& shares) {
  std::vector<std::vector<std::string>> rows{
      {"name", "weight", "builds", "slices", "of baseline", "left", "by"}};
  for (const BuildShares::Kernel& kernel : shares.kernels())
    rows.push_back({kernel.name, format("%g", kernel.weight), std::to_string(kernel.builds),
                    std::to_string(kernel.slices), percent_text(kernel.best, 1),
                    percent_text(kernel.distance, 1),
                    kernel.bound_is_known ? "its bound" : "its last slice"});
  return aligned_text(rows, {1, 2, 3, 4, 5});
}

std::vector<BuildShares::Kernel> weighted_kernels(const std::vector<std::string>& names,
                                                  const std::vector<std::string>& weights) {
  std::vector<BuildShares::Kernel> out;
  for (const std::string& name : names) out.push_back({.name = name});
  for (const std::string& text : weights) {
    const std::size_t equals = text.rfind('=');
    const auto kernel = std::ranges::find(out, text.substr(0, equals), &BuildShares::Kernel::name);
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    double weight = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
    if (kernel == out.end() || error != std::errc{} || end != number.data() + number.size() ||
        !(weight > 0))
      throw bad_input("--weight", text, "NAME=WEIGHT, a kernel of this batch and a number above 0");
    kernel->weight = weight;
  }
  return out;
}

}  // namespace warpath
