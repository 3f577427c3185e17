#include "moves/edit/guard_exit.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

/// Takes one step of indentation off the lines that begin in [begin, end).
void outdent_lines(std::string_view text,
                   std::size_t begin,
                   std::size_t end,
                   std::string_view step,
                   std::vector<Edit>& edits) {
  for (std::size_t line = text.find('\n', begin); line < end; line = text.find('\n', line + 1)) {
    if (text.substr(line + 1).starts_with(step))
      edits.push_back({line + 1, line + 1 + step.size(), ""});
  }
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
  const std::string_view text = unit.source();
  const Span block = guard->body->span, end = bound.arg(1).outer;
  std::vector<Edit> edits{{guard->span.begin, block.begin + 1,
                           "if (" + std::string(bound.arg(0).name) +
                               " >= " + std::string(unit.text(end)) + ") return;"}};
  const std::size_t close = block.end - 1, last = text.find_last_not_of(" \t\n", close - 1) + 1;
  outdent_lines(text, block.begin + 1, last, indent_unit(unit), edits);
  edits.push_back({last, block.end, ""});
  Variant out = context.variant;
  out.source = edited(text, std::move(edits));
  return out;
}

}  // namespace warpath
