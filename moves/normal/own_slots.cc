#include "moves/normal/own_slots.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

bool is_barrier(const Stmt& s) {
  return s.is(StmtKind::expression) && s.expr != nullptr && callee(*s.expr) == "__syncthreads";
}

/// The targets of `a = b = value`, and the value.
const Expr& value_of(const Stmt& s, std::vector<const Expr*>& targets) {
  const Expr* e = s.expr;
  for (; e->is_op(ExprKind::assign, "="); e = &e->arg(1)) targets.push_back(&e->arg(0));
  return *e;
}

/// A block has threads along the first axis alone: an element for each number is one a thread.
bool is_row_of_threads(const KernelFacts& facts) {
  const Bindings& known = facts.state->launch_constants;
  return std::ranges::all_of(std::array{"blockDim.y", "blockDim.z"}, [&](const char* extent) {
    const auto found = known.find(extent);
    return found != known.end() && found->second == 1;
  });
}

/// With a goto or a lambda what stands behind the barrier may run before it, or again.
bool runs_out_of_order(const KernelFacts& facts) {
  bool out = false;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    out = out || s.is(StmtKind::goto_) || s.is(StmtKind::label);
    return true;
  });
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    out = out || e.is(ExprKind::lambda);
    return true;
  });
  return out;
}

/// How many arrays the file declares in the memory that a launch adds: all begin at one address.
int arrays_of_launch(const Unit& unit) {
  const auto is_one = [](const Declarator* d) { return d->has(kExtern) && d->has(kShared); };
  auto out = std::ranges::count_if(unit.globals(), is_one);
  for (const Function* f : unit.functions()) {
    if (f->body == nullptr) continue;
    walk(*f->body, [&](const Stmt& s) {
      out += std::ranges::count_if(s.declarators, is_one);
      return true;
    });
  }
  return static_cast<int>(out);
}

/// Something is initialised with elements of the array that may stay bound to them: a reference,
/// or an object that may have one in it.
bool is_bound(const KernelFacts& facts, const Array& array) {
  const Unit& unit = *facts.unit;
  bool out = false;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      const bool copies =
          !d->reference && dtype_of_type(unit.resolved_type(unit.plain_text(d->type)));
      for (const Expr* e : d->init) out = out || (!copies && mentions(*e, array.name));
    }
    if (s.is(StmtKind::range_for))
      out = out || (s.expr != nullptr && mentions(*s.expr, array.name));
    return !out;
  });
  return out;
}

std::optional<OwnSlot> slot_of(const KernelFacts& facts, const Array& array, int number) {
  const Stmt& body = *facts.kernel->body;
  OwnSlot out{&array, nullptr, nullptr, {}};
  for (const Stmt* s : body.children) {
    if (is_barrier(*s)) {
      out.barrier = s;
      break;
    }
    bool leaves = false;
    walk(*s, [&](const Stmt& inner) {
      leaves = leaves || inner.is(StmtKind::return_) || inner.is(StmtKind::goto_);
      return true;
    });
    if (leaves || joins_threads(*s)) return std::nullopt;
  }
  if (out.barrier == nullptr) return std::nullopt;
  bool looped = false;
  for (const Access* access : facts.accesses_to(number)) {
    const Expr& e = *access->expr;
    if (e.span.begin > out.barrier->span.begin) continue;
    const bool plain = e.is(ExprKind::subscript) && e.arg(0).is_name(array.name) &&
                       access->index == Polynomial::name("threadIdx.x") &&
                       access->vector_width == 1 && !access->in_helper &&
                       access->kind != AccessKind::atomic;
    if (!plain) return std::nullopt;
    out.uses.push_back(&e);
    looped = looped || (access->writes() && !access->loops.empty());
    if (out.start != nullptr) continue;
    out.start = e.stmt;
    if (!e.stmt->is(StmtKind::expression) || e.stmt->parent != &body) return std::nullopt;
    std::vector<const Expr*> targets;
    const Expr& value = value_of(*e.stmt, targets);
    const bool sets = std::ranges::find(targets, &e) != targets.end() &&
                      (targets.size() == 1 || value.is(ExprKind::number));
    if (!sets || mentions(value, array.name)) return std::nullopt;
  }
  return looped ? std::optional(std::move(out)) : std::nullopt;
}

/// No other slot's first statement uses the element; of `a[i] = b[i] = 0` all are slots of a type.
bool stands_alone(const Unit& unit, const OwnSlot& slot, const std::vector<OwnSlot>& slots) {
  std::vector<const Expr*> targets;
  static_cast<void>(value_of(*slot.start, targets));
  const auto type = [&](const OwnSlot& s) { return unit.plain_text(s.array->declarator->type); };
  const bool together = std::ranges::all_of(targets, [&](const Expr* t) {
    return std::ranges::any_of(slots, [&](const OwnSlot& other) {
      return std::ranges::find(other.uses, t) != other.uses.end() && type(other) == type(slot);
    });
  });
  return together && std::ranges::none_of(slots, [&](const OwnSlot& other) {
           return other.start != slot.start && std::ranges::any_of(slot.uses, [&](const Expr* use) {
                    return other.start->span.contains(use->span);
                  });
         });
}

}  // namespace

std::vector<OwnSlot> own_slots(const KernelFacts& facts) {
  std::vector<OwnSlot> out;
  if (!facts.has_barrier || !facts.kernel->opaque.empty() || !is_row_of_threads(facts) ||
      runs_out_of_order(facts))
    return out;
  for (std::size_t k = 0; k < facts.arrays.size(); ++k) {
    const Array& array = facts.arrays[k];
    const bool own = array.space == Space::shared && !array.escapes &&
                     array.declarator != nullptr && !array.declarator->has(kVolatile) &&
                     array.declarator->extents.size() == 1 && !array.declarator->is_pointer() &&
                     !is_said_by_macro(*facts.unit, array.name) && !is_bound(facts, array) &&
                     !(array.declarator->has(kExtern) && arrays_of_launch(*facts.unit) > 1);
    if (!own) continue;
    if (auto slot = slot_of(facts, array, static_cast<int>(k))) out.push_back(std::move(*slot));
  }
  // until no slot keeps another from being one
  for (bool all = false; !all;) {
    const auto wrong = std::ranges::find_if(
        out, [&](const OwnSlot& slot) { return !stands_alone(*facts.unit, slot, out); });
    all = wrong == out.end();
    if (!all) out.erase(wrong);
  }
  return out;
}

bool keep_slots(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<OwnSlot> found = own_slots(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  std::set<std::string, std::less<>> taken;
  std::string stores;
  const std::string indent = indentation(unit, found.front().barrier->span.begin);
  std::map<const Stmt*, std::string> starts;
  for (const OwnSlot& slot : found) {
    const std::string own = fresh_name(unit, slot.array->name + "_own", &taken);
    std::vector<const Expr*> targets;
    const Expr& value = value_of(*slot.start, targets);
    std::string& text = starts[slot.start];
    text += (text.empty() ? "" : "\n" + indentation(unit, slot.start->span.begin)) +
            unit.plain_text(slot.array->declarator->type) + " " + own + " = " +
            unit.plain_text(value.outer) + ";";
    for (const Expr* use : slot.uses) {
      if (!slot.start->span.contains(use->span))
        edits.push_back({use->span.begin, use->span.end, own});
    }
    stores += slot.array->name + "[threadIdx.x] = " + own + ";\n" + indent;
  }
  for (const auto& [s, text] : starts) edits.push_back({s->span.begin, s->span.end, text});
  const std::size_t at = found.front().barrier->span.begin;
  edits.push_back({at, at, stores});
  return true;
}

}  // namespace warpath
