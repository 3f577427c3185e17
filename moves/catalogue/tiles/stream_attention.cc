#include <array>

#include "moves/attention/attention.h"
#include "moves/attention/attention_tile.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/kernel_rewrite.h"
#include "moves/edit/known_shape.h"
#include "register_moves.h"

namespace warpath {
namespace {

struct AttentionParameter {
  Tunable tunable;
  int AttentionTile::* field;
};

const std::array<AttentionParameter, 6>& attention_parameters() {
  static const std::array<AttentionParameter, 6> all{{
      {{"queries", {16, 32, 64, 128, 256}, 128, "queries of a block"}, &AttentionTile::queries},
      {{"keys", {8, 16, 32, 64, 128}, 64, "keys and values in shared memory at a time"},
       &AttentionTile::keys},
      {{"threads", {32, 64, 128, 256, 512}, 256, "threads of a block"}, &AttentionTile::threads},
      {{"lanes", {4, 8, 16}, 16, "threads that share a query"}, &AttentionTile::lanes},
      {{"blocks",
        {1, 2, 3, 4},
        2,
        "blocks that share a multiprocessor: what the registers are cut to"},
       &AttentionTile::blocks},
      {{"async", {0, 1}, 1, "1: tiles come by asynchronous copies"}, &AttentionTile::async},
  }};
  return all;
}

/// queries, keys, threads, lanes, blocks. Best guess first: 8 x 4 scores a thread, and as many
/// blocks as fit.
constexpr std::array<std::array<int, 5>, 8> kAttentionTiles{{
    {64, 64, 128, 16, 4},
    {128, 128, 256, 16, 1},
    {128, 64, 128, 8, 2},
    {64, 64, 256, 16, 2},
    {128, 64, 256, 16, 2},
    {64, 32, 128, 8, 1},
    {32, 16, 64, 8, 1},
    {32, 16, 64, 4, 1},
}};

/// Streams keys and values through shared memory past the queries of a block: scores and results in
/// registers, the softmax kept up to date with the largest score so far. Sums are formed in another
/// order, exponentials as powers of two.
class StreamAttention final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "stream_attention"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto attention = find_attention(context, why);
    if (!attention) return out;
    for (const auto& [queries, keys, threads, lanes, blocks] : kAttentionTiles) {
      const AttentionTile tile{queries, keys,   threads,
                               lanes,   blocks, context.device.is_gpu ? 1 : 0};
      if (!problem(context.device, *attention, tile).empty()) continue;
      MoveInstance instance{std::string(name()), "", {}};
      for (const AttentionParameter& p : attention_parameters())
        instance.parameters[p.tunable.name] = tile.*p.field;
      out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    if (!site.empty()) return out;
    for (const AttentionParameter& p : attention_parameters()) out.push_back(p.tunable);
    return out;
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    AttentionTile tile;
    for (const AttentionParameter& p : attention_parameters())
      tile.*p.field = static_cast<int>(wanted.parameters.at(p.tunable.name));
    const auto attention = find_attention(context, why);
    if (!attention) return std::nullopt;
    why = problem(context.device, *attention, tile);
    if (!why.empty()) return std::nullopt;

    const model::Unit unit = model::parse(context.spec, context.variant);
    const model::Function* kernel = unit.find_kernel(context.variant.kernel_name);
    if (kernel == nullptr) return why = "no kernel " + context.variant.kernel_name, std::nullopt;
    CodeTemplate code(unit);
    KernelText text;
    text.body = attention_body(code, *attention, tile);
    text.helpers = attention_helpers(code, tile);
    text.launch_bounds =
        std::to_string(tile.threads) + (tile.blocks > 1 ? ", " + std::to_string(tile.blocks) : "");
    Variant out = context.variant;
    out.source = with_kernel_text(unit, *kernel, text);
    const std::size_t axis = attention->launch_axis;
    out.launch.grid[axis] = Expression::parse(
        "ceil_div(" + attention->launch_queries + ", " + std::to_string(tile.queries) + ")",
        "launch plan");
    out.launch.block[axis] = Expression(1);
    out.launch.block[0] = Expression(tile.threads);
    out.launch.dynamic_smem_bytes = Expression(attention_smem_bytes(*attention, tile));
    return out;
  }

 private:
  static std::string problem(const DeviceFacts& device,
                             const Attention& attention,
                             const AttentionTile& tile) {
    if (tile.async != 0 && !device.is_gpu) return "asynchronous copies need a GPU";
    if (tile.threads > device.max_threads_per_block)
      return "the tile takes " + std::to_string(tile.threads) + " threads";
    const std::int64_t bytes = attention_smem_bytes(attention, tile);
    if (bytes > device.max_smem_per_block_bytes)
      return "the tiles take " + std::to_string(bytes) + " bytes of shared memory";
    return attention_tile_problem(attention, tile);
  }
};

}  // namespace

void register_move_stream_attention(MoveRegistry& registry) {
  registry.add("stream_attention",
               "attention with keys and values streamed through shared memory, a register block a "
               "thread, online softmax",
               [] { return on_known_shape(std::make_unique<StreamAttention>()); });
}

}  // namespace warpath
