#include "moves/blocks/row_launch.h"

#include <set>

#include "engine/base/error.h"
#include "moves/edit/span_rewrite.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

/// Of the kernel of one thread a row.
constexpr int kRowsOfBlock = 128;

}  // namespace

std::string RowCount::block() const {
  return std::to_string(text ? kRowsOfBlock : kWarpLanes);
}

RowCount row_count(const MoveContext& context, const model::KernelModel& model) {
  const model::Unit& unit = model.unit;
  const Expression& grid = context.variant.launch.grid[0];
  const std::set<std::string> names = grid.names();
  if (grid.is_constant()) return {grid.text(), nullptr};
  if (names.size() != 1 || *names.begin() != grid.text()) return {};
  if (unit.is_defined(grid.text())) return {grid.text(), nullptr};
  for (const model::Declarator* p : model.kernel->parameters) {
    const ArgSpec* argument = argument_of(context.spec, *model.kernel, *p);
    if (argument != nullptr && argument->name == grid.text() && !p->name.empty())
      return {std::string(p->name), nullptr};
  }
  for (const model::Stmt* s : model.kernel->body->children) {
    if (!s->is(model::StmtKind::declaration) || s->declarators.size() != 1) continue;
    const model::Declarator& d = *s->declarators[0];
    if (d.name == grid.text() && d.has(model::kConstexpr)) return {grid.text(), s};
  }
  return {};
}

bool set_thread_rows(LaunchPlan& plan, const RowCount& rows, std::string& why) {
  try {
    plan.grid[0] =
        Expression::parse("ceil_div(" + plan.grid[0].text() + ", " + rows.block() + ")", "grid");
  } catch (const Error&) {
    return why = "the launch plan cannot be changed", false;
  }
  plan.block = {Expression::parse(rows.block(), "block"), Expression(1), Expression(1)};
  return true;
}

std::string row_index(const std::string& row, const RowCount& rows, bool wide) {
  std::string out = std::string("const ") + (wide ? "long long " : "int ") + row +
                    " = blockIdx.x * " + rows.block() + " + threadIdx.x;\n";
  if (rows.text) out += "if (" + row + " >= " + *rows.text + ") return;\n";
  return out;
}

}  // namespace warpath
