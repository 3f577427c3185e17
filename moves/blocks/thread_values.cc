#include "moves/blocks/thread_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/text/source_edit.h"
#include "moves/blocks/known_calls.h"
#include "moves/model/facts_state.h"
#include "moves/model/reduce_op.h"
#include "moves/normal/helper_call.h"
#include "moves/normal/macro_words.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::string_view kElement = "[threadIdx.x]";

bool is_number(const Unit& unit, const Stmt& s) {
  return s.is(StmtKind::declaration) && std::ranges::all_of(s.declarators, [&](const auto* d) {
           return is_integer_type(unit.resolved_type(unit.plain_text(d->type)));
         });
}

bool loads(const Stmt& s) {
  bool found = false;
  walk_expressions(s, [&](const Expr& e) {
    found =
        found || e.is(ExprKind::subscript) || e.is(ExprKind::call) || e.is_op(ExprKind::unary, "*");
    return !found;
  });
  return found;
}

/// `threadIdx.x` or `blockDim.x`.
bool asks(const Expr& e, std::string_view what) {
  return e.is_op(ExprKind::member, ".") && e.arg(0).is_name(what) && e.name == "x";
}

}  // namespace

ThreadValues::ThreadValues(const KernelModel& model, const std::vector<BlockReduction>& reductions)
    : model_(model), unit_(model.unit), facts_(model.facts) {
  for (const BlockReduction& r : reductions) {
    for (const BlockTotal& t : r.totals) {
      if (t.variable != nullptr || !t.value.ends_with(kElement)) continue;
      const int array = facts_.array_index(t.value.substr(0, t.value.size() - kElement.size()));
      if (array < 0) continue;
      const Array& a = facts_.arrays[static_cast<std::size_t>(array)];
      const bool plain = a.space == Space::shared && !a.escapes && a.declarator != nullptr &&
                         !a.declarator->has(kVolatile) && a.declarator->extents.size() == 1 &&
                         !a.declarator->is_pointer() && !is_said_by_macro(unit_, a.name) &&
                         type_of(*a.declarator) == t.type;
      if (plain) slots_.push_back({array, &r, a.declarator});
    }
  }
}

const ThreadValues::Slot* ThreadValues::slot_of(const Access& access) const {
  const auto found = std::ranges::find_if(slots_, [&](const Slot& slot) {
    return slot.array == access.array &&
           access.expr->span.end <= slot.reduction->statements.front()->span.begin;
  });
  return found == slots_.end() ? nullptr : &*found;
}

bool ThreadValues::is_slot(const Access& access) const {
  const Slot* const slot = slot_of(access);
  return slot != nullptr && access.expr->is(ExprKind::subscript) &&
         access.expr->arg(0).is_name(slot->declarator->name) &&
         access.index == Polynomial::name("threadIdx.x") && access.vector_width == 1 &&
         !access.in_helper && access.kind != AccessKind::atomic &&
         std::ranges::count(slots_, access.array, &Slot::array) == 1;
}

bool ThreadValues::has(const Declarator& variable) const {
  return variable.stmt != nullptr &&
         std::ranges::find(statements_, variable.stmt) != statements_.end();
}

bool ThreadValues::changes(const Stmt& s) const {
  return std::ranges::any_of(facts_.state->writes,
                             [&](const Write& w) {
                               return w.variable != nullptr && w.stmt != nullptr &&
                                      has(*w.variable) && s.span.contains(w.stmt->span);
                             }) ||
         std::ranges::any_of(facts_.accesses_in(s), [&](const Access* a) { return is_slot(*a); });
}

std::vector<const Stmt*> ThreadValues::take(const Stmt& s, const Understood& understood) {
  std::vector<const Stmt*> out;
  if (s.parent != model_.kernel->body || s.text_only || s.pragma != nullptr || !sets_alone(s, out))
    return {};
  out.push_back(&s);
  for (const Stmt* part : out) {
    if (!is_private(*part, understood) || !loads_constants(*part)) return {};
  }
  statements_.insert(statements_.end(), out.begin(), out.end());
  std::ranges::sort(statements_, {}, [](const Stmt* part) { return part->span.begin; });
  return out;
}

/// What the statement sets is declared in it or among the others, or in declarations of the body
/// that nothing else has used so far.
bool ThreadValues::sets_alone(const Stmt& s, std::vector<const Stmt*>& declarations) const {
  for (const Write& w : facts_.state->writes) {
    if (w.stmt == nullptr || !s.span.contains(w.stmt->span)) continue;
    if (w.variable == nullptr || w.escapes || w.partial || w.node == nullptr) return false;
    const Declarator& d = *w.variable;
    if (s.span.contains(d.span) || has(d)) continue;
    if (d.stmt == nullptr || d.stmt->parent != model_.kernel->body ||
        d.stmt->declarators.size() != 1 || !is_spared(d, s))
      return false;
    if (std::ranges::find(declarations, d.stmt) == declarations.end())
      declarations.push_back(d.stmt);
  }
  return true;
}

/// Nothing but the statements taken mentions the variable in front of the statement.
bool ThreadValues::is_spared(const Declarator& d, const Stmt& s) const {
  return std::ranges::all_of(model_.kernel->body->children, [&](const Stmt* other) {
    return other->span.begin >= s.span.begin || other == d.stmt || !mentions(*other, d.name) ||
           std::ranges::find(statements_, other) != statements_.end();
  });
}

bool ThreadValues::is_private(const Stmt& s, const Understood& understood) const {
  bool good = true;
  walk(s, [&](const Stmt& part) {
    constexpr std::array kKinds{StmtKind::block, StmtKind::declaration, StmtKind::expression,
                                StmtKind::if_,   StmtKind::for_,        StmtKind::empty};
    good = good && std::ranges::find(kKinds, part.kind) != kKinds.end() && !part.text_only;
    if (part.is(StmtKind::if_)) good = good && part.init == nullptr && part.expr != nullptr;
    for (const Declarator* d : part.declarators) {
      good = good && !d->reference && !d->is_pointer() && !d->is_array() &&
             !d->is_function_pointer && !d->has(kShared) && !d->has(kStatic) && !d->has(kExtern) &&
             !d->has(kVolatile);
    }
    return good;
  });
  if (!good) return false;
  walk_expressions(s, [&](const Expr& e) {
    good = good && is_private(e, s, understood);
    return good && !asks(e, "threadIdx") && !asks(e, "blockDim") && !asks(e, "blockIdx");
  });
  return good;
}

bool ThreadValues::is_private(const Expr& e, const Stmt& s, const Understood& understood) const {
  if (asks(e, "threadIdx") || asks(e, "blockDim") || asks(e, "blockIdx"))
    return unit_.plain_text(e.span) == plain_text(e);  // a macro's text is another one
  constexpr std::array kNever{ExprKind::lambda, ExprKind::statement, ExprKind::opaque,
                              ExprKind::launch, ExprKind::new_object};
  if (std::ranges::find(kNever, e.kind) != kNever.end()) return false;
  if (!is_known(unit_, e) || !understood(e)) return false;
  if (e.is_op(ExprKind::unary, "&") || e.op == "->") return false;
  if (!e.is(ExprKind::name)) return true;
  if (is_of_thread(e.name) || e.name == "blockIdx") return false;
  const Declarator* const d = declaration_of(unit_, e);
  return d == nullptr || !d->has(kShared) ||
         std::ranges::any_of(facts_.accesses_in(s), [&](const Access* a) {
           return is_slot(*a) && a->expr->span.contains(e.span);
         });
}

/// Whatever else the kernel has stored by then, or will have.
bool ThreadValues::loads_constants(const Stmt& s) const {
  return std::ranges::all_of(facts_.accesses_in(s), [&](const Access* a) {
    if (is_slot(*a)) return true;
    const Array& array = facts_.arrays[static_cast<std::size_t>(a->array)];
    if (a->kind != AccessKind::read || a->in_helper || array.space == Space::shared) return false;
    for (std::size_t k = 0; k < facts_.arrays.size(); ++k) {
      const bool same = static_cast<int>(k) == a->array;
      if (facts_.arrays[k].written && (same || facts_.may_alias(static_cast<int>(k), a->array)))
        return false;
    }
    return true;
  });
}

std::string ThreadValues::type_of(const Declarator& d) const {
  return unit_.resolved_type(unit_.plain_text(d.type));
}

bool ThreadValues::has_value(const BlockTotal& total) const {
  if (!total.whole) return false;
  if (total.variable != nullptr)
    return has(*total.variable) && type_of(*total.variable) == total.type;
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    return total.value == std::string(slot.declarator->name) + std::string(kElement) &&
           std::ranges::any_of(statements_, [&](const Stmt* s) {
             return std::ranges::any_of(facts_.accesses_in(*s), [&](const Access* a) {
               return slot_of(*a) == &slot && a->writes() && a->guards.empty();
             });
           });
  });
}

/// The variables that it uses have the same values later in the kernel's body.
bool ThreadValues::is_unchanged(const Stmt& s, std::size_t until) const {
  const std::vector<std::string> read = facts_.names_read(s);
  return std::ranges::all_of(model_.kernel->body->children, [&](const Stmt* other) {
    if (other->span.begin <= s.span.begin || other->span.begin >= until ||
        std::ranges::find(statements_, other) != statements_.end())
      return true;
    const std::vector<std::string> written = facts_.names_written(*other);
    return std::ranges::none_of(written, [&](const std::string& name) {
      return std::ranges::find(read, name) != read.end();
    });
  });
}

std::string ThreadValues::slot_name(const Slot& slot) const {
  return fresh_name(unit_, std::string(slot.declarator->name) + "_own");
}

std::string ThreadValues::text_of(const Stmt& s, const std::string& thread) const {
  std::vector<Edit> edits;
  const auto put = [&](const Expr& e, std::string text) {
    edits.push_back({e.span.begin - s.span.begin, e.span.end - s.span.begin, std::move(text)});
  };
  const auto accesses = facts_.accesses_in(s);
  const std::string size =
      std::to_string(facts_.state->launch_constants.at("blockDim.x")) + "u";  // as blockDim.x is
  walk_expressions(s, [&](const Expr& e) {
    const auto own = std::ranges::find_if(
        accesses, [&](const Access* a) { return a->expr == &e && is_slot(*a); });
    if (own != accesses.end()) return put(e, slot_name(*slot_of(**own))), false;
    if (asks(e, "threadIdx")) return put(e, thread), false;
    if (asks(e, "blockDim")) return put(e, size), false;
    if (asks(e, "blockIdx")) return put(e, "blockIdx.x"), false;
    return true;
  });
  const std::string text(unit_.source().substr(s.span.begin, s.span.end - s.span.begin));
  return edited(text, std::move(edits));
}

std::string ThreadValues::combined(const BlockReduction& reduction,
                                   const std::vector<const BlockTotal*>& totals,
                                   const std::vector<std::string>& names,
                                   std::set<std::string, std::less<>>& taken) const {
  const std::size_t at = reduction.statements.front()->span.begin;
  if (!facts_.state->launch_constants.contains("blockDim.x")) return {};
  for (const Stmt* s : statements_) {
    if (!is_unchanged(*s, at)) return {};
  }
  const std::string unit_of_indent = indent_unit(unit_);
  const std::string thread = fresh_name(unit_, "thread", &taken);
  taken.insert(thread);
  std::string out;
  for (std::size_t k = 0; k < totals.size(); ++k)
    out += totals[k]->type + " " + names[k] + " = " +
           identity_text(totals[k]->op, totals[k]->type) + ";\n";
  out += "for (unsigned int " + thread + " = 0; " + thread + " < " +
         std::to_string(facts_.state->launch_constants.at("blockDim.x")) + "; ++" + thread +
         ") {\n";
  const auto line = [&](const std::string& text) { out += unit_of_indent + text + "\n"; };
  for (const Slot& slot : slots_) {
    if (slot.reduction == &reduction)
      line(unit_.plain_text(slot.declarator->type) + " " + slot_name(slot) + ";");
  }
  for (const Stmt* s : statements_) line(text_of(*s, thread));
  for (std::size_t k = 0; k < totals.size(); ++k) {
    const BlockTotal& t = *totals[k];
    std::string value;
    if (t.variable != nullptr) value = t.variable->name;
    for (const Slot& slot : slots_) {
      if (t.variable == nullptr &&
          t.value == std::string(slot.declarator->name) + std::string(kElement))
        value = slot_name(slot);
    }
    line(update_text({names[k], t.type, t.op}, value));
  }
  return out + "}\n";
}

void ThreadValues::combine(const BlockReduction& reduction) {
  std::set<const Declarator*> gone;
  const auto stays = [&](const Stmt* s) {
    const bool result = std::ranges::any_of(reduction.totals, [&](const BlockTotal& t) {
      return std::ranges::any_of(t.results, [&](const Declarator* d) { return d->stmt == s; });
    });
    const bool set_again = std::ranges::any_of(facts_.state->writes, [&](const Write& w) {
      return w.variable != nullptr && w.variable->stmt == s && w.stmt != s;
    });
    bool known = !result && !set_again && is_number(unit_, *s) && !loads(*s);
    walk_expressions(*s, [&](const Expr& e) {
      known = known && !(e.is(ExprKind::name) && gone.contains(declaration_of(unit_, e)));
      return known;
    });
    return known;
  };
  std::vector<const Stmt*> left;
  for (const Stmt* s : statements_) {  // declared before they are used
    if (stays(s)) {
      left.push_back(s);
    } else {
      gone.insert(s->declarators.begin(), s->declarators.end());
    }
  }
  statements_ = std::move(left);
}

}  // namespace warpath
