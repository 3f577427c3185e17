#include "runners/range_end.h"

#include <algorithm>
#include <unordered_set>

#include "runners/scaling.h"

namespace warpath {
namespace {

/// Elements of `result`, evenly spaced, are elements of the inputs.
bool is_selection(const Tensor& result, const std::vector<Tensor>& inputs) {
  constexpr std::int64_t kMost = 4096;
  std::unordered_set<double> wanted;
  const std::int64_t count = result.elements(), step = std::max<std::int64_t>(1, count / kMost);
  for (std::int64_t i = 0; i < count; i += step) wanted.insert(result.at(i));
  for (const Tensor& input : inputs) {
    if (!info(input.dtype).is_float) continue;
    for (std::int64_t i = 0, n = input.elements(); i < n && !wanted.empty(); ++i)
      wanted.erase(input.at(i));
  }
  return wanted.empty();
}

}  // namespace

bool stays_in_range(InputFamily family,
                    const std::vector<Tensor>& inputs,
                    const std::vector<Tensor>& results,
                    const std::vector<Tensor>& near_one) {
  if (!std::ranges::equal(near_one, results, is_times_power_of_two)) return false;
  return family == InputFamily::vast || std::ranges::all_of(results, [&](const Tensor& result) {
           return !info(result.dtype).is_float || is_selection(result, inputs);
         });
}

}  // namespace warpath
