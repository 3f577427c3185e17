#include "moves/edit/guard_exit.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "engine/text/source_edit.h"
#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// No name that the block declares means something outside of it.
bool declares_nothing_known(const Function& kernel, const Stmt& block) {
  std::set<std::string_view> known;
  for (const Declarator* parameter : kernel.parameters) known.insert(parameter->name);
  for (const Stmt* stmt : kernel.body->children) {
    for (const Declarator* d : stmt->declarators) known.insert(d->name);
  }
  return std::ranges::none_of(block.children, [&](const Stmt* stmt) {
    return std::ranges::any_of(stmt->declarators,
                               [&](const Declarator* d) { return known.contains(d->name); });
  });
}

}  // namespace

std::optional<Variant> with_guard_as_exit(const MoveContext& context, const KernelModel& kernel) {
  const Unit& unit = kernel.unit;
  const Stmt& body = *kernel.kernel->body;
  const Stmt* const guard = body.children.empty() ? nullptr : body.children.back();
  if (guard == nullptr || !guard->is(StmtKind::if_) || guard->constexpr_if ||
      guard->init != nullptr || guard->otherwise != nullptr || guard->expr == nullptr ||
      !guard->body->is(StmtKind::block))
    return std::nullopt;
  const Expr& bound = *guard->expr;
  if (!bound.is_op(ExprKind::binary, "<") || !bound.arg(0).is(ExprKind::name) ||
      kernel.facts.thread_index(bound.arg(0).name) == nullptr ||
      unit.plain_text(bound.span) != plain_text(bound) ||  // a macro's
      !declares_nothing_known(*kernel.kernel, *guard->body))
    return std::nullopt;
  const std::string head = "if (" + std::string(bound.arg(0).name) +
                           " >= " + std::string(unit.text(bound.arg(1).outer)) + ") return;\n",
                    rest = indented(body_text(unit, *guard->body),
                                    indentation(unit, guard->span.begin));
  Variant out = context.variant;
  out.source = edited(unit.source(), {{guard->span.begin, guard->span.end,
                                       head + rest.substr(0, rest.find_last_not_of('\n') + 1)}});
  return out;
}

}  // namespace warpath
