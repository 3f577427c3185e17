#include <algorithm>

#include "moves/edit/known_shape.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kShapeSite = "shape";

/// An integer parameter that has one value in every workload of the device.
struct Size {
  const Declarator* parameter = nullptr;
  std::string argument;
  std::int64_t value = 0;
};

/// The kernel changes the parameter or takes its address.
bool is_changed(const Function& kernel, std::string_view name) {
  bool changed = false;
  walk_expressions(*kernel.body, [&](const Expr& e) {
    if (!e.is_name(name) || e.parent == nullptr) return !changed;
    const Expr& p = *e.parent;
    const bool steps = (p.is(ExprKind::unary) || p.is(ExprKind::postfix)) &&
                       (p.op == "++" || p.op == "--" || p.op == "&");
    if (steps || (p.is(ExprKind::assign) && p.args[0] == &e)) changed = true;
    return !changed;
  });
  walk(*kernel.body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      // hidden or referred to
      if (d->name == name || (d->reference && d->value() != nullptr && mentions(*d->value(), name)))
        changed = true;
    }
    return !changed;
  });
  return changed;
}

std::vector<Size> find_sizes(const MoveContext& context, const KernelModel& model) {
  std::vector<Size> out;
  const auto workloads = workloads_of(context);
  for (const Declarator* d : model.kernel->parameters) {
    const ArgSpec* const arg = argument_of(context.spec, *model.kernel, *d);
    if (arg == nullptr || arg->type != ArgType::integer || d->is_pointer() || d->reference ||
        d->is_array() || d->name.empty())
      continue;
    if (!is_integer_type(model.unit.text(d->type)) || d->value() != nullptr ||
        is_changed(*model.kernel, d->name))
      continue;
    Size size{d, arg->name, 0};
    bool same = true;
    for (const Workload* w : workloads) {
      const Bindings values = context.spec.bindings(*w, context.variant.tunables);
      const auto value = values.find(arg->name);
      if (value == values.end() || (w != workloads.front() && value->second != size.value))
        same = false;
      if (same) size.value = value->second;
    }
    if (same) out.push_back(size);
  }
  return out;
}

/// Sizes of the spec become constants of the kernel, so that trip counts, remainders and
/// divisibility are known. The arguments are still passed; the result is right for those sizes
/// only. Site "shape": all of them, "argument:NAME": one.
class SpecialiseShape final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "specialise_shape"; }
  [[nodiscard]] bool structural() const override { return true; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    std::vector<MoveInstance> out;
    if (model == nullptr) return out;
    const std::vector<Size> sizes = find_sizes(context, *model);
    if (!sizes.empty()) out.push_back({std::string(name()), std::string(kShapeSite), {}});
    for (const Size& size : sizes) {
      if (sizes.size() > 1)
        out.push_back({std::string(name()), std::string(kArgumentPrefix) + size.argument, {}});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {}, why)) return std::nullopt;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    std::vector<Size> sizes = find_sizes(context, *model);
    if (wanted.site != kShapeSite)
      std::erase_if(sizes, [&](const Size& s) {
        return std::string(kArgumentPrefix) + s.argument != wanted.site;
      });
    if (sizes.empty())
      return why = "no integer argument with one value in all workloads at " + wanted.site,
             std::nullopt;
    Rewrite rewrite(*model);
    for (const Size& size : sizes) {
      const Declarator& d = *size.parameter;
      const std::string name(d.name);
      rewrite.replace(d.name_span, "/*" + name + "*/");
      rewrite.declare_first("constexpr " + std::string(model->unit.plain_text(d.type)) + " " +
                            name + " = " + std::to_string(size.value) + ";\n");
    }
    return rewrite.finish(context.variant);
  }
};

}  // namespace

std::optional<Variant> with_known_shape(const MoveContext& context) {
  return model::remembered(context, "specialise_shape", [&] {
    std::string why;
    return SpecialiseShape().apply(context, {"specialise_shape", std::string(kShapeSite), {}}, why);
  });
}

void register_move_specialise_shape(MoveRegistry& registry) {
  registry.add("specialise_shape", "sizes of the spec as constants of the kernel",
               [] { return std::make_unique<SpecialiseShape>(); });
}

}  // namespace warpath
