#include "runners/cuda/finalists/small_workload.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include "engine/base/error.h"
#include "engine/spec/parameters.h"
#include "runners/cuda/finalists/workload_sizes.h"
#include "runners/inputs/arguments.h"

namespace warpath::cuda {
namespace {

constexpr std::int64_t kLeastSize = 64;
/// A smaller size keeps the remainder of the division by this, or by the largest power of two not
/// above it: a size that leaves a partial vector or warp still does.
constexpr std::uint64_t kKeptRemainder = 64;

/// About a `factor`-th of `size`, but not less than `least`.
std::int64_t shrunk(std::int64_t size, std::int64_t factor, std::int64_t least) {
  const std::int64_t about = std::max(size / factor, std::min(size, least));
  const auto unit = static_cast<std::int64_t>(
      std::bit_floor(std::min(static_cast<std::uint64_t>(about), kKeptRemainder)));
  return std::min(size, about / unit * unit + size % unit);
}

/// Elements of all tensors; throws Error where an extent cannot be had.
std::int64_t elements_of(const KernelSpec& spec, const Workload& workload) {
  std::int64_t total = 0;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    std::int64_t elements = 1;
    for (const std::int64_t extent : spec.shape_of(arg, workload)) elements *= extent;
    total += elements;
  }
  return total;
}

/// Integer arguments whose value extents depend on.
std::map<std::string, std::int64_t> sizes_of(const KernelSpec& spec,
                                             const Workload& workload,
                                             const std::set<std::string>& fixed) {
  std::map<std::string, std::int64_t> out;
  const std::int64_t total = elements_of(spec, workload);
  for (const ArgSpec& arg : spec.io.args) {
    const auto value = scalar_value(arg, workload);
    if (!value || !std::holds_alternative<std::int64_t>(*value) || fixed.contains(arg.name))
      continue;
    const std::int64_t size = std::get<std::int64_t>(*value);
    try {
      if (size > 1 && elements_of(spec, with_sizes(workload, {{arg.name, 2 * size}})) != total)
        out[arg.name] = size;
    } catch (const Error&) {
      continue;  // an argument that cannot be doubled is not a size
    }
  }
  return out;
}

}  // namespace

std::vector<Workload> smaller_workloads(const KernelSpec& spec,
                                        const Workload& workload,
                                        const std::set<std::string>& fixed) {
  if (elements_of(spec, workload) <= kSmallElements) return {workload};
  const auto sizes = sizes_of(spec, workload, fixed);
  std::vector<Workload> out;
  for (const std::int64_t least : {std::int64_t{1}, kLeastSize}) {
    for (std::int64_t factor = 2; factor <= std::int64_t{1} << 40U; factor *= 2) {
      std::map<std::string, std::int64_t> smaller = sizes;
      for (auto& [name, size] : smaller) size = shrunk(size, factor, least);
      const Workload candidate = with_sizes(workload, smaller);
      if (elements_of(spec, candidate) > kSmallElements) continue;
      const bool known = std::ranges::any_of(
          out, [&](const Workload& other) { return other.scalars == candidate.scalars; });
      if (!known && is_valid_alone(spec, candidate)) out.push_back(candidate);
      break;
    }
  }
  return out;
}

std::set<std::string> integers_in_code(const KernelSpec& spec,
                                       std::string_view baseline_ptx,
                                       std::string_view ptx) {
  // "ld.param.u32 %r1, [sum_param_3];"
  const auto reads = [](std::string_view text, std::size_t position) {
    const std::string wanted = "_param_" + std::to_string(position);
    for (std::size_t at = text.find("ld.param"); at != std::string_view::npos;
         at = text.find("ld.param", at + 1)) {
      const std::string_view line = text.substr(at, text.find(';', at) - at);
      const std::size_t name = line.find(wanted);
      if (name == std::string_view::npos) continue;
      const std::size_t end = name + wanted.size();
      if (end >= line.size() || std::isdigit(static_cast<unsigned char>(line[end])) == 0)
        return true;
    }
    return false;
  };
  std::set<std::string> out;
  const std::vector<const ArgSpec*> arguments = parameter_arguments(spec);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] != nullptr && arguments[i]->type != ArgType::tensor &&
        reads(baseline_ptx, i) && !reads(ptx, i))
      out.insert(arguments[i]->name);
  }
  return out;
}

}  // namespace warpath::cuda
