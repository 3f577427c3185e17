#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "moves/edit/device_limits.h"
#include "moves/edit/sites.h"
#include "moves/launch/block_extent.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::size_t kMostShapes = 64;

/// One number that shapes the block: a tunable in its expressions, or an axis that is a plain
/// constant.
struct Dimension {
  std::string parameter;             ///< the tunable's name, or "block_x"
  std::vector<std::int64_t> values;  ///< ascending
  std::int64_t current = 0;
  std::optional<BlockExtent> extent;  ///< of a constant; none for a tunable
};

bool contains(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Constants of the block that may change.
std::vector<Dimension> constant_dimensions(const MoveContext& context, std::string& why) {
  std::vector<Dimension> out;
  for (BlockExtent& extent : free_block_extents(context, why)) {
    std::string parameter = std::string("block_") + "xyz"[extent.axis];
    out.push_back({std::move(parameter), extent.values, extent.current, std::move(extent)});
  }
  return out;
}

std::vector<Dimension> tunable_dimensions(const MoveContext& context) {
  std::set<std::string> names;
  for (const Expression& extent : context.variant.launch.block) names.merge(extent.names());
  std::vector<Dimension> out;
  for (const Tunable& tunable : context.spec.tunables) {
    const auto current = context.variant.tunables.find(tunable.name);
    if (names.contains(tunable.name) && current != context.variant.tunables.end()) {
      out.push_back({tunable.name, tunable.values, current->second, std::nullopt});
    }
  }
  return out;
}

/// Where there are none, `why` may name what ties the kernel to its block.
std::vector<Dimension> dimensions(const MoveContext& context, std::string& why) {
  std::vector<Dimension> out = tunable_dimensions(context);
  return out.empty() ? constant_dimensions(context, why) : out;
}

std::vector<Dimension> dimensions(const MoveContext& context) {
  std::string why;
  return dimensions(context, why);
}

/// Distance of two extents in doublings; 0 and negative values of a tunable count as 1.
double doublings(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(a, 1))) -
                  std::log2(static_cast<double>(std::max<std::int64_t>(b, 1))));
}

/// Changes the number of threads a block, in all axes at once: by the tunables that the plan's
/// block is made of, or else by rewriting a constant block together with the grid, where the kernel
/// reads its size from blockDim.
class ChangeBlockSizes final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "change_block_sizes"; }

  /// Nearest shapes first (sum over the axes of the distance in doublings), at most kMostShapes.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    const std::vector<Dimension> dims = dimensions(context);
    if (dims.empty()) return {};
    std::vector<std::pair<double, MoveParameters>> shapes{{0.0, {}}};
    for (const Dimension& d : dims) {
      std::vector<std::pair<double, MoveParameters>> longer;
      for (const auto& [distance, shape] : shapes) {
        for (const std::int64_t value : d.values) {
          longer.emplace_back(distance + doublings(value, d.current), shape);
          longer.back().second[d.parameter] = value;
        }
      }
      std::stable_sort(longer.begin(), longer.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      if (longer.size() > kMostShapes * 4) longer.resize(kMostShapes * 4);
      shapes = std::move(longer);
    }
    std::vector<MoveInstance> out;
    std::string why;
    for (auto& [distance, shape] : shapes) {
      MoveInstance instance{std::string(name()), std::string(kLaunchSite), std::move(shape)};
      if (!whole_warps(dims, instance.parameters)) continue;
      if (out.size() < kMostShapes && rewritten(context, dims, instance.parameters, why))
        out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    if (site != kLaunchSite) return out;
    for (const Dimension& d : dimensions(context)) {
      if (!d.values.empty())
        out.push_back(
            {d.parameter, d.values, d.values.front(), "threads a block, this axis or factor"});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (wanted.site != kLaunchSite)
      return why = "change_block_sizes applies to the launch only", std::nullopt;
    std::string tie;
    const std::vector<Dimension> dims = dimensions(context, tie);
    if (dims.empty())
      return why = "the kernel's block size is not free" + (tie.empty() ? "" : ": " + tie),
             std::nullopt;
    return rewritten(context, dims, wanted.parameters, why);
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    MoveInstance out{std::string(name()), std::string(kLaunchSite), {}};
    for (const Dimension& d : dimensions(context)) {
      if (!contains(d.values, d.current)) return std::nullopt;
      const auto value = done.parameters.find(d.parameter);
      // no dimension any more
      if (d.extent && value != done.parameters.end() && value->second == 1) return std::nullopt;
      out.parameters[d.parameter] = d.current;
    }
    return done.site == kLaunchSite && !out.parameters.empty() ? std::optional(out) : std::nullopt;
  }

 private:
  /// For constant axes; a block made of tunables is checked against the spec's constraints by the
  /// proposer.
  static bool whole_warps(const std::vector<Dimension>& dims, const MoveParameters& parameters) {
    std::int64_t threads = 1;
    for (const Dimension& d : dims) {
      if (!d.extent) return true;
      threads *= parameters.at(d.parameter);
    }
    return threads <= kMaxThreads && threads % kWarp == 0;
  }

  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const std::vector<Dimension>& dims,
                                          const MoveParameters& parameters,
                                          std::string& why) {
    Variant out = context.variant;
    for (const Dimension& d : dims) {
      const auto value = parameters.find(d.parameter);
      if (value == parameters.end() || parameters.size() != dims.size()) {
        return why = "change_block_sizes needs a value of each of its parameters, " + d.parameter +
                     " among them",
               std::nullopt;
      }
      if (!contains(d.values, value->second))
        return why = std::to_string(value->second) + " is no value of " + d.parameter, std::nullopt;
      if (!d.extent) {
        out.tunables[d.parameter] = value->second;
      } else if (value->second != d.current &&
                 !set_block_extent(out.launch, *d.extent, value->second)) {
        return why =
                   "the launch plan uses " + std::to_string(value->second) + " for something else",
               std::nullopt;
      }
    }
    if (out == context.variant) return why = "the block has this size already", std::nullopt;
    return out;
  }
};

}  // namespace

void register_move_change_block_sizes(MoveRegistry& registry) {
  registry.add("change_block_sizes", "change the threads a block, and the grid with them",
               [] { return std::make_unique<ChangeBlockSizes>(); });
}

}  // namespace warpath
