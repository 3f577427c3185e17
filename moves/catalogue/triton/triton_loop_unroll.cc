#include "moves/triton/triton_loop_option.h"
#include "register_moves.h"

namespace warpath {
namespace {

/// Copies of a loop's body that follow one another.
class TritonLoopUnroll final : public TritonLoopOption {
 public:
  TritonLoopUnroll()
      : TritonLoopOption("loop_unroll_factor",
                         {2, 4},
                         {0, 1, 2, 3, 4, 8},
                         "copies of the body; 0: leave it to the compiler; 1: none") {}
  [[nodiscard]] std::string_view name() const override { return "triton_loop_unroll"; }

 private:
  [[nodiscard]] std::string refusal(const MoveContext&,
                                    const TritonKernel& kernel,
                                    std::size_t loop) const override {
    return not_innermost(kernel, loop);
  }
};

}  // namespace

void register_move_triton_loop_unroll(MoveRegistry& registry) {
  registry.add("triton_loop_unroll", "unroll an innermost loop of a kernel in Triton",
               [] { return std::make_unique<TritonLoopUnroll>(); });
}

}  // namespace warpath
