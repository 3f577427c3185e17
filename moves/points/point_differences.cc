#include "moves/points/point_differences.h"

#include <cstdint>
#include <functional>
#include <optional>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// The variable that `name` refers to; null if unknown.
const Declarator* variable_of(const KernelFacts& facts, const Expr& name) {
  const auto found = facts.state->declared.find(&name);
  return found == facts.state->declared.end() ? nullptr : found->second;
}

/// Values of an index that are known: [first, end).
struct IndexRange {
  std::int64_t first = 0, end = 0;
};

/// Of a number, or of the variable of a loop that counts up between numbers.
std::optional<IndexRange> range_of(const KernelFacts& facts, const Expr& index) {
  if (index.is(ExprKind::number)) {
    const auto value = constant_value(*facts.unit, index);
    return value ? std::optional(IndexRange{*value, *value + 1}) : std::nullopt;
  }
  const Declarator* const variable = index.is(ExprKind::name) ? variable_of(facts, index) : nullptr;
  for (const auto& loop : facts.loops) {
    if (!loop->counted || loop->descending || !loop->trip_count || loop->first_expr == nullptr ||
        variable == nullptr || loop->declarator != variable || loop->stmt->body == nullptr ||
        !is_inside(index, *loop->stmt->body))
      continue;
    const auto first = facts.resolved(loop->first).constant(),
               end = facts.resolved(loop->end).constant();
    if (first && end) return IndexRange{*first, *end};
  }
  return std::nullopt;
}

/// The thread's own array that `e` is an element of, or a row of, at an index within it; null if it
/// is none. `dimensions`: how many indices `e` has.
const Array* own_array(const KernelFacts& facts, const Expr& e, std::size_t& dimensions) {
  if (e.is(ExprKind::name)) {
    const Array* const array = facts.array(e.name);
    const bool own = array != nullptr && array->space == Space::local &&
                     array->declarator != nullptr && array->declarator == variable_of(facts, e) &&
                     !array->declarator->points() && !array->declarator->reference;
    return dimensions = 0, own ? array : nullptr;
  }
  if (!e.is(ExprKind::subscript) || e.args.size() != 2) return nullptr;
  const Array* const array = own_array(facts, e.arg(0), dimensions);
  const std::optional<IndexRange> range = range_of(facts, e.arg(1));
  if (array == nullptr || !range || dimensions >= array->extents.size()) return nullptr;
  const auto extent = facts.resolved(array->extents[dimensions++]).constant();
  return extent && range->first >= 0 && range->end <= *extent ? array : nullptr;
}

bool is_own_element(const KernelFacts& facts, const Expr& e) {
  std::size_t dimensions = 0;
  const Array* const array = e.is(ExprKind::subscript) ? own_array(facts, e, dimensions) : nullptr;
  return array != nullptr && dimensions == array->extents.size();
}

/// The loop comes to an end whatever the variables hold: it counts by a number.
bool ends(const Unit& unit, const Loop* loop) {
  constexpr std::size_t kWide = 4;  // a narrower variable may wrap below its bound
  if (loop == nullptr || !loop->counted || loop->declarator == nullptr || loop->descending ||
      loop->stmt->expr == nullptr || loop->stmt->expr->op == "!=")
    return false;
  const auto step = loop->step.constant();
  return step && *step > 0 && size_of_type(unit.plain_text(loop->declarator->type)) >= kWide;
}

/// Evaluated for a point that would not come to it, it reads no memory and divides by nothing.
bool is_harmless(const KernelFacts& facts, const Expr& root) {
  bool out = true;
  walk(root, [&](const Expr& e) {
    if (is_own_element(facts, e)) return false;
    const bool divides = e.op == "/" || e.op == "%" || e.op == "/=" || e.op == "%=";
    out = out && !divides && !e.is(ExprKind::subscript) && !e.is(ExprKind::call) &&
          !e.is(ExprKind::lambda) && !e.is(ExprKind::statement) && !e.is_op(ExprKind::unary, "*") &&
          !e.is_op(ExprKind::member, "->") && !e.is(ExprKind::opaque);
    return out;
  });
  return out;
}

/// The same of a statement, whose loops end.
bool is_harmless(const KernelFacts& facts, const Stmt& root) {
  bool out = true;
  walk(root, [&](const Stmt& s) {
    const bool plain = s.is(StmtKind::block) || s.is(StmtKind::declaration) ||
                       s.is(StmtKind::expression) || s.is(StmtKind::if_) || s.is(StmtKind::empty);
    out = out && !s.text_only &&
          (plain || (s.is(StmtKind::for_) && ends(*facts.unit, facts.loop_of(s))));
    for (const Expr* e : expressions_of(s)) out = out && is_harmless(facts, *e);
    return out;
  });
  return out;
}

/// More than its value comes of it. Loads with a hint for the caches change nothing.
bool has_effects(const Unit& unit, const Expr& root) {
  bool out = false;
  walk(root, [&](const Expr& e) {
    const bool changes = e.is(ExprKind::assign) || e.op == "++" || e.op == "--" ||
                         e.is(ExprKind::opaque) || e.is(ExprKind::lambda) ||
                         e.is(ExprKind::statement) || e.is(ExprKind::launch);
    out = out || changes ||
          (e.is(ExprKind::call) && !is_pure_function(unit, callee(e)) &&
           !is_load_intrinsic(callee(e)));
    return !out;
  });
  return out;
}

/// Calls `visit` with the names of what a write to `target` may change a part of: s of s.a[j], a
/// and b of *(c ? a : b), none of the indices.
void base_names(const Expr& target, const std::function<void(const Expr&)>& visit) {
  if (target.is(ExprKind::name)) return visit(target);
  const bool indexed = target.is(ExprKind::subscript) && !target.arg(0).is(ExprKind::number);
  for (const Expr* e : target.args) {
    if (!indexed || e == target.args[0]) base_names(*e, visit);
  }
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
    // what a declaration changes it changes once for each point
    const bool changes = std::ranges::any_of(s.declarators, [&](const Declarator* d) {
      return std::ranges::any_of(
          d->init, [&](const Expr* value) { return has_effects(kernel_.unit, *value); });
    });
    if (changes) {
      mark_written(s);
      for (const Declarator* d : s.declarators) names_.emplace(d->name);
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
  walk_expressions(s, [&](const Expr& e) {
    const bool writes = e.is(ExprKind::assign) || e.op == "++" || e.op == "--";
    if (!writes || e.args.empty()) return true;
    base_names(e.arg(0), [&](const Expr& name) {
      const Declarator* const variable = variable_of(facts_, name);
      // what a pointer points to is an array, and an access to it
      if (variable != nullptr && variable->function != nullptr && !variable->points() &&
          outside(variable))
        names_.emplace(variable->name);
    });
    return true;
  });
}

std::string PointDifferences::veto() const {
  std::string out;
  walk(*kernel_.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (d->reference) out = std::string(d->name) + " is another name of what points may share";
    }
    return out.empty();
  });
  for (const Write& write : facts_.state->writes) {
    if (write.escapes && write.variable->function != nullptr)
      out = "the address of " + std::string(write.variable->name) + " is taken";
  }
  return out;
}

std::size_t PointDifferences::declarations(std::string_view name) const {
  const auto named = [&](const Declarator* d) { return d->name == name; };
  auto out = std::ranges::count_if(kernel_.unit.globals(), named) +
             std::ranges::count_if(kernel_.kernel->parameters, named);
  walk(*kernel_.kernel->body, [&](const Stmt& s) {
    out += std::ranges::count_if(s.declarators, named);
    return true;
  });
  return static_cast<std::size_t>(out);
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
                  is_harmless(facts_, *s.init) && ends(kernel_.unit, loop)))
    return false;
  return !writes_memory(s);
}

bool PointDifferences::is_split(const Stmt& s, bool masked) const {
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.otherwise != nullptr || s.expr == nullptr ||
      s.body == nullptr || !is_pure(kernel_.unit, *s.expr) || jumps_out(s) || joins_threads(s) ||
      writes_memory(s))
    return false;
  // of what the points share the outcome is found for all of them
  if (masked && !varies(*s.expr) && !is_harmless(facts_, *s.expr)) return false;
  const bool inside = masked || varies(*s.expr);
  return std::ranges::any_of(statements(*s.body), [&](const Stmt* inner) {
    return is_container(*inner, inside) || is_split(*inner, inside);
  });
}

bool PointDifferences::is_shared(const Stmt& s, bool masked) const {
  const bool plain = s.is(StmtKind::expression) || s.is(StmtKind::if_) || s.is_loop();
  return plain && !varies(s) && !s.text_only && !writes_memory(s) && !jumps_out(s) &&
         !joins_threads(s) && (!masked || is_harmless(facts_, s));
}

}  // namespace warpath
