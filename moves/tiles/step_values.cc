#include "moves/tiles/step_values.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "moves/edit/code_writer.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr int kMostNames = 20;

class StepValueFinder {
 public:
  StepValueFinder(const KernelModel& kernel, const Loop& loop)
      : unit_(kernel.unit), facts_(kernel.facts), loop_(loop), body_(*loop.stmt->body) {}

  /// Statements of the body that declare nothing else, in order.
  [[nodiscard]] const std::vector<const Stmt*>& found() {
    for (const Stmt* s : statements(body_)) {
      const bool good =
          s->is(StmtKind::declaration) && !s->text_only && !s->declarators.empty() &&
          std::ranges::all_of(s->declarators, [&](const Declarator* d) { return is_good(*d); });
      if (!good) continue;
      found_.push_back(s);
    }
    return found_;
  }

  /// Used by what stays in the body.
  [[nodiscard]] bool is_live(const Declarator& d) const {
    bool out = false;
    walk_expressions(body_, [&](const Expr& e) {
      const bool of_value = std::ranges::any_of(
          found_, [&](const Stmt* s) { return e.stmt == s || is_inside(e, *s); });
      out = out || (!of_value && e.is_name(d.name));
      return !out;
    });
    return out;
  }

  [[nodiscard]] bool is_slow() const {
    return std::ranges::any_of(found_, [&](const Stmt* s) {
      bool out = false;
      walk_expressions(*s, [&](const Expr& e) {
        const bool computes = e.is(ExprKind::call) && !is_load_intrinsic(callee(e));
        out = out || computes || e.is(ExprKind::conditional) || e.is_op(ExprKind::binary, "/") ||
              e.is_op(ExprKind::binary, "%");
        return !out;
      });
      return out;
    });
  }

 private:
  [[nodiscard]] bool is_good(const Declarator& d) {
    const std::uint32_t allowed = kUnsigned | kConst;
    const bool plain = !d.is_pointer() && !d.is_array() && !d.reference && !d.is_function_pointer &&
                       (d.qualifiers & ~allowed) == 0 && d.value() != nullptr &&
                       d.init_form == InitForm::assign &&
                       size_of_type(unit_.plain_text(d.type)) > 0;
    if (!plain || !is_pure(unit_, *d.value()) || is_written(d)) return false;
    const bool good = is_known(*d.value(), 0);
    if (good) values_.insert(&d);
    return good;
  }

  [[nodiscard]] bool is_known(const Expr& root, int depth) const {
    bool out = depth < kMostNames;
    walk(root, [&](const Expr& e) { return out = out && is_known_part(e, depth); });
    return out;
  }

  /// It is what it was before the loop, the step, or one of the values.
  [[nodiscard]] bool is_known_part(const Expr& e, int depth) const {
    if (e.is(ExprKind::lambda) || e.is(ExprKind::opaque) || e.is(ExprKind::statement)) return false;
    if (e.is(ExprKind::call)) {
      const std::string_view f = callee(e);
      if (std::ranges::any_of(unit_.functions(), [&](const Function* g) { return g->name == f; }))
        return false;
    }
    if (const Access* access = facts_.access_of(e)) {
      const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
      if (array.space != Space::global || array.written || array.escapes || access->in_helper ||
          is_moved(facts_, array))
        return false;
    }
    if (!e.is(ExprKind::name) ||
        (e.parent != nullptr && e.parent->is(ExprKind::call) && e.parent->args[0] == &e))
      return true;
    const Declarator* const d = declaration_of(unit_, e);
    if (d == nullptr) return facts_.uniformity(e) != Uniformity::thread;
    if (d == loop_.declarator || values_.contains(d)) return true;
    if (is_written(*d) || d->reference || d->has(kVolatile)) return false;
    if (d->is_parameter || (d->is_constant() && d->value() == nullptr)) return true;
    const bool before = d->stmt == nullptr ? d->is_constant() : !is_inside(*d->stmt, *loop_.stmt);
    return before && !d->is_array() && d->value() != nullptr && is_known(*d->value(), depth + 1);
  }

  /// Beyond where it is declared.
  [[nodiscard]] bool is_written(const Declarator& d) const {
    return std::ranges::any_of(facts_.state->writes, [&](const Write& w) {
      return w.variable == &d && (w.escapes || w.partial || w.node == nullptr ||
                                  w.node->stmt != d.stmt || w.node->is(ExprKind::assign));
    });
  }

  const Unit& unit_;
  const KernelFacts& facts_;
  const Loop& loop_;
  const Stmt& body_;
  std::vector<const Stmt*> found_;
  std::set<const Declarator*> values_;
};

bool skips_steps(const Stmt& body) {
  bool out = false;
  walk(body, [&](const Stmt& s) {
    out = out || s.is(StmtKind::continue_) || s.is(StmtKind::goto_) || s.is(StmtKind::label);
    return !out;
  });
  return out;
}

}  // namespace

std::optional<StepValues> step_values(const KernelModel& kernel,
                                      const Loop& loop,
                                      const StepTile& tile,
                                      std::string& why) {
  const Unit& unit = kernel.unit;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (!loop.stmt->body->is(StmtKind::block) || skips_steps(*loop.stmt->body) ||
      loop.declarator == nullptr)
    return none("not every step comes to all of the loop's body");
  StepValueFinder finder(kernel, loop);
  const std::vector<const Stmt*>& found = finder.found();
  if (found.empty() || !finder.is_slow())
    return none("no step computes more than a load for all threads of the block");
  const std::string inner = tile.pad + tile.indent, innermost = inner + tile.indent,
                    j(loop.declarator->name);
  StepValues out;
  out.filled = inner + tile.fill + " {\n" + innermost +
               std::string(unit.text(loop.declarator->type)) + " " + j + " = " + tile.start +
               " + " + tile.index + ";\n";
  std::string stored;
  const std::vector<const Stmt*> all = statements(*loop.stmt->body);
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (std::ranges::find(found, *at) == found.end()) continue;
    const Span first = (*at)->span;
    Span last = first;
    std::string read;  // in place of statements that follow each other
    for (;; ++at) {
      last = (*at)->span;
      out.filled += innermost + unit.plain_text((*at)->span) + "\n";
      for (const Declarator* d : (*at)->declarators) {
        if (!finder.is_live(*d)) continue;
        const std::string name(d->name), array = tile.fresh(name + "_tile"),
                                         type(unit.text(d->type));
        out.declared += tile.pad + "__shared__ " + type + " " + array + "[" + tile.size + "];\n";
        out.bytes += tile.steps * static_cast<std::int64_t>(size_of_type(type));
        stored += innermost + array + "[" + tile.index + "] = " + name + ";\n";
        read += (read.empty() ? "" : "\n" + innermost) + type + " " + name + " = " + array + "[" +
                j + " - " + tile.start + "];";
      }
      if (at + 1 == all.end() || std::ranges::find(found, *(at + 1)) == found.end()) break;
    }
    out.edits.push_back({first.begin, last.end, read});
  }
  out.filled += stored;
  if (stored.empty()) return none("nothing uses what a step computes for all threads of the block");
  return out;
}

}  // namespace warpath
