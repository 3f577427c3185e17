#include "moves/normal/first_values.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/normal/variable_uses.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// A variable of the kernel alone, a number or a pointer, that goes by its own name.
bool is_plain(const KernelFacts& facts, const Declarator& d, const std::vector<const Expr*>& uses) {
  const bool scalar =
      d.is_pointer() || size_of_type(facts.unit->resolved_type(facts.unit->plain_text(d.type))) > 0;
  return scalar && d.function == facts.kernel && !d.is_array() && !d.is_function_pointer &&
         !d.has(kShared | kStatic | kExtern | kAuto) && goes_by_its_name(facts, d, uses);
}

/// A variable without a value, and the statement that sets it before all that uses it.
struct Late {
  const Declarator* variable = nullptr;
  const Expr* name = nullptr;  ///< in the statement
};

bool has_cases(const Stmt& s) {
  bool found = false;
  walk(s, [&](const Stmt& part) { return found = found || part.is(StmtKind::case_), !found; });
  return found;
}

bool is_in_switch(const Stmt& s) {
  for (const Stmt* at = s.parent; at != nullptr; at = at->parent) {
    if (at->is(StmtKind::switch_)) return true;
  }
  return false;
}

/// Its declaration can go: it is the only one of its statement, or one of plain names; and its type
/// is written the same elsewhere.
bool can_go(const KernelFacts& facts, const Declarator& d) {
  const Stmt& s = *d.stmt;
  bool is_hidden = false;  // a word of the type is a variable's name
  walk(*facts.kernel->body, [&](const Stmt& other) {
    for (const Declarator* o : other.declarators)
      is_hidden = is_hidden || says_word(facts.unit->text(d.specifiers), o->name);
    return !is_hidden;
  });
  if (is_hidden) return false;
  const std::string_view stars = facts.unit->text(d.pointer_span);
  const bool plain = stars.find_first_not_of("* \n\t") == std::string_view::npos;
  return plain && !declares_types(facts) &&
         (s.declarators.size() == 1 || std::ranges::all_of(s.declarators, [](const Declarator* o) {
            return o->init_form == InitForm::none && !o->is_pointer() && !o->is_array();
          }));
}

std::vector<Late> late(const KernelFacts& facts) {
  std::vector<Late> out;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (!s.is(StmtKind::declaration) || s.text_only || s.parent == nullptr ||
          !s.parent->is(StmtKind::block) || d->init_form != InitForm::none || !can_go(facts, *d))
        continue;
      const std::vector<const Expr*> uses = uses_of(facts, *d);
      if (uses.empty()) continue;
      const auto first =
          std::ranges::min_element(uses, {}, [](const Expr* use) { return use->span.begin; });
      const Expr* const set = (*first)->parent;
      if (set == nullptr || !set->is_op(ExprKind::assign, "=") || &set->arg(0) != *first ||
          set->stmt == nullptr || !set->stmt->is(StmtKind::expression) || set->stmt->expr != set ||
          set->parenthesised || set->stmt->parent == nullptr)
        continue;
      const Stmt& at = *set->stmt;
      const Stmt& block = *at.parent;
      const bool straight = block.is(StmtKind::block) && !has_cases(block);
      const bool behind = std::ranges::all_of(uses, [&](const Expr* use) {
        return use == *first || (use->span.begin >= at.span.end && block.span.contains(use->span));
      });
      if (straight && behind && is_plain(facts, *d, uses)) out.push_back({d, *first});
    }
    return true;
  });
  return out;
}

/// It is evaluated whenever the statement is, once.
bool is_certain(const Expr& e) {
  for (const Expr* at = &e; at->parent != nullptr; at = at->parent) {
    const Expr& up = *at->parent;
    const bool skipped = (up.is(ExprKind::conditional) || up.is_op(ExprKind::binary, "&&") ||
                          up.is_op(ExprKind::binary, "||") || up.is_op(ExprKind::binary, "and") ||
                          up.is_op(ExprKind::binary, "or")) &&
                         &up.arg(0) != at;
    const bool plain = up.is(ExprKind::unary) || up.is(ExprKind::binary) ||
                       up.is(ExprKind::assign) || up.is(ExprKind::subscript) ||
                       up.is(ExprKind::cast) || up.is(ExprKind::conditional) ||
                       up.is(ExprKind::member);
    if (skipped || !plain) return false;
  }
  return true;
}

/// `p++` as a part of a statement that says p nowhere else.
std::vector<const Expr*> inner_steps(const KernelFacts& facts) {
  std::vector<const Expr*> out;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    const bool steps = e.is(ExprKind::postfix) && (e.op == "++" || e.op == "--") &&
                       e.arg(0).is(ExprKind::name) && !e.arg(0).parenthesised;
    if (!steps || e.stmt == nullptr || e.stmt->parent == nullptr) return true;
    const Stmt& s = *e.stmt;
    if (is_in_switch(s)) return true;
    const bool inner = s.is(StmtKind::expression) && s.expr != &e && s.expr != nullptr &&
                       (s.parent->is(StmtKind::block) || s.parent->body == &s);
    const bool first = s.is(StmtKind::declaration) && s.parent->is(StmtKind::block) &&
                       s.declarators.size() == 1 &&
                       s.declarators[0]->init_form == InitForm::assign &&
                       !s.declarators[0]->reference && !s.declarators[0]->has(kStatic);
    if ((!inner && !first) || !is_certain(e)) return true;
    const auto declared = facts.state->declared.find(&e.arg(0));
    if (declared == facts.state->declared.end()) return true;
    const Declarator& d = *declared->second;
    const std::vector<const Expr*> uses = uses_of(facts, d);
    const auto here =
        std::ranges::count_if(uses, [&](const Expr* use) { return s.span.contains(use->span); });
    const std::string type = facts.unit->resolved_type(facts.unit->plain_text(d.type));
    if (here == 1 && (d.is_pointer() || is_integer_type(type)) && is_plain(facts, d, uses))
      out.push_back(&e);
    return true;
  });
  return out;
}

}  // namespace

std::size_t late_values(const KernelFacts& facts) {
  return late(facts).size() + inner_steps(facts).size();
}

bool declare_late(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<Late> found = late(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Declarator& d = *found.front().variable;
  const Span name = found.front().name->span;
  edits.push_back({name.begin, name.begin,
                   unit.plain_text(d.specifiers) +
                       std::string(static_cast<std::size_t>(d.pointer_depth), '*') + " "});
  const Stmt& s = *d.stmt;
  if (s.declarators.size() == 1) {
    const Span lines = whole_lines(unit, s.span);
    edits.push_back({lines.begin, lines.end, ""});
    return true;
  }
  std::string names;
  for (const Declarator* other : s.declarators) {
    if (other != &d) names += (names.empty() ? "" : ", ") + std::string(other->name);
  }
  edits.push_back(
      {s.declarators.front()->name_span.begin, s.declarators.back()->name_span.end, names});
  return true;
}

bool step_behind(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<const Expr*> found = inner_steps(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Expr& e = *found.front();
  const Stmt& s = *e.stmt;
  const std::string name(e.arg(0).name), step = name + std::string(e.op) + ";";
  const bool alone = !s.parent->is(StmtKind::block);
  const std::string pad = indentation(unit, s.span.begin);
  if (alone) edits.push_back({s.span.begin, s.span.begin, "{ "});
  edits.push_back({e.span.begin, e.span.end, name});
  edits.push_back({s.span.end, s.span.end, alone ? " " + step + " }" : "\n" + pad + step});
  return true;
}

}  // namespace warpath
