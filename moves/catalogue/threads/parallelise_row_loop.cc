#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "moves/blocks/block_rows.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_split.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::array<std::int64_t, 10> kGroupSizes{2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr std::array<std::int64_t, 4> kClusters{1, 2, 4, 8};

/// Lets the threads of a warp, a part of one, a block or a cluster of blocks share the work that
/// one thread did: its loops are strided over the lanes, reductions are combined behind them, and
/// what stands outside is done by all of them, stores by one. Sums of floats are taken in another
/// order. A kernel whose blocks share a row each already, through reductions of the block, is first
/// written with a row a thread: then other numbers of lanes, and several rows a block, may share.
class ParalleliseRowLoop final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "parallelise_row_loop"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    const Rows rows(context, why);
    if (!rows.model) return {};
    const MoveContext seen = rows.context();
    const double trips = typical_trips(seen, *rows.model);
    std::vector<MoveInstance> out;
    std::vector<std::array<std::int64_t, 2>> wanted;
    for (const std::int64_t lanes : ranked_lanes(*rows.model, seen, trips))
      wanted.push_back({lanes, 1});
    if (has_clusters(context.device) && trips >= 1 << 14) {
      wanted.insert(wanted.begin(), {{2048, 8}, {4096, 8}, {2048, 4}});
    }
    for (const auto& [lanes, cluster] : wanted) {
      const LaneGroup group = group_of(lanes, cluster);
      if (legal(group, context, why) && rows.shared(group, why))
        out.push_back(made(lanes, cluster));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    if (!site.empty()) return {};
    std::vector<std::int64_t> lanes(kGroupSizes.begin(), kGroupSizes.end()), clusters{1};
    if (has_clusters(context.device)) {
      clusters.assign(kClusters.begin(), kClusters.end());
      lanes.insert(lanes.end(), {2048, 4096, 8192});
    }
    return {Tunable{"cluster", clusters, 1,
                    "blocks that share a row through distributed shared memory"},
            Tunable{"lanes", lanes, 32,
                    "threads that share a row: a part of a warp, a warp, a block, a cluster"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto lanes = wanted.parameters.find("lanes"), cluster = wanted.parameters.find("cluster");
    if (!wanted.site.empty() || wanted.parameters.size() != 2 || lanes == wanted.parameters.end() ||
        cluster == wanted.parameters.end()) {
      return why = "parallelise_row_loop takes lanes and cluster, and no site", std::nullopt;
    }
    const LaneGroup group = group_of(lanes->second, cluster->second);
    if (!legal(group, context, why)) return std::nullopt;
    const Rows rows(context, why);
    return rows.model ? rows.shared(group, why) : std::nullopt;
  }

 private:
  /// The kernel with one row per thread: itself, or the result of rows_of_threads.
  class Rows {
   public:
    Rows(const MoveContext& given, std::string& why) : given_(given) {
      model = model::model_kernel(given.spec, given.variant, why);
      if (model && (model->facts.has_barrier || model->facts.has_warp_ops)) {
        of_block_ = rows_of_threads(given, *model, why);
        model = of_block_ ? model::model_kernel(given.spec, of_block_->variant, why) : nullptr;
      }
      if (model && !can_split_rows(context(), *model, nullptr, why)) model = nullptr;
    }
    Rows(const Rows&) = delete;  // the model refers to the variant
    Rows& operator=(const Rows&) = delete;
    Rows(Rows&&) = delete;
    Rows& operator=(Rows&&) = delete;
    ~Rows() = default;

    [[nodiscard]] MoveContext context() const {
      return {given_.spec, of_block_ ? of_block_->variant : given_.variant, given_.device};
    }

    [[nodiscard]] std::optional<Variant> shared(const LaneGroup& group, std::string& why) const {
      if (of_block_ && !of_block_->guarded && group.lanes < kWarpLanes)
        return why = "a warp would take several rows, and their number has no name", std::nullopt;
      auto out = split_rows(context(), *model, group, nullptr, why);
      if (out && of_block_ && out->source == given_.variant.source)
        return why = "the block's threads share the rows like this already", std::nullopt;
      return out;
    }

    std::shared_ptr<const model::KernelModel> model;  ///< null with a reason

   private:
    const MoveContext& given_;
    std::optional<ThreadRows> of_block_;
  };

  static MoveInstance made(std::int64_t lanes, std::int64_t cluster) {
    return {"parallelise_row_loop", "", {{"cluster", cluster}, {"lanes", lanes}}};
  }

  static LaneGroup group_of(std::int64_t lanes, std::int64_t cluster) {
    LaneGroup out;
    out.lanes = lanes;
    out.cluster = cluster;
    return out;
  }

  static bool legal(const LaneGroup& group, const MoveContext& context, std::string& why) {
    const bool known =
        std::find(kClusters.begin(), kClusters.end(), group.cluster) != kClusters.end();
    if (!known || group.lanes % group.cluster != 0 ||
        std::find(kGroupSizes.begin(), kGroupSizes.end(), group.block()) == kGroupSizes.end()) {
      return why = "lanes is a power of two of at most 1024 a block, cluster 1, 2, 4 or 8", false;
    }
    if (group.cluster > 1 && (group.block() <= kWarpLanes || !has_clusters(context.device))) {
      return why = "blocks form clusters of more than a warp each, on a GPU from sm_90 on", false;
    }
    if (group.block() > context.device.max_threads_per_block)
      return why = "the device's blocks are smaller", false;
    return true;
  }

  /// Best guess first: about eight iterations per lane, with the whole device busy.
  static std::vector<std::int64_t> ranked_lanes(const model::KernelModel& model,
                                                const MoveContext& context,
                                                double trips) {
    double threads = 0;
    if (!context.spec.workloads.empty())
      threads = model.facts.estimate(*all_workloads_of(context).front()).threads;
    const double machine =
        context.device.multiprocessors > 0 ? context.device.multiprocessors * 1024.0 : 1 << 17;
    double best = trips > 0 ? trips / 16 : 16;
    if (threads > 0 && threads * best < machine) best = machine / threads;
    if (trips > 0) best = std::min(best, trips);
    std::vector<std::int64_t> out(kGroupSizes.begin(), kGroupSizes.end());
    if (trips > 0)
      std::erase_if(out,
                    [&](std::int64_t lanes) { return static_cast<double>(lanes) > 2 * trips; });
    std::stable_sort(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) {
      const auto distance = [&](std::int64_t lanes) {
        return std::abs(std::log2(static_cast<double>(lanes) / best));
      };
      return distance(a) < distance(b);
    });
    if (out.size() > 6) out.resize(6);
    return out;
  }
};

}  // namespace

void register_move_parallelise_row_loop(MoveRegistry& registry) {
  registry.add("parallelise_row_loop",
               "a warp, a part of it, a block or a cluster shares the loops that one thread ran "
               "over its row",
               [] { return on_known_shape(std::make_unique<ParalleliseRowLoop>()); });
}

}  // namespace warpath
