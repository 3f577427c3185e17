#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "moves/blocks/block_scan.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_split.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::array<std::int64_t, 9> kScanLanes{4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr std::array<std::int64_t, 4> kPacks{1, 2, 4, 8};
constexpr std::array<std::int64_t, 4> kScanVectors{1, 2, 4, 8};

using Shape = std::array<std::int64_t, 2>;  // lanes, packs

/// For rows that a block has at once already: of one tile of packs of four, or a little more.
std::vector<Shape> shapes_of_block(std::int64_t length) {
  std::vector<Shape> out;
  for (const std::int64_t packs : {1, 2, 4}) {
    std::int64_t lanes = kWarpLanes;
    while (lanes * packs * 4 < length && lanes < kScanLanes.back()) lanes *= 2;
    if (out.empty() || lanes < out.back()[0]) out.push_back({lanes, packs});
  }
  return out;
}

/// The kernel with one row per thread: itself, or the result of serial_scan.
class RowOfThread {
 public:
  RowOfThread(const MoveContext& given, std::string& why) : given_(given) {
    model = model::model_kernel(given.spec, given.variant, why);
    if (model) of_block = serial_scan(given, *model, not_of_block);
    if (of_block) model = model::model_kernel(given.spec, of_block->variant, why);
  }
  RowOfThread(const RowOfThread&) = delete;  // the model refers to the variant
  RowOfThread& operator=(const RowOfThread&) = delete;
  RowOfThread(RowOfThread&&) = delete;
  RowOfThread& operator=(RowOfThread&&) = delete;
  ~RowOfThread() = default;

  [[nodiscard]] MoveContext context() const {
    return {given_.spec, of_block ? of_block->variant : given_.variant, given_.device};
  }

  std::optional<SerialScan> of_block;
  std::string not_of_block;                         ///< why there is none
  std::shared_ptr<const model::KernelModel> model;  ///< null with a reason

 private:
  const MoveContext& given_;
};

/// Lets lanes share a loop in which every prefix of an accumulation is used: each lane accumulates
/// packs of neighbours, shuffles and shared memory give what precedes them, and the loop's own body
/// runs over each pack. Inclusive, exclusive, any associative operator; sums of floats are taken in
/// another order. The rest of the kernel is shared as by parallelise_row_loop. A kernel whose
/// blocks compute prefixes already, through shared memory and barriers, is first written as such a
/// loop.
class ScanParallelise final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "scan_parallelise"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    const RowOfThread rows(context, why);
    const ScanShape any;
    if (!rows.model || !can_split_rows(rows.context(), *rows.model, &any, why)) return {};
    const double trips = typical_trips(rows.context(), *rows.model);
    std::vector<Shape> shapes{{512, 2}, {256, 4}, {128, 2}, {32, 4}, {1024, 1}, {32, 1}, {8, 1}};
    if (rows.of_block) shapes = shapes_of_block(rows.of_block->length);
    std::vector<MoveInstance> out;
    for (const auto& [lanes, packs] : shapes) {
      if (trips > 0 && static_cast<double>(lanes * packs) > 2 * trips) continue;
      for (const std::int64_t vector : {4, 1}) {
        const MoveInstance instance{
            std::string(name()), "", {{"lanes", lanes}, {"packs", packs}, {"vector", vector}}};
        if (!shared(rows, instance, why)) continue;
        out.push_back(instance);
        break;
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.empty()) return {};
    return {
        Tunable{"lanes", {kScanLanes.begin(), kScanLanes.end()}, 32, "threads that share a row"},
        Tunable{"packs", {kPacks.begin(), kPacks.end()}, 1, "packs a thread has in flight"},
        Tunable{"vector",
                {kScanVectors.begin(), kScanVectors.end()},
                1,
                "neighbours in a pack, moved at once"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const RowOfThread rows(context, why);
    if (!rows.model) return std::nullopt;
    auto out = shared(rows, wanted, why);
    const bool together = rows.model->facts.has_barrier || rows.model->facts.has_warp_ops;
    if (!out && !rows.of_block && together) why = rows.not_of_block;
    return out;
  }

 private:
  static std::optional<Variant> shared(const RowOfThread& rows,
                                       const MoveInstance& wanted,
                                       std::string& why) {
    const ScanShape shape{wanted.parameters.at("packs"), wanted.parameters.at("vector")};
    LaneGroup group;
    group.lanes = wanted.parameters.at("lanes");
    if (!group.within_warp() && group.lanes / kWarpLanes * shape.packs > kWarpLanes) {
      return why = "a block's packs have more than 32 totals of warps", std::nullopt;
    }
    if (group.lanes > rows.context().device.max_threads_per_block)
      return why = "the device's blocks are smaller", std::nullopt;
    if (rows.of_block && !rows.of_block->guarded && group.lanes < kWarpLanes)
      return why = "a warp would take several rows, and their number has no name", std::nullopt;
    return split_rows(rows.context(), *rows.model, group, &shape, why);
  }
};

}  // namespace

void register_move_scan_parallelise(MoveRegistry& registry) {
  registry.add("scan_parallelise", "lanes share a prefix sum (or another scan) over a row",
               [] { return on_known_shape(std::make_unique<ScanParallelise>()); });
}

}  // namespace warpath
