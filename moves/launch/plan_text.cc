#include "moves/launch/plan_text.h"

#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"

namespace warpath {

using namespace model;

std::optional<std::string> plan_text(const MoveContext& context,
                                     const KernelModel& model,
                                     const Polynomial& size) {
  if (const auto number = fixed(model.facts, size)) return std::to_string(*number);
  // a version is not the value that the argument has
  if (!size.is_known() || size.key().find('\'') != std::string::npos) return std::nullopt;
  Polynomial out = size;
  for (const std::string& name : size.names()) {
    const Declarator* const parameter = model.kernel->parameter(name);
    const ArgSpec* const arg =
        parameter == nullptr ? nullptr : argument_of(context.spec, *model.kernel, *parameter);
    if (arg == nullptr || arg->type != ArgType::integer) return std::nullopt;
    if (arg->name != name) out = out.substituted(name, Polynomial::name(arg->name));
  }
  if (!out.operations().empty()) return std::nullopt;
  return out.factor_text();
}

std::optional<std::string> plan_text_of_end(const MoveContext& context,
                                            const KernelModel& model,
                                            const Loop& loop) {
  auto text = plan_text(context, model, loop.source_end);
  return text ? text : plan_text(context, model, loop.end);
}

}  // namespace warpath
