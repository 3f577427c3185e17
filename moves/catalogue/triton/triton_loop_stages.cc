#include <algorithm>

#include "moves/triton/triton_loop_body.h"
#include "moves/triton/triton_loop_option.h"
#include "register_moves.h"

namespace warpath {
namespace {

/// How many iterations of a loop have their loads in flight, for one loop instead of the kernel.
class TritonLoopStages final : public TritonLoopOption {
 public:
  TritonLoopStages()
      : TritonLoopOption("num_stages",
                         {3, 2, 4},
                         {0, 1, 2, 3, 4, 5, 6},
                         "iterations in flight; 0: as many as the kernel says; 1: one") {}
  [[nodiscard]] std::string_view name() const override { return "triton_loop_stages"; }

 private:
  /// Loads of later iterations come before stores of earlier ones.
  [[nodiscard]] std::string refusal(const MoveContext& context,
                                    const TritonKernel& kernel,
                                    std::size_t loop) const override {
    if (std::string why = not_innermost(kernel, loop); !why.empty()) return why;
    const bool loads = std::ranges::any_of(kernel.accesses(), [&](const TritonAccess& access) {
      return !access.store && kernel.text().is_within(access.statement, loop);
    });
    return loads ? loads_what_it_stores(context, kernel, loop) : "the loop loads nothing";
  }
};

}  // namespace

void register_move_triton_loop_stages(MoveRegistry& registry) {
  registry.add("triton_loop_stages", "iterations of a loop in Triton whose loads are in flight",
               [] { return std::make_unique<TritonLoopStages>(); });
}

}  // namespace warpath
