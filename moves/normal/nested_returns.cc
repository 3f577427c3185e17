#include "moves/normal/nested_returns.h"

#include <optional>
#include <string>
#include <string_view>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/variable_uses.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

bool is_return(const Stmt& s) {
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.otherwise != nullptr || s.expr == nullptr ||
      s.body == nullptr)
    return false;
  const std::vector<const Stmt*> inside = statements(*s.body);
  return inside.size() == 1 && inside[0]->is(StmtKind::return_) && inside[0]->expr == nullptr;
}

/// Behind the block there is nothing, and a thread comes to it once.
bool ends_kernel(const Stmt& block, const Stmt& body) {
  for (const Stmt* at = &block; at != &body; at = at->parent) {
    if (at->parent == nullptr) return false;
    const Stmt& up = *at->parent;
    if (!up.is(StmtKind::if_) && !(up.is(StmtKind::block) && up.children.back() == at))
      return false;
  }
  return true;
}

/// The value may come from memory: it is no matter of which thread asks.
bool depends_on_memory(const KernelFacts& facts, const Expr& value, int depth = 0) {
  constexpr int kDepth = 4;
  bool found = false;
  walk(value, [&](const Expr& e) {
    found = found || e.is(ExprKind::subscript) || e.is_op(ExprKind::unary, "*") ||
            e.is_op(ExprKind::member, "->");
    const auto declared = facts.state->declared.find(&e);
    if (!found && depth < kDepth && declared != facts.state->declared.end() &&
        declared->second->value() != nullptr)
      found = depends_on_memory(facts, *declared->second->value(), depth + 1);
    return !found;
  });
  return found;
}

/// A thread's index is compared, and not only what lies there.
bool compares_thread(const KernelFacts& facts, const Expr& condition) {
  bool found = false;
  walk(condition, [&](const Expr& e) {
    found = found || (e.is(ExprKind::name) && facts.thread_index(e.name) != nullptr) ||
            e.is_name("threadIdx") || e.is_name("blockIdx");
    return !found && !e.is(ExprKind::subscript);
  });
  return found;
}

/// It joins the block's threads, or calls what may.
bool may_join(const Unit& unit, const Stmt& s) {
  bool found = joins_threads(s);
  walk_expressions(s, [&](const Expr& e) {
    found = found || (e.is(ExprKind::call) && !is_pure_function(unit, callee(e)) &&
                      !callee(e).starts_with("atomic"));
    return !found;
  });
  return found;
}

/// Some statement behind it in its block does.
bool joins_behind(const Unit& unit, const Stmt& s) {
  bool behind = false, joins = false;
  for (const Stmt* sibling : s.parent->children) {
    joins = joins || (behind && may_join(unit, *sibling));
    behind = behind || sibling == &s;
  }
  return joins;
}

/// It is `return;`, alone in its block or in none.
bool only_returns(const Stmt* s) {
  if (s == nullptr) return false;
  const std::vector<const Stmt*> inside = statements(*s);
  return inside.size() == 1 && inside[0]->is(StmtKind::return_) && inside[0]->expr == nullptr;
}

/// It returns at its end, and nowhere else.
bool returns_at_end(const Stmt& branch) {
  if (!branch.is(StmtKind::block) || branch.children.size() < 2) return false;
  int returns = 0;
  walk(branch, [&](const Stmt& s) { return returns += s.is(StmtKind::return_) ? 1 : 0, true; });
  return returns == 1 && branch.children.back()->is(StmtKind::return_);
}

std::optional<NestedReturn::Form> form_of(const KernelFacts& facts,
                                          const Stmt& s,
                                          const Stmt& body) {
  using Form = NestedReturn::Form;
  const Stmt* const block = s.parent;
  if (block == nullptr || !block->is(StmtKind::block) || !ends_kernel(*block, body))
    return std::nullopt;
  const bool ends = block->children.back() == &s;
  if (s.is(StmtKind::return_) && s.expr == nullptr && ends && block->children.size() > 1)
    return Form::last;
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.expr == nullptr || s.body == nullptr ||
      s.constexpr_if)
    return std::nullopt;
  if (s.otherwise != nullptr) {
    if (ends && only_returns(s.otherwise) && s.body->is(StmtKind::block)) return Form::in_else;
    return ends && only_returns(s.body) ? std::optional(Form::before_else) : std::nullopt;
  }
  if (ends || joins_behind(*facts.unit, s)) return std::nullopt;
  if (is_return(s)) {
    // the guard of the thread's index stays what it is
    const bool apart =
        block != &body || (depends_on_memory(facts, *s.expr) && !compares_thread(facts, *s.expr));
    return apart ? std::optional(Form::alone) : std::nullopt;
  }
  // moves know the edges of a grid by such branches
  const bool branches = returns_at_end(*s.body) && !may_join(*facts.unit, *s.body) &&
                        depends_on_memory(facts, *s.expr);
  return branches ? std::optional(Form::behind_branch) : std::nullopt;
}

}  // namespace

std::vector<NestedReturn> nested_returns(const KernelFacts& facts) {
  std::vector<NestedReturn> out;
  const Stmt& body = *facts.kernel->body;
  bool jumps = false;
  walk(body, [&](const Stmt& s) {
    jumps = jumps || s.is(StmtKind::goto_) || s.is(StmtKind::label);
    return !jumps;
  });
  if (jumps || !is_read_whole(facts)) return out;
  // lines of a literal are not to be indented
  const std::string_view text = facts.unit->text(body.span);
  for (const std::string_view continued : {"\\\n", "\\\r", "R\""}) {
    if (text.find(continued) != std::string_view::npos) return out;
  }
  walk(body, [&](const Stmt& s) {
    if (s.is_loop() || s.is(StmtKind::switch_)) return false;
    if (const auto form = form_of(facts, s, body)) out.push_back({&s, *form});
    return true;
  });
  return out;
}

bool enclose_rest(const NormalSite& site, std::vector<Edit>& edits) {
  using Form = NestedReturn::Form;
  const std::vector<NestedReturn> found = nested_returns(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Stmt& s = *found.front().stmt;
  const Form form = found.front().form;
  const std::string indent = indentation(unit, s.span.begin);
  if (form == Form::last) {
    const Span lines = whole_lines(unit, s.span);
    edits.push_back({lines.begin, lines.end, ""});
    return true;
  }
  if (form == Form::in_else) {
    edits.push_back({s.body->span.end, s.otherwise->span.end, ""});
    return true;
  }
  const bool own = form == Form::before_else;
  const Span rest = own ? s.otherwise->span : Span{s.span.end, s.parent->children.back()->span.end};
  std::string inner(unit.text(rest));
  if (own && s.otherwise->is(StmtKind::block)) {
    edits.push_back({s.span.begin, rest.begin, "if (" + negated(site.facts, *s.expr) + ") "});
    return true;
  }
  while (inner.starts_with('\n') || inner.starts_with('\r')) inner.erase(0, 1);
  inner = indented(unindented(inner + "\n"), indent + indent_unit(unit)) + indent + "}";
  if (form == Form::behind_branch)
    edits.push_back({rest.begin, rest.end, " else {\n" + inner});
  else
    edits.push_back(
        {s.span.begin, rest.end, "if (" + negated(site.facts, *s.expr) + ") {\n" + inner});
  return true;
}

}  // namespace warpath
