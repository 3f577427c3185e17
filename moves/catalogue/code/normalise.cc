#include <memory>

#include "moves/edit/known_shape.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/normal/normal_form.h"
#include "register_moves.h"

namespace warpath {
namespace {

/// Brings the kernel into normal form, in which the facts follow more of it. Site "kernel".
class Normalise final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "normalise"; }
  [[nodiscard]] bool structural() const override { return true; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    if (!with_normal_form(context)) return {};
    return {{std::string(name()), std::string(kKernelSite), {}}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {}, why)) return std::nullopt;
    if (wanted.site != kKernelSite)
      return why = "normalise applies to the kernel as a whole", std::nullopt;
    if (auto normal = with_normal_form(context)) return normal;
    return normal_form(context, why);
  }

 private:
  static constexpr std::string_view kKernelSite = "kernel";
};

std::optional<Variant> normal_form_of(const MoveContext& context) {
  std::string why;
  const auto model = model::model_kernel(context.spec, context.variant, why);
  if (model == nullptr) {
    // opaque text may be a macro's, an open condition the device's to decide
    const model::Unit unit = model::parse(context.spec, context.variant);
    const model::Function* const kernel = unit.find_kernel(context.variant.kernel_name);
    const bool macros = kernel != nullptr && !kernel->opaque.empty() && !unit.macros().empty();
    if (kernel == nullptr || !(macros || kernel->unresolved_conditionals)) return std::nullopt;
  } else if (!may_be_normalised(model->facts)) {
    return std::nullopt;
  }
  return normal_form(context, why);
}

}  // namespace

std::optional<Variant> with_normal_form(const MoveContext& context) {
  return model::remembered(context, "normalise", [&] { return normal_form_of(context); });
}

void register_move_normalise(MoveRegistry& registry) {
  registry.add("normalise",
               "helpers, macros and thread groups written out in the kernel, loops with an index "
               "of their own",
               [] { return std::make_unique<Normalise>(); });
}

}  // namespace warpath
