#include "experiments/init/argument_sizes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <regex>

namespace warpath {
namespace {

constexpr std::int64_t kMostMultiple = 4096;

/// Values of what is named like no extent of data.
std::optional<std::int64_t> by_name(const std::string& name) {
  const auto has = [&](const char* pattern) {
    return std::regex_search(name, std::regex(pattern, std::regex::icase));
  };
  if (has("pad|offset|start|begin|axis")) return 0;
  if (has("^stride(_?[xyzhwd])?$|dilation|group|step")) return 1;
  if (has("kernel_?(size|w|h|d)|^k(size|[whd])$|pool|radius|window|filter")) return 3;
  return std::nullopt;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

ArgumentSizes argument_sizes(const SizeQuestion& question) {
  constexpr std::int64_t kGpu[] = {std::int64_t{1} << 22U, 2048, 256, 64};
  constexpr std::int64_t kHost[] = {10000, 100, 20, 12};
  constexpr std::int64_t kInner = 16;  // trips of a loop that no tensor knows
  const std::size_t rank = std::clamp<std::size_t>(question.rank, 1, 4) - 1;
  std::int64_t multiple = 1;
  for (const std::int64_t one : question.multiples) {
    const std::int64_t next = std::lcm(multiple, std::max<std::int64_t>(one, 1));
    if (next <= kMostMultiple) multiple = next;
  }
  ArgumentSizes out;
  for (const std::string& name : question.integers) {
    const bool extent = question.extents.contains(name);
    std::int64_t gpu = 1, host = 1;
    if (const auto value = by_name(name); value && !question.of_grid.contains(name)) {
      gpu = host = *value;
    } else if (extent) {
      gpu = rounded_up(kGpu[rank], multiple);
      host = rounded_up(kHost[rank], multiple);
    } else {
      gpu = host = kInner;
    }
    if (const auto given = question.given.find(name); given != question.given.end()) {
      gpu = given->second;
      host = extent ? std::min(host, gpu) : gpu;
    } else {
      out.why[name] = extent ? "a size that nothing in the text states"
                             : "a number that nothing in the text states";
    }
    out.gpu[name] = gpu;
    out.host[name] = host;
  }
  return out;
}

}  // namespace warpath
