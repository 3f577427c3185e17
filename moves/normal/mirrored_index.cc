#include "moves/normal/mirrored_index.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// The body keeps no name of the variable that outlives an iteration, and declares none like it.
bool is_of_one_iteration(const Stmt& body, std::string_view name) {
  bool out = true;
  walk(body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      const bool again = d->name == name && s.parent == &body;
      const bool bound = d->reference && d->value() != nullptr && mentions(*d->value(), name);
      if (again || bound) out = false;
    }
    if (s.is(StmtKind::opaque) || s.is(StmtKind::label) || s.is(StmtKind::directive)) out = false;
    return out;
  });
  walk_expressions(body, [&](const Expr& e) {
    const bool address = e.is_op(ExprKind::unary, "&") && mentions(e, name);
    if (address || e.is(ExprKind::lambda) || e.is(ExprKind::opaque)) out = false;
    return out;
  });
  return out;
}

/// `T i = at` at the start, `..., i = at` as the last of every step, and no i between them: the
/// loop's variable i. Null if it is not so.
const Declarator* mirror_of(const Unit& unit, const Stmt& loop) {
  if (!loop.is(StmtKind::for_) || loop.init == nullptr || loop.init->declarators.size() != 1 ||
      loop.expr == nullptr || loop.step == nullptr || !loop.step->is(ExprKind::comma) ||
      loop.step->parenthesised || loop.body == nullptr)
    return nullptr;
  const Declarator& d = *loop.init->declarators.front();
  const bool plain = !d.reference && !d.is_pointer() && !d.is_array() &&
                     (d.qualifiers & ~static_cast<std::uint32_t>(kUnsigned | kAuto)) == 0 &&
                     d.init_form == InitForm::assign && d.value() != nullptr &&
                     d.value()->is(ExprKind::name) && d.value()->name != d.name;
  if (!plain) return nullptr;
  const Expr &before = loop.step->arg(0), &last = loop.step->arg(1);
  const bool mirrors = last.is_op(ExprKind::assign, "=") && last.arg(0).is_name(d.name) &&
                       last.arg(1).is_name(d.value()->name);
  const bool apart = !mentions(before, d.name) && !mentions(*loop.expr, d.name);
  return mirrors && apart && is_pure(unit, *loop.expr) && is_of_one_iteration(*loop.body, d.name)
             ? &d
             : nullptr;
}

std::vector<const Stmt*> mirrored(const KernelFacts& facts) {
  std::vector<const Stmt*> out;
  for (const auto& loop : facts.loops) {
    if (mirror_of(*facts.unit, *loop->stmt) != nullptr) out.push_back(loop->stmt);
  }
  return out;
}

}  // namespace

std::size_t mirrored_indices(const KernelFacts& facts) {
  return mirrored(facts).size();
}

bool mirror_in_body(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<const Stmt*> found = mirrored(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Stmt& loop = *found.front();
  const Stmt &init = *loop.init, &body = *loop.body;
  const std::string declared = unit.plain_text(init.span);
  edits.push_back({init.span.begin, init.span.end, ";"});
  edits.push_back({loop.step->arg(0).outer.end, loop.step->outer.end, ""});
  const std::string pad = "\n" + indentation(unit, loop.span.begin) + indent_unit(unit);
  if (body.is(StmtKind::block)) {
    edits.push_back({body.span.begin + 1, body.span.begin + 1, pad + declared});
  } else {
    edits.push_back({body.span.begin, body.span.begin, "{" + pad + declared + pad});
    edits.push_back(
        {body.span.end, body.span.end, "\n" + indentation(unit, loop.span.begin) + "}"});
  }
  return true;
}

}  // namespace warpath
