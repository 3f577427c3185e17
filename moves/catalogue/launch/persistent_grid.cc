#include <algorithm>

#include "moves/edit/kernel_move.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/grid_stride.h"
#include "moves/model/kernel_model.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kBlockSite = "block";

/// A grid that just fills the device; its threads or blocks stride over the work. Site "thread":
/// each thread of a kernel with a guarded index takes every gridDim.x * blockDim.x-th item;
/// "block": each block takes every gridDim.x-th block's work.
class PersistentGrid final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "persistent_grid"; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kThreadSite && site != kBlockSite) return {};
    return {Tunable{"blocks_per_sm",
                    {std::begin(kBlocksPerMultiprocessor), std::end(kBlocksPerMultiprocessor)},
                    8,
                    "blocks of the grid for each multiprocessor"}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel&) const override {
    std::vector<MoveInstance> out;
    for (const std::string_view site : {kThreadSite, kBlockSite})
      add(out, std::string(site), "blocks_per_sm", {8, 4, 2, 16, 1, 32});
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    const std::int64_t blocks_per_sm = wanted.parameters.at("blocks_per_sm");
    if (wanted.site == kThreadSite) return strided_over_threads(context, model, blocks_per_sm, why);
    return strided_over_blocks(context, model, blocks_per_sm, why);
  }
};

}  // namespace

void register_move_persistent_grid(MoveRegistry& registry) {
  registry.add("persistent_grid", "a grid that fills the device and strides over the work",
               [] { return std::make_unique<PersistentGrid>(); });
}

}  // namespace warpath
