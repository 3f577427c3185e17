#include <algorithm>
#include <array>

#include "moves/edit/edge_free_loop.h"
#include "moves/edit/guard_exit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/sites.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/points/common_loop.h"
#include "moves/tiles/staging.h"
#include "moves/tiles/tile_kernel.h"
#include "moves/tiles/window.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kExchangeSite = "exchange",
                           kStreamPrefix = "stream:", kValuesPrefix = "values:",
                           kWindowPrefix = "window:", kRowPrefix = "row:";
// tile, step
constexpr std::array<std::array<std::int64_t, 2>, 5> kSums{
    {{32, 32}, {32, 16}, {16, 32}, {16, 16}, {16, 64}}};
constexpr std::array<std::int64_t, 4> kRows{8, 4, 16, 32};
constexpr std::array<std::int64_t, 4> kStream{256, 128, 512, 1024};
// points, unroll
constexpr std::array<std::array<std::int64_t, 2>, 5> kWindows{
    {{4, 1}, {2, 1}, {1, 1}, {8, 1}, {1, 0}}};
constexpr std::array<std::int64_t, 3> kRowPoints{4, 8, 2};

/// Stages data that threads share in shared memory: both operands of a sum of products (site
/// "sum"), a tile that is read in one order and written in another, along two thread indices or two
/// coordinates of a flat one ("exchange"), the elements that all threads run through ("stream:<n>",
/// the n-th loop, also in a guard around the rest of the kernel), what each step of a loop computes
/// for all of them ("values:<n>"), the overlapping windows that they load ("window:<argument>"). A
/// window is worth most where a thread makes several points, which must be so before it is staged:
/// then the move is that of register_block@loop_y, or loop_x, and the staging in one, and what the
/// points test in their loops is tested before. At "row:<argument>" they are neighbours along x,
/// whose part of the window is read in packs.
class SmemTileStage final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "smem_tile_stage"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> candidates, out;
    for (const auto& [tile, step] : kSums)
      candidates.push_back(
          {std::string(name()), std::string(kSumSite), {{"tile", tile}, {"step", step}}});
    for (const std::int64_t rows : kRows)
      candidates.push_back(
          {std::string(name()), std::string(kExchangeSite), {{"tile", 32}, {"rows", rows}}});
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    for (std::size_t i = 0; i < kernel->facts.loops.size(); ++i) {
      for (const std::string_view prefix : {kValuesPrefix, kStreamPrefix}) {
        for (const std::int64_t tile : kStream)
          candidates.push_back(
              {std::string(name()), std::string(prefix) + std::to_string(i), {{"tile", tile}}});
      }
    }
    for (const Array& array : kernel->facts.arrays) {
      if (!array.is_parameter || !array.read || array.written || array.spec_name.empty() ||
          !windowed(context, array.spec_name, 1, true, why))
        continue;
      for (const auto& [points, unroll] : kWindows)
        candidates.push_back({std::string(name()),
                              std::string(kWindowPrefix) + array.spec_name,
                              {{"points", points}, {"unroll", unroll}}});
      for (const std::int64_t points : kRowPoints)
        candidates.push_back(
            {std::string(name()), std::string(kRowPrefix) + array.spec_name, {{"points", points}}});
    }
    std::string refused;
    for (MoveInstance& instance : candidates) {
      if (instance.site == refused) continue;
      if (apply(context, instance, why)) {
        out.push_back(std::move(instance));
      } else if (instance.site != kSumSite && !instance.parameters.contains("unroll")) {
        refused = instance.site;
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site == kSumSite)
      return {{"tile", {16, 32}, 16, "outputs of a block, each way"},
              {"step", {4, 8, 16, 32, 64}, 16, "elements of the sum a step"}};
    if (site == kExchangeSite)
      return {{"tile", {16, 32, 64}, 32, "elements of the tile, each way"},
              {"rows", {4, 8, 16, 32}, 8, "rows of the tile at a time"}};
    if (site.starts_with(kStreamPrefix) || site.starts_with(kValuesPrefix))
      return {{"tile", {32, 64, 128, 256, 512, 1024, 2048}, 256, "elements a step"}};
    if (site.starts_with(kRowPrefix))
      return {{"points", {2, 4, 8}, 4, "of a thread, neighbours along x"}};
    if (site.starts_with(kWindowPrefix))
      return {{"points", {1, 2, 4, 8}, 4, "of a thread, side by side in the loops of all"},
              {"unroll", {0, 1}, 1, "1: short loops around the loads are unrolled"}};
    return {};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    if (wanted.site.starts_with(kWindowPrefix))
      return windowed(context, wanted.site.substr(kWindowPrefix.size()),
                      wanted.parameters.at("points"), wanted.parameters.at("unroll") == 1, why);
    if (wanted.site.starts_with(kRowPrefix))
      return several(context, wanted.site.substr(kRowPrefix.size()), 0, PointOrder::neighbours,
                     wanted.parameters.at("points"), true, why);
    const std::int64_t tile = wanted.parameters.at("tile");
    if (wanted.site == kSumSite) {
      const auto contraction = find_contraction(context, why);
      if (!contraction) return std::nullopt;
      return tiled_variant(context, *contraction,
                           {.bm = tile,
                            .bn = tile,
                            .bk = wanted.parameters.at("step"),
                            .tm = 1,
                            .tn = 1,
                            .stages = 1,
                            .warp_tile = false},
                           why);
    }
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    if (wanted.site == kExchangeSite) {
      const std::int64_t rows = wanted.parameters.at("rows");
      if (rows > tile || tile * rows > 1024)
        return why = "the block would be too large", std::nullopt;
      if (auto out = transposed_through_tile(context, *kernel, tile, rows, why)) return out;
      std::string flat;
      auto out = permuted_through_tile(context, *kernel, tile, rows, flat);
      // two thread indices are no flat one: then the first reason says more
      if (!out && kernel->facts.thread_indices.size() == 1) why = flat;
      return out;
    }
    for (std::size_t i = 0; i < kernel->facts.loops.size(); ++i) {
      for (const std::string_view prefix : {kStreamPrefix, kValuesPrefix}) {
        if (wanted.site == std::string(prefix) + std::to_string(i))
          return streamed(context, *kernel, i, tile, prefix == kValuesPrefix, why);
      }
    }
    return why = "there is no loop " + wanted.site, std::nullopt;
  }

 private:
  /// In a guard around the rest of the kernel the loop is staged behind an exit in its place.
  static std::optional<Variant> streamed(const MoveContext& context,
                                         const KernelModel& kernel,
                                         std::size_t loop,
                                         std::int64_t tile,
                                         bool values,
                                         std::string& why) {
    const Loop& own = *kernel.facts.loops[loop];
    auto out = streamed_through_tile(context, kernel, own, tile, values, why);
    if (out || own.stmt->parent == kernel.kernel->body) return out;
    const auto exits = with_guard_as_exit(context, kernel);
    if (!exits) return std::nullopt;
    const MoveContext now{context.spec, *exits, context.device};
    const auto changed = model_kernel(now.spec, now.variant, why);
    if (changed == nullptr || changed->facts.loops.size() != kernel.facts.loops.size())
      return std::nullopt;
    return streamed_through_tile(now, *changed, *changed->facts.loops[loop], tile, values, why);
  }

  static std::optional<Variant> windowed(const MoveContext& context,
                                         std::string_view argument,
                                         std::int64_t points,
                                         bool unroll,
                                         std::string& why) {
    const bool flat = context.variant.launch.block[1] == Expression(1);
    if (points > 1)
      return several(context, argument, flat ? 0 : 1,
                     flat ? PointOrder::apart : PointOrder::neighbours, points, unroll, why);
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    for (const Array& array : kernel->facts.arrays) {
      if (array.spec_name == argument)
        return window_through_tile(context, *kernel, array, unroll, why);
    }
    return why = "there is no array " + std::string(argument), std::nullopt;
  }

  /// Several points a thread, their tests before their loops where they can be, and the window.
  static std::optional<Variant> several(const MoveContext& context,
                                        std::string_view argument,
                                        int axis,
                                        PointOrder order,
                                        std::int64_t points,
                                        bool unroll,
                                        std::string& why) {
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    const auto made = points_in_common_loop(context, *kernel, axis, points, order, why);
    if (!made) return std::nullopt;
    if (const auto tested = without_tests({context.spec, *made, context.device})) {
      if (auto out = windowed({context.spec, *tested, context.device}, argument, 1, unroll, why))
        return out;
    }
    return windowed({context.spec, *made, context.device}, argument, 1, unroll, why);
  }

  static std::optional<Variant> without_tests(const MoveContext& context) {
    std::string why;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    for (const auto& loop : kernel->facts.loops) {
      if (loop->parent != nullptr) continue;
      if (auto out = tested_before_loop(context, *kernel, *loop, why)) return out;
    }
    return std::nullopt;
  }
};

}  // namespace

void register_move_smem_tile_stage(MoveRegistry& registry) {
  registry.add("smem_tile_stage", "stage what threads share in shared memory",
               [] { return on_known_shape(std::make_unique<SmemTileStage>()); });
}

}  // namespace warpath
