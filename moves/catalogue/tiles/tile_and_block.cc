#include <algorithm>
#include <array>

#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/tiles/tile_kernel.h"
#include "register_moves.h"

namespace warpath {
namespace {

struct TileParameter {
  std::string_view name;
  std::int64_t TileShape::* field;
  std::vector<std::int64_t> values;
  std::string_view help;
};

const std::array<TileParameter, 6>& tile_parameters() {
  static const std::array<TileParameter, 6> all{{
      {"bm", &TileShape::bm, {16, 32, 64, 128, 256}, "rows of the output that a block makes"},
      {"bn", &TileShape::bn, {16, 32, 64, 128, 256}, "columns of the output that a block makes"},
      {"bk", &TileShape::bk, {4, 8, 16, 32, 64}, "elements of the sum a step"},
      {"tm", &TileShape::tm, {1, 2, 4, 8, 16}, "rows of a thread"},
      {"tn", &TileShape::tn, {1, 2, 4, 8, 16}, "columns of a thread"},
      {"stages",
       &TileShape::stages,
       {1, 2},
       "1: load, use; 2: load the next step while this one is used"},
  }};
  return all;
}

/// Best guess first: large tiles reuse most, small ones fill the machine.
constexpr std::array<std::array<std::int64_t, 6>, 8> kTileShapes{{
    {128, 128, 8, 8, 8, 2},
    {128, 64, 16, 8, 8, 2},
    {128, 128, 16, 8, 8, 2},
    {128, 128, 8, 8, 8, 1},
    {64, 64, 16, 8, 4, 2},
    {64, 64, 16, 4, 4, 1},
    {32, 64, 16, 4, 4, 1},
    {32, 32, 16, 2, 2, 1},
}};

/// Cuts a contraction into tiles in shared memory and register blocks at once: either half alone
/// gains little.
class TileAndBlock final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "tile_and_block"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto contraction = find_contraction(context, why);
    if (!contraction) return out;
    for (const auto& values : kTileShapes) {
      MoveInstance instance{std::string(name()), "", {}};
      TileShape shape;
      for (std::size_t i = 0; i < values.size(); ++i) {
        instance.parameters[std::string(tile_parameters()[i].name)] = values[i];
        shape.*tile_parameters()[i].field = values[i];
      }
      if (tiled_variant(context, *contraction, shape, why)) out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    if (!site.empty()) return out;
    for (const TileParameter& p : tile_parameters())
      out.push_back({std::string(p.name), p.values, p.values.front(), std::string(p.help)});
    return out;
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    TileShape shape;
    for (const TileParameter& p : tile_parameters())
      shape.*p.field = wanted.parameters.find(p.name)->second;
    const auto contraction = find_contraction(context, why);
    return contraction ? tiled_variant(context, *contraction, shape, why) : std::nullopt;
  }
};

}  // namespace

void register_move_tile_and_block(MoveRegistry& registry) {
  registry.add("tile_and_block",
               "cut a sum of products into tiles in shared memory and register blocks",
               [] { return on_known_shape(std::make_unique<TileAndBlock>()); });
}

}  // namespace warpath
