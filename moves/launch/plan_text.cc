#include "moves/launch/plan_text.h"

#include <algorithm>
#include <vector>

#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"

namespace warpath {

using namespace model;

namespace {

/// Quotients and the like that the launch plan computes as the kernel does.
bool is_of_plans(const Atom& operation) {
  return operation.op == "/" || operation.op == "%" || operation.op == "min" ||
         operation.op == "max";
}

std::optional<std::string> said(const MoveContext& context,
                                const KernelModel& model,
                                const Polynomial& size,
                                bool with_operations) {
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
  const std::vector<const Atom*> operations = out.operations();
  if (operations.empty()) return out.factor_text();
  const bool plain =
      std::ranges::all_of(operations, [](const Atom* one) { return is_of_plans(*one); });
  return with_operations && plain ? std::optional("(" + out.text() + ")") : std::nullopt;
}

}  // namespace

std::optional<std::string> plan_text(const MoveContext& context,
                                     const KernelModel& model,
                                     const Polynomial& size) {
  return said(context, model, size, false);
}

std::optional<std::string> plan_text_of_end(const MoveContext& context,
                                            const KernelModel& model,
                                            const Loop& loop) {
  auto text = said(context, model, loop.source_end, true);
  return text ? text : said(context, model, loop.end, true);
}

}  // namespace warpath
