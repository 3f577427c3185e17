#include <algorithm>

#include "engine/base/words.h"
#include "moves/triton/triton_loop_option.h"
#include "register_moves.h"

namespace warpath {
namespace {

/// Functions that do no more than compute.
constexpr WordList kPlainCalls("range min max abs float int");
/// Those of triton.language that reach memory, or other threads, in ways that are not followed.
constexpr WordList kReachingCalls(
    "debug_barrier inline_asm_elementwise device_print device_assert store_tensor_descriptor "
    "load_tensor_descriptor dot_scaled");

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
    std::vector<const ArgSpec*> loaded, stored;
    for (const TritonAccess& access : kernel.accesses()) {
      if (!kernel.text().is_within(access.statement, loop)) continue;
      if (access.argument == nullptr) return "an access of the loop is of an unknown tensor";
      (access.store ? stored : loaded).push_back(access.argument);
    }
    if (loaded.empty()) return "the loop loads nothing";
    for (const ArgSpec* const one : stored) {
      for (const ArgSpec* const other : loaded) {
        if (one == other || may_alias(context.spec, *one, *other))
          return "the loop loads what it stores";
      }
    }
    std::string unknown;
    for (std::size_t i = loop + 1; i < kernel.last(); ++i) {
      if (!kernel.text().is_within(i, loop) || kernel.statement(i).value == nullptr) continue;
      python::walk(*kernel.statement(i).value, [&](const python::Node& node) {
        if (node.is(python::NodeKind::call) && !computes(kernel, node.text)) unknown = node.text;
      });
    }
    return unknown.empty() ? "" : "the loop calls " + unknown + ", which may reach memory";
  }

  static bool may_alias(const KernelSpec& spec, const ArgSpec& a, const ArgSpec& b) {
    return std::ranges::any_of(spec.io.may_alias, [&](const std::vector<std::string>& group) {
      return std::ranges::find(group, a.name) != group.end() &&
             std::ranges::find(group, b.name) != group.end();
    });
  }

  /// What stores of accesses() do is known.
  static bool computes(const TritonKernel& kernel, std::string_view function) {
    const std::string language = kernel.of_language("");
    if (function.starts_with(language)) {
      function.remove_prefix(language.size());
      return !function.starts_with("atomic") && !kReachingCalls.contains(function) &&
             function.find('.') == std::string_view::npos;
    }
    if (function.ends_with(".to")) return true;
    return kPlainCalls.contains(function);
  }
};

}  // namespace

void register_move_triton_loop_stages(MoveRegistry& registry) {
  registry.add("triton_loop_stages", "iterations of a loop in Triton whose loads are in flight",
               [] { return std::make_unique<TritonLoopStages>(); });
}

}  // namespace warpath
