#include "runners/cuda/finalists/large_workload.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/base/error.h"
#include "engine/spec/tensor_init.h"
#include "runners/cuda/finalists/workload_sizes.h"
#include "runners/inputs/arguments.h"

namespace warpath::cuda {
namespace {

// the range of signed 32-bit offsets
constexpr std::int64_t kOffsets = std::int64_t{1} << 31U;
constexpr std::int64_t kUnsignedOffsets = std::int64_t{1} << 32U;
constexpr double kMostNs = 2e9;
/// Contents that no rule draws element by element are made by the host.
constexpr std::int64_t kMostHostElements = std::int64_t{1} << 26U;
/// Two sets: inputs and expected values; working memory of two launches.
constexpr std::int64_t kCopies = 4;

/// A tensor whose outermost extent grows with the size.
struct Growth {
  /// elements under the declared workload, and with every further multiple
  std::int64_t once = 0, each = 0;
  std::int64_t width = 1;
};

/// An argument that may be multiplied.
struct Size {
  const ArgSpec* arg = nullptr;
  std::int64_t value = 0;
  std::vector<Growth> tensors;
};

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements;
}

/// nullopt if the argument changes anything but outermost extents, or nothing at all.
std::optional<Size> size_of(const KernelSpec& spec, const Workload& declared, const ArgSpec& arg) {
  const auto value = scalar_value(arg, declared);
  if (!value || !std::holds_alternative<std::int64_t>(*value) || std::get<std::int64_t>(*value) < 1)
    return std::nullopt;
  Size out{.arg = &arg, .value = std::get<std::int64_t>(*value), .tensors = {}};
  try {
    const Workload twice = with_sizes(declared, {{arg.name, 2 * out.value}});
    for (const ArgSpec& tensor : spec.io.args) {
      if (tensor.type != ArgType::tensor) continue;
      const auto before = spec.shape_of(tensor, declared), after = spec.shape_of(tensor, twice);
      if (before == after) continue;
      const bool outermost =
          after.front() > before.front() &&
          std::equal(before.begin() + 1, before.end(), after.begin() + 1, after.end());
      if (!outermost) return std::nullopt;
      const auto width =
          static_cast<std::int64_t>(info(spec.tensor_of(tensor, declared).dtype).size_bytes);
      out.tensors.push_back(
          {.once = product(before), .each = product(after) - product(before), .width = width});
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return out.tensors.empty() ? std::nullopt : std::optional(out);
}

/// Least multiple with a growing tensor of more than `least`, in elements, or bytes.
std::int64_t factor_past(const Size& size, std::int64_t least, bool in_bytes) {
  std::int64_t factor = std::numeric_limits<std::int64_t>::max();
  for (const Growth& tensor : size.tensors) {
    const std::int64_t unit = in_bytes ? tensor.width : 1, missing = least / unit - tensor.once;
    factor = std::min(factor, missing < 0 ? 1 : missing / tensor.each + 2);
  }
  return factor;
}

/// A value other than the declared one for which no growing tensor exceeds 2^31 bytes: the greatest
/// multiple, odd from 3 on, which exposes code that relies on powers of two. If there is none, half
/// of the declared value, which may exceed the limit.
std::int64_t value_within(const Size& size) {
  const std::int64_t most = factor_past(size, kOffsets, true) - 1;
  if (most < 2) return size.value - size.value / 2;
  return size.value * (most > 2 && most % 2 == 0 ? most - 1 : most);
}

LargeWorkload measured(const KernelSpec& spec, Workload workload) {
  LargeWorkload out;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    const std::int64_t elements = product(spec.shape_of(arg, workload));
    out.elements = std::max(out.elements, elements);
    out.bytes = std::max(
        out.bytes,
        elements * static_cast<std::int64_t>(info(spec.tensor_of(arg, workload).dtype).size_bytes));
  }
  out.workload = std::move(workload);
  return out;
}

/// Plans for one argument.
class Planner {
 public:
  Planner(const KernelSpec& spec,
          const Workload& declared,
          const Size& size,
          const LargeLimits& limits)
      : spec_(spec), declared_(declared), size_(size), limits_(limits) {}

  LargePlan plan() {
    LargePlan out;
    std::string why;
    const auto within = at(value_within(size_), why);
    if (!within) return {.within = {}, .beyond = {}, .reason = why};
    out.within = *within;
    const LargeWorkload own = measured(spec_, declared_);
    for (const std::int64_t bytes : {kUnsignedOffsets, kOffsets}) {
      if (own.bytes > bytes) break;
      if (auto found = at(size_.value * factor_past(size_, bytes, true), why)) {
        out.beyond.push_back(*std::move(found));
        break;
      }
    }
    const LargeWorkload& last = out.beyond.empty() ? own : out.beyond.back();
    if (last.elements > kOffsets) return out;
    if (last.bytes <= kOffsets) {
      out.reason = why;
    } else if (!std::holds_alternative<ReferenceKernel>(spec_.reference) &&
               info(size_.arg->dtype).size_bytes < sizeof(std::int64_t)) {
      out.reason =
          "past 2^31 elements only a reference kernel could tell whether the spec's kernel, "
          "whose " +
          size_.arg->name + " has 32 bits, is right";
    } else if (auto found = at(size_.value * factor_past(size_, kOffsets, false), out.reason)) {
      out.beyond.push_back(*std::move(found));
    }
    return out;
  }

 private:
  /// The declared workload with another value of the size; nullopt with the reason.
  std::optional<LargeWorkload> at(std::int64_t value, std::string& why) const {
    const auto refused = [&](const std::string& reason) {
      why = reason;
      return std::nullopt;
    };
    const std::string at = size_.arg->name + " = " + std::to_string(value);
    const bool is_narrow = info(size_.arg->dtype).size_bytes < sizeof(std::int64_t);
    if (is_narrow && value > std::numeric_limits<std::int32_t>::max())
      return refused(at + " has more than 32 bits");
    LargeWorkload out;
    try {
      out = measured(spec_, with_sizes(declared_, {{size_.arg->name, value}}));
      if (limits_.launch_ns * static_cast<double>(value) / static_cast<double>(size_.value) >
          kMostNs)
        return refused("a launch of the spec's kernel at " + at + " would take more than 2 s");
      if (tensor_bytes(spec_, out.workload) > limits_.memory_bytes / kCopies)
        return refused("memory does not suffice at " + at);
      if (made_by_host(out.workload))
        return refused("inputs at " + at + " would be made by the host");
      if (!is_valid_alone(spec_, out.workload)) return refused("the spec does not allow " + at);
    } catch (const Error& error) {
      return refused(error.what());
    }
    return out;
  }

  [[nodiscard]] bool made_by_host(const Workload& workload) const {
    return std::ranges::any_of(spec_.io.args, [&](const ArgSpec& arg) {
      return arg.type == ArgType::tensor && arg.role != ArgRole::output &&
             product(spec_.shape_of(arg, workload)) > kMostHostElements &&
             !element_rule(spec_, arg, workload, 0);
    });
  }

  const KernelSpec& spec_;
  const Workload& declared_;
  const Size& size_;
  const LargeLimits& limits_;
};

}  // namespace

LargePlan larger_workloads(const KernelSpec& spec,
                           const Workload& declared,
                           const std::set<std::string>& fixed,
                           const LargeLimits& limits) {
  std::optional<Size> best;
  bool any_fixed = false;
  for (const ArgSpec& arg : spec.io.args) {
    const std::optional<Size> size = size_of(spec, declared, arg);
    if (!size) continue;
    if (fixed.contains(arg.name)) {
      any_fixed = true;
    } else if (!best || factor_past(*size, kUnsignedOffsets, true) <
                            factor_past(*best, kUnsignedOffsets, true)) {
      best = size;
    }
  }
  if (!best)
    return {.within = {},
            .beyond = {},
            .reason = any_fixed ? "its sizes are in its code"
                                : "no integer argument is followed by outermost extents alone"};
  return Planner(spec, declared, *best, limits).plan();
}

}  // namespace warpath::cuda
