#include "moves/points/outer_split.h"

#include <algorithm>

#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// Longest loop whose values are kept for each iteration.
constexpr std::int64_t kMostLanes = 16;

bool is_calm(const Unit& unit, const Expr& root) {
  bool calm = true;
  walk(root, [&](const Expr& e) {
    if (e.is(ExprKind::call)) calm = calm && is_pure_function(unit, callee(e));
    calm = calm && !e.is(ExprKind::launch) && !e.is(ExprKind::lambda) &&
           !e.is(ExprKind::statement) && !e.is(ExprKind::opaque) && !e.is(ExprKind::new_object);
    return calm;
  });
  return calm;
}

}  // namespace

bool OuterSplit::find(std::string& why) {
  if (!flatten(*kernel_.kernel->body, why)) return false;
  std::set<std::string_view> names;
  for (const OuterItem& item : items) {
    if (item.exit != nullptr) continue;
    for (const Declarator* d : item.stmt->declarators) {
      if (!names.insert(d->name).second || kernel_.kernel->parameter(d->name) != nullptr)
        return why = std::string(d->name) + " means several things", false;
    }
  }
  for (std::size_t before = 0;;) {
    mark_items();
    if (steps.varying() == before) break;
    before = steps.varying();
  }
  mark_items();
  for (const OuterItem& item : items) {
    if (item.exit != nullptr || !item.varies) continue;
    for (const std::string& name : facts_.names_written(*item.stmt)) {
      if (kernel_.kernel->parameter(name) != nullptr)
        return why = name + " would go from one point to the next", false;
    }
  }
  for (const OuterItem& item : items) {
    const bool loop = item.varies && item.exit == nullptr && item.stmt->is_loop();
    exits_in_loop = exits_in_loop || (item.varies && (item.exit != nullptr || leaves(*item.stmt)));
    if (item.exit != nullptr && !item.bound && !item.varies) need_first(*item.exit);
    if (item.exit == nullptr && (!item.varies || is_lanes(*item.stmt) || !loop))
      find_work(*item.stmt);
  }
  return true;
}

bool OuterSplit::flatten(const Stmt& block, std::string& why) {
  const std::vector<const Stmt*> all = statements(block);
  for (const Stmt* s : all) {
    if (s->is(StmtKind::empty) || (s->is(StmtKind::directive) && s->name == "pragma")) continue;
    if (s->is(StmtKind::directive) || s->text_only)
      return why = "a statement of the kernel is not understood", false;
    const std::vector<const Stmt*> inner =
        s->is(StmtKind::if_) ? statements(*s->body) : std::vector<const Stmt*>();
    const bool plain = s->is(StmtKind::if_) && s->init == nullptr && s->otherwise == nullptr;
    const bool exit = plain && inner.size() == 1 && inner[0]->is(StmtKind::return_);
    const bool around = plain && !exit && s == all.back();
    if (exit || around) {
      if (!guard(*s->expr, exit, *s, why)) return false;
      if (around && !flatten(*s->body, why)) return false;
    } else {
      items.push_back({s});
    }
  }
  return true;
}

bool OuterSplit::guard(const Expr& e, bool leaves, const Stmt& s, std::string& why) {
  if (e.is_op(ExprKind::binary, leaves ? "||" : "&&"))
    return guard(e.arg(0), leaves, s, why) && guard(e.arg(1), leaves, s, why);
  OuterItem item{&s, &e, !leaves};
  const bool own =
      axis_.index != nullptr && axis_.index->guard->stmt == &s && mentions(e, axis_.index->name);
  if (own) {
    item.bound = e.is(ExprKind::binary) &&
                 (e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=") &&
                 (strip_casts(e.arg(0)).is_name(axis_.index->name) ||
                  strip_casts(e.arg(1)).is_name(axis_.index->name));
    if (!item.bound) return why = "a guard is more than a bound of " + axis_.index->name, false;
  }
  const Expr* const value = e.is_op(ExprKind::binary, leaves ? ">=" : "<") ? &e.arg(0) : nullptr;
  if (axis_.grid_axis >= 0 && value != nullptr) {
    const std::string block = std::string("blockIdx.") + "xyz"[axis_.grid_axis];
    const Polynomial end = facts_.polynomial(e.arg(1));
    const auto number = fixed(facts_, end);
    item.bound = facts_.polynomial(*value) == Polynomial::name(block) &&
                 (number ? Polynomial(*number) : end) == axis_.extent;
  }
  items.push_back(item);
  return true;
}

std::size_t OuterSplit::declared(std::string_view name) const {
  std::size_t out = 0;
  walk(*kernel_.kernel->body, [&](const Stmt& s) {
    out += static_cast<std::size_t>(
        std::ranges::count_if(s.declarators, [&](const Declarator* d) { return d->name == name; }));
    return true;
  });
  return out;
}

bool OuterSplit::leaves(const Stmt& s) const {
  bool found = false;
  walk(s, [&](const Stmt& inner) { return found = found || inner.is(StmtKind::return_), !found; });
  return found;
}

bool OuterSplit::reads_only_constants(Span span) const {
  return std::ranges::all_of(facts_.accesses, [&](const Access& access) {
    if (!span.contains(access.expr->span)) return true;
    const Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
    if (array.space == Space::local) return true;
    if (access.writes() || array.written) return false;
    for (std::size_t other = 0; other < facts_.arrays.size(); ++other) {
      const Array& stored = facts_.arrays[other];
      if (stored.written && stored.space != Space::local &&
          facts_.may_alias(access.array, static_cast<int>(other)))
        return false;
    }
    return true;
  });
}

bool OuterSplit::is_quiet(const Expr& e) const {
  return is_pure(kernel_.unit, e) && reads_only_constants(e.span);
}

bool OuterSplit::is_same(const Stmt& s) const {
  bool same = reads_only_constants(s.span) && !jumps_out(s) && !joins_threads(s);
  walk(s, [&](const Stmt& inner) {
    for (const Expr* e : expressions_of(inner))
      same = same && steps.of(*e).is_same() && is_calm(kernel_.unit, *e);
    return same;
  });
  return same;
}

/// Neither loads nor divides: it may be run for points that are none.
bool OuterSplit::is_safe(const Stmt& s) const {
  bool safe = true;
  walk_expressions(s, [&](const Expr& e) {
    const auto by = e.is(ExprKind::binary) && (e.op == "/" || e.op == "%")
                        ? fixed(facts_, facts_.polynomial(e.arg(1)))
                        : std::optional<std::int64_t>(1);
    safe = safe && (by || type_of(facts_, e) == "float") && !e.is(ExprKind::subscript) &&
           !e.is_op(ExprKind::unary, "*");
    return safe;
  });
  return safe;
}

bool OuterSplit::is_lanes(const Stmt& s) const {
  const Loop* loop = s.is(StmtKind::for_) ? facts_.loop_of(s) : nullptr;
  return loop != nullptr && loop->counted && loop->declared_inside && !loop->exits_early &&
         loop->trip_count && *loop->trip_count >= 2 && *loop->trip_count <= kMostLanes &&
         loop->first.is_zero() && loop->step == Polynomial(1) && s.body != nullptr &&
         s.body->is(StmtKind::block) && !jumps_out(s) && declared_once(loop->variable);
}

bool OuterSplit::varies(const Stmt& s) const {
  if (s.is(StmtKind::declaration))
    return std::ranges::any_of(s.declarators,
                               [&](const Declarator* d) { return steps.varies(d->name); });
  if (is_lanes(s))
    return std::ranges::any_of(s.body->children, [&](const Stmt* inner) { return varies(*inner); });
  return !is_same(s) || std::ranges::any_of(facts_.names_written(s), [&](const std::string& name) {
    return steps.varies(name);
  });
}

void OuterSplit::mark_declaration(const Stmt& s, bool safe) {
  for (const Declarator* d : s.declarators) {
    const bool single = d->init.size() <= 1 && d->init_form != InitForm::braces && !d->reference;
    const bool same =
        single && safe && !d->has(kStatic) && std::ranges::all_of(d->init, [&](const Expr* e) {
          return steps.of(*e).is_same() && is_quiet(*e);
        });
    if (same || steps.varies(d->name)) continue;
    const bool integer = d->value() != nullptr && d->init_form == InitForm::assign &&
                         !d->is_pointer() && !d->is_array() && !d->reference && !d->has(kAuto) &&
                         is_integer_type(kernel_.unit.plain_text(d->type)) &&
                         size_of_type(kernel_.unit.plain_text(d->type)) >= 4 &&
                         is_pure(kernel_.unit, *d->value());
    const std::vector<std::string> written = facts_.names_written(*kernel_.kernel->body);
    const bool once =
        declared_once(d->name) && std::ranges::find(written, d->name) == written.end();
    OuterStep step = integer && once ? steps.of(*d->value()) : OuterStep{};
    // what is not quiet varies, though it were the same
    if (step.is_same()) step = {};
    steps.vary(d->name, step);
  }
}

void OuterSplit::mark(const Stmt& s, bool safe) {
  if (s.is(StmtKind::declaration)) return mark_declaration(s, safe);
  if (is_lanes(s)) {
    const Loop& loop = *facts_.loop_of(s);
    steps.count(loop.variable, *loop.trip_count);
    std::vector<const Stmt*> list;
    for (const Stmt* inner : s.body->children) {
      mark(*inner, safe);
      list.push_back(inner);
      for (const Declarator* d : inner->declarators) {
        const bool kept = !d->is_array() && !d->reference && !d->has(kAuto | kStatic | kVolatile) &&
                          !d->is_function_pointer && d->init_form != InitForm::parens &&
                          declared_once(d->name);
        if (!kept && !steps.varies(d->name)) steps.vary(d->name);
      }
      if (inner->is(StmtKind::declaration)) continue;
      for (const std::string& name : facts_.names_written(*inner)) {
        const Declarator* d = visible(kernel_.unit, *kernel_.kernel, name, inner->span.begin);
        const bool outside = d == nullptr || d->stmt == nullptr || !is_inside(*d->stmt, s);
        if (outside && !steps.varies(name)) steps.vary(name);
      }
      for (const Access* access : facts_.accesses_in(*inner)) {
        const std::string& name = facts_.arrays[static_cast<std::size_t>(access->array)].name;
        if (access->writes() && !steps.varies(name)) steps.vary(name);
      }
    }
    return mark_order(list);
  }
  if (!varies(s) && safe) return;
  const auto vary = [&](std::string_view name) {
    if (!steps.varies(name) || steps.step_of(name)->step) steps.vary(name);
  };
  for (const std::string& name : facts_.names_written(s)) vary(name);
  walk(s, [&](const Stmt& inner) {
    for (const Declarator* d : inner.declarators) vary(d->name);
    return true;
  });
  // Local arrays that it may change, also by a pointer to them.
  walk_expressions(s, [&](const Expr& e) {
    if (!e.is(ExprKind::assign) && !e.is(ExprKind::call) && !e.is(ExprKind::postfix) &&
        !e.is(ExprKind::unary))
      return true;
    for (std::size_t i = 0; i < (e.is(ExprKind::assign) ? 1U : e.args.size()); ++i) {
      walk(e.arg(i), [&](const Expr& name) {
        const Declarator* d =
            name.is(ExprKind::name) ? declaration_of(kernel_.unit, name) : nullptr;
        const bool read = name.parent != nullptr && name.parent->is(ExprKind::subscript) &&
                          !e.is(ExprKind::assign);
        if (d != nullptr && d->is_array() && d->stmt != nullptr && !read) vary(d->name);
        return true;
      });
    }
    return true;
  });
}

/// What changes a variable that an earlier statement of the loop still needs stays behind it.
void OuterSplit::mark_order(const std::vector<const Stmt*>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i]->is(StmtKind::declaration) || is_lanes(*list[i]) || varies(*list[i])) continue;
    std::vector<std::string> written = facts_.names_written(*list[i]);
    for (const Access* access : facts_.accesses_in(*list[i])) {
      if (access->writes())
        written.push_back(facts_.arrays[static_cast<std::size_t>(access->array)].name);
    }
    for (const std::string& name : written) {
      const bool needed =
          std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Stmt* s) { return varies(*s) && mentions(*s, name); });
      if (needed && !steps.varies(name)) steps.vary(name);
    }
  }
}

void OuterSplit::mark_items() {
  bool left = false, stored = false;
  std::vector<const Stmt*> list;
  for (OuterItem& item : items) {
    if (axis_.index != nullptr && item.stmt == axis_.index->declarator->stmt) continue;
    if (item.exit != nullptr) {
      const bool same = steps.of(*item.exit).is_same() && is_quiet(*item.exit);
      item.varies = !item.bound && (!same || stored || left);
      left = left || item.varies;
      continue;
    }
    mark(*item.stmt, !left || is_safe(*item.stmt));
    item.varies = varies(*item.stmt) || (left && !is_safe(*item.stmt));
    left = left || leaves(*item.stmt);
    for (const Access* access : facts_.accesses_in(*item.stmt)) {
      const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
      stored = stored || (access->writes() && array.space != Space::local);
    }
    list.push_back(item.stmt);
  }
  mark_order(list);
}

bool OuterSplit::mentions_varying(const Expr& e) const {
  bool found = false;
  walk(e, [&](const Expr& name) {
    found = found || steps.is_block_number(name) ||
            (name.is(ExprKind::name) && steps.varies(name.name));
    return !found;
  });
  return found;
}

bool OuterSplit::is_work(const Expr& root) const {
  if (facts_.uniformity(root) <= Uniformity::grid) return false;
  bool found = false;
  walk(root, [&](const Expr& e) {
    const bool division = e.is(ExprKind::binary) && (e.op == "/" || e.op == "%");
    const std::string type = e.is(ExprKind::binary) ? type_of(facts_, e) : "";
    found = found || e.is(ExprKind::call) || e.is(ExprKind::subscript) || division ||
            type == "float" || type == "double";
    return !found;
  });
  return found;
}

void OuterSplit::need_first(const Expr& e) {
  walk(e, [&](const Expr& name) {
    if (!name.is(ExprKind::name) || !steps.varies(name.name)) return true;
    const Declarator* d = declaration_of(kernel_.unit, name);
    if (d != nullptr && d->value() != nullptr && first.insert(std::string(name.name)).second)
      need_first(*d->value());
    return true;
  });
}

void OuterSplit::find_work(const Stmt& s) {
  if (axis_.index != nullptr && &s == axis_.index->declarator->stmt) return;
  if (s.is(StmtKind::declaration)) {
    for (const Declarator* d : s.declarators) {
      if (steps.varies(d->name)) continue;
      for (const Expr* e : d->init) {
        work = work || is_work(*e);
        need_first(*e);
      }
    }
  } else if (is_lanes(s)) {
    for (const Stmt* inner : s.body->children) find_work(*inner);
  } else if (!varies(s)) {
    walk(s, [&](const Stmt& inner) {
      for (const Expr* e : expressions_of(inner)) {
        work = work || is_work(*e);
        need_first(*e);
      }
      return true;
    });
  }
}

}  // namespace warpath
