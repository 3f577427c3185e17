#include "moves/tiles/contraction_groups.h"

#include <algorithm>
#include <utility>

#include "engine/text/function_text.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

bool find_groups(ContractionParts& parts,
                 const std::vector<AxisPart>& axes,
                 RaggedGroups& out,
                 std::string& why) {
  for (const ContractionParts::Definition& d : parts.definitions()) {
    if (d.stmt == nullptr || !d.stmt->is_loop() || d.defines.size() != 1) continue;
    const std::string& g = d.defines[0];
    const ContractionParts::Definition* first = parts.definition(g);
    const bool from_zero = first != nullptr && first->declarator != nullptr &&
                           first->declarator->value() != nullptr &&
                           constant_value(parts.unit(), *first->declarator->value()) == 0;
    const Expr* step = d.stmt->step;
    const bool steps =
        (step != nullptr && (step->is(ExprKind::unary) || step->is(ExprKind::postfix)) &&
         step->op == "++" && step->arg(0).is_name(g)) ||
        (d.stmt->body != nullptr && statements(*d.stmt->body).size() == 1 &&
         only_steps(parts.unit(), *statements(*d.stmt->body)[0], g));
    std::vector<Condition> conditions;
    if (d.stmt->expr != nullptr) conditions.push_back({d.stmt->expr, false});
    if (d.stmt->expr != nullptr && d.stmt->expr->is_op(ExprKind::binary, "&&")) {
      conditions = {{&d.stmt->expr->arg(0), false}, {&d.stmt->expr->arg(1), false}};
    }
    for (const Condition& condition : conditions) {
      const Expr& e = *condition.expr;
      if (!e.is(ExprKind::binary) || (e.op != ">=" && e.op != "<=")) continue;
      const Expr& row = strip_casts(e.op == ">=" ? e.arg(0) : e.arg(1));
      const Expr& end = strip_casts(e.op == ">=" ? e.arg(1) : e.arg(0));
      const auto axis = std::find_if(axes.begin(), axes.end(),
                                     [&](const AxisPart& a) { return row.is_name(a.axis.name); });
      if (axis == axes.end() || !end.is(ExprKind::subscript) || !end.arg(0).is(ExprKind::name) ||
          !from_zero || !steps)
        continue;
      const CodeText index(parts.unit().text(end.arg(1)));
      const bool next =
          index.text.size() == 3 && index.is(1, "+") &&
          ((index.is(0, g) && index.is(2, "1")) || (index.is(0, "1") && index.is(2, g)));
      const Declarator* offsets = parts.kernel().parameter(end.arg(0).name);
      if (!next || offsets == nullptr) continue;
      ContractionGroups found{std::string(offsets->name), g, "", ""};
      const std::string head = found.offsets + "[";
      const std::string& extent = axis->axis.extent;
      if (extent.starts_with(head) && extent.ends_with("]"))
        found.count = extent.substr(head.size(), extent.size() - head.size() - 1);
      found.launch_count = parts.launch_text(found.count).value_or("");
      if (found.count.empty() || found.launch_count.empty())
        return why = "the number of groups is not told by a guard", false;
      out = {std::move(found), axis->axis.name};
    }
    if (!out.groups && parts.on_threads(d.text))
      return why = "a loop before the sum is no search for a group of rows", false;
  }
  if (out.groups) parts.set_group(out.groups->group);
  return true;
}

}  // namespace warpath
