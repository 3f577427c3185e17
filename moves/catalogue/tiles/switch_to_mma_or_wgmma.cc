#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/kernel_rewrite.h"
#include "moves/edit/known_shape.h"
#include "moves/tiles/tensor_ptx.h"
#include "moves/tiles/tensor_tile.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::string_view kMma = "mma.sync", kWgmma = "wgmma";

/// Number in "sm_90a"; 0 if it is no such name.
int compute_capability(std::string_view arch) {
  int out = 0;
  if (!arch.starts_with("sm_")) return 0;
  for (const char c : arch.substr(3)) {
    if (is_digit(c)) out = out * 10 + (c - '0');
  }
  return out;
}

struct TensorParameter {
  Tunable tunable;
  int TensorTile::* field;
};

/// What can be chosen at a site; empty for an unknown one.
std::vector<TensorParameter> tensor_parameters(std::string_view site) {
  if (site == kWgmma) {
    return {{{"block_m",
              {64, 128, 192, 256},
              128,
              "rows of the output that a block makes, 64 a warp group"},
             &TensorTile::block_m},
            {{"block_n", {64, 128, 192, 256}, 256, "columns of the output that a block makes"},
             &TensorTile::block_n},
            {{"stages", {3, 4, 5, 6, 7}, 4, "slices of 128 bytes of k in shared memory"},
             &TensorTile::stages},
            {{"band", {1, 2, 4, 8, 16, 32}, 8, "tile rows that blocks walk column by column"},
             &TensorTile::band}};
  }
  if (site == kMma) {
    return {{{"block_m", {32, 64, 128, 256}, 128, "rows of the output that a block makes"},
             &TensorTile::block_m},
            {{"block_n", {32, 64, 128, 256}, 128, "columns of the output that a block makes"},
             &TensorTile::block_n},
            {{"warps_m", {1, 2, 4, 8}, 2, "warps along the rows"}, &TensorTile::warps_m},
            {{"warps_n", {1, 2, 4, 8}, 2, "warps along the columns"}, &TensorTile::warps_n},
            {{"stages", {2, 3, 4, 5, 6}, 3, "slices of 128 bytes of k in shared memory"},
             &TensorTile::stages},
            {{"band", {1, 2, 4, 8, 16, 32}, 8, "tile rows that blocks walk column by column"},
             &TensorTile::band}};
  }
  return {};
}

TensorTile wgmma_tile(int m, int n, int stages) {
  return {true, m, n, 1, 1, stages, 8};
}
TensorTile mma_tile(int m, int n, int warps_m, int warps_n, int stages) {
  return {false, m, n, warps_m, warps_n, stages, 8};
}

/// Best guess first: large tiles ask least of the caches, small ones fill the machine.
const std::array<TensorTile, 6> kWgmmaTiles{wgmma_tile(128, 256, 4), wgmma_tile(256, 128, 4),
                                            wgmma_tile(128, 192, 4), wgmma_tile(128, 128, 6),
                                            wgmma_tile(128, 128, 3), wgmma_tile(64, 64, 4)};
const std::array<TensorTile, 6> kMmaTiles{mma_tile(128, 128, 2, 2, 3), mma_tile(256, 128, 4, 2, 4),
                                          mma_tile(128, 256, 2, 4, 4), mma_tile(64, 128, 2, 2, 4),
                                          mma_tile(64, 64, 2, 2, 4),   mma_tile(32, 64, 2, 2, 4)};

/// Empty if the device has the instructions and the room, otherwise why not.
std::string device_problem(const DeviceFacts& device,
                           const Contraction& c,
                           const TensorTile& tile) {
  if (!device.is_gpu) return "no GPU";
  // Warp-group instructions belong to one generation: the letter unlocks them.
  if (tile.wgmma && device.arch != "sm_90a") return "wgmma needs sm_90a";
  if (compute_capability(device.arch) < 80)
    return "the device has no mma.sync of these types with asynchronous copies";
  if (tile.threads() > device.max_threads_per_block)
    return "the tile takes " + std::to_string(tile.threads()) + " threads";
  if (tile.smem_bytes() > device.max_smem_per_block_bytes)
    return "the ring takes " + std::to_string(tile.smem_bytes()) + " bytes of shared memory";
  return tensor_tile_problem(c, tile);
}

/// Replaces a sum of products, one thread an output, by a kernel on tensor cores. Sites are the two
/// families of instructions. Sums of floating-point products are formed in another order.
class SwitchToMmaOrWgmma final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "switch_to_mma_or_wgmma"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    if (!context.device.is_gpu) return out;
    const auto c = find_contraction(context, why);
    if (!c || !tensor_problem(*c).empty()) return out;
    const auto list = [&](std::string_view site, const auto& tiles) {
      for (const TensorTile& tile : tiles) {
        if (!device_problem(context.device, *c, tile).empty()) continue;
        MoveInstance instance{std::string(name()), std::string(site), {}};
        for (const TensorParameter& p : tensor_parameters(site))
          instance.parameters[p.tunable.name] = tile.*p.field;
        out.push_back(std::move(instance));
      }
    };
    list(kWgmma, kWgmmaTiles);
    list(kMma, kMmaTiles);
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    for (const TensorParameter& p : tensor_parameters(site)) out.push_back(p.tunable);
    return out;
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const std::vector<TensorParameter> known = tensor_parameters(wanted.site);
    TensorTile tile;
    tile.wgmma = wanted.site == kWgmma;
    for (const TensorParameter& p : known)
      tile.*p.field = static_cast<int>(wanted.parameters.at(p.tunable.name));
    const auto c = find_contraction(context, why);
    if (!c) return std::nullopt;
    why = tensor_problem(*c);
    if (why.empty()) why = device_problem(context.device, *c, tile);
    if (!why.empty()) return std::nullopt;

    const model::Unit unit = model::parse(context.spec, context.variant);
    const model::Function* kernel = unit.find_kernel(context.variant.kernel_name);
    if (kernel == nullptr) return why = "no kernel " + context.variant.kernel_name, std::nullopt;
    CodeTemplate code(unit);
    KernelText text;
    text.body = tensor_body(code, *c, tile);
    text.helpers = tensor_helpers(code, *c, tile);
    text.launch_bounds = std::to_string(tile.threads());
    Variant out = context.variant;
    out.source = with_kernel_text(unit, *kernel, text);
    out.launch = tensor_launch(*c, tile, context.variant.launch);
    return out;
  }
};

}  // namespace

void register_move_switch_to_mma_or_wgmma(MoveRegistry& registry) {
  registry.add(
      "switch_to_mma_or_wgmma",
      "form a sum of bf16, f16 or int8 products on tensor cores, operands in an asynchronous ring",
      [] { return on_known_shape(std::make_unique<SwitchToMmaOrWgmma>()); });
}

}  // namespace warpath
