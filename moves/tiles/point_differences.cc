#include "moves/tiles/point_differences.h"

#include <type_traits>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"

namespace warpath {

using namespace model;

namespace {

/// The element of a thread's own array that a loop of known length counts to, or a number says.
bool is_own_element(const KernelFacts& facts, const Expr& e) {
  if (!e.is(ExprKind::subscript) || e.args.size() != 2) return false;
  const Expr& base = e.arg(0);
  const Expr& index = e.arg(1);
  const Array* const array = base.is(ExprKind::name) ? facts.array(base.name) : nullptr;
  const bool own =
      (array != nullptr && array->space == Space::local) || is_own_element(facts, base);
  const bool counted = std::ranges::any_of(facts.loops, [&](const auto& loop) {
    return loop->counted && loop->trip_count && loop->variable == index.name &&
           is_inside(index, *loop->stmt);
  });
  return own && (index.is(ExprKind::number) || (index.is(ExprKind::name) && counted));
}

/// Evaluated for a point that would not come to it, it reads no memory and divides by nothing.
template <class Node>
bool is_harmless(const KernelFacts& facts, const Node& node) {
  bool out = true;
  const auto look = [&](const Expr& e) {
    if (is_own_element(facts, e)) return false;
    const bool divides = e.op == "/" || e.op == "%" || e.op == "/=" || e.op == "%=";
    out = out && !divides && !e.is(ExprKind::subscript) && !e.is(ExprKind::call) &&
          !e.is_op(ExprKind::unary, "*") && !e.is_op(ExprKind::member, "->") &&
          !e.is(ExprKind::opaque);
    return out;
  };
  if constexpr (std::is_same_v<Node, Expr>)
    walk(node, look);
  else
    walk_expressions(node, look);
  return out;
}

}  // namespace

void PointDifferences::find(const std::vector<const Stmt*>& list, const std::string& index) {
  names_.insert(index);
  for (std::size_t before = 0; before != names_.size();) {
    before = names_.size();
    for (const Stmt* s : list) mark(*s, false);
  }
}

void PointDifferences::mark(const Stmt& s, bool masked) {
  if (is_split(s, masked)) {
    const bool own = varies(*s.expr);
    // what only some of the points change differs among them
    if (own) mark_written(s);
    for (const Stmt* inner : statements(*s.body)) mark(*inner, masked || own);
  } else if (s.is(StmtKind::declaration)) {
    for (const Declarator* d : s.declarators) {
      for (const Expr* value : d->init) {
        if (varies(*value) || (masked && !is_harmless(facts_, *value))) names_.emplace(d->name);
      }
    }
  } else if (is_container(s, masked)) {
    for (const Stmt* inner : statements(*s.body)) mark(*inner, masked);
  } else if (varies(s) || (masked && !is_harmless(facts_, s))) {
    mark_written(s);
  }
}

void PointDifferences::mark_written(const Stmt& s) {
  const auto outside = [&](const Declarator* variable) {
    return variable->stmt == nullptr || !is_inside(*variable->stmt, s);
  };
  for (const Write* write : writes_in(facts_, s.span)) {
    if (write->variable != nullptr && outside(write->variable))
      names_.emplace(write->variable->name);
  }
  for (const Access* access : facts_.accesses_in(s)) {
    const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
    if (access->writes() && array.space == Space::local && array.declarator != nullptr &&
        outside(array.declarator))
      names_.insert(array.name);
  }
}

bool PointDifferences::writes_memory(const Stmt& s) const {
  return std::ranges::any_of(facts_.accesses_in(s), [&](const Access* access) {
    const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
    return access->writes() && array.space != Space::local;
  });
}

bool PointDifferences::is_container(const Stmt& s, bool masked) const {
  const Loop* loop = s.is(StmtKind::for_) ? facts_.loop_of(s) : nullptr;
  if (loop == nullptr || !loop->counted || !loop->declared_inside || loop->exits_early ||
      loop->has_barrier || s.body == nullptr || s.expr == nullptr || s.step == nullptr ||
      varies(*s.expr) || varies(*s.step) || s.init == nullptr || varies(*s.init))
    return false;
  if (masked && !(is_harmless(facts_, *s.expr) && is_harmless(facts_, *s.step) &&
                  is_harmless(facts_, *s.init)))
    return false;
  return !writes_memory(s);
}

bool PointDifferences::is_split(const Stmt& s, bool masked) const {
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.otherwise != nullptr || s.expr == nullptr ||
      s.body == nullptr || !is_pure(kernel_.unit, *s.expr) || jumps_out(s) || joins_threads(s) ||
      writes_memory(s))
    return false;
  const bool inside = masked || varies(*s.expr);
  return std::ranges::any_of(statements(*s.body), [&](const Stmt* inner) {
    return is_container(*inner, inside) || is_split(*inner, inside);
  });
}

bool PointDifferences::is_shared(const Stmt& s) const {
  const bool plain = s.is(StmtKind::expression) || s.is(StmtKind::if_) || s.is_loop();
  return plain && !varies(s) && !s.text_only && !writes_memory(s) && !jumps_out(s) &&
         !joins_threads(s);
}

}  // namespace warpath
