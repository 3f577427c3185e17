#include "moves/normal/own_index.h"

#include <algorithm>

#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// `v = e` that a for begins with; null if it begins with something else.
const Expr* start_of(const Stmt& loop, std::string_view variable) {
  if (!loop.is(StmtKind::for_) || loop.init == nullptr || !loop.init->is(StmtKind::expression) ||
      loop.init->expr == nullptr)
    return nullptr;
  const Expr& e = *loop.init->expr;
  const bool starts =
      e.is_op(ExprKind::assign, "=") && e.arg(0).is_name(variable) && !mentions(e.arg(1), variable);
  return starts ? &e : nullptr;
}

bool has_start(const Stmt& loop) {
  return loop.init != nullptr && !loop.init->is(StmtKind::empty);
}

/// A loop and its variable.
class SharedIndex {
 public:
  SharedIndex(const NormalSite& site, const Loop& loop)
      : site_(site), unit_(site.unit), loop_(*loop.stmt), variable_(*loop.declarator) {
    walk_expressions(*site.kernel.body, [&](const Expr& e) {
      const auto declared = site.facts.state->declared.find(&e);
      if (declared != site.facts.state->declared.end() && declared->second == &variable_)
        uses_.push_back(&e);
      return true;
    });
  }

  bool rewrite(std::vector<Edit>& edits, std::string& why) const {
    const std::string v(variable_.name);
    if (!is_plain()) return why = v + " is more than the index of a loop", false;
    if (const Expr* const start = start_of(loop_, v)) {
      if (std::ranges::any_of(uses_, [&](const Expr* e) { return sees_end(*e) && !set_anew(*e); }))
        return why = v + " is used behind its loop", false;
      edits.push_back({start->span.begin, start->span.begin, type() + " "});
      drop_declaration(edits);
      return true;
    }
    if (has_start(loop_)) return why = v + " starts together with others", false;
    // in another iteration of a loop around it, it goes on from where it ended
    if (std::ranges::any_of(uses_, [&](const Expr* e) { return sees_end(*e); }) || outlived())
      return why = v + " is used behind its loop", false;
    return counted_by_for(edits, why);
  }

 private:
  [[nodiscard]] bool inside(const Expr& use) const { return loop_.span.contains(use.span); }
  [[nodiscard]] std::string type() const { return unit_.plain_text(variable_.type); }

  /// No other name, macro or function reaches the variable.
  [[nodiscard]] bool is_plain() const {
    if (variable_.function != &site_.kernel || variable_.is_parameter || variable_.reference ||
        variable_.stmt == nullptr || variable_.stmt->parent == nullptr ||
        (variable_.qualifiers & (kAuto | kVolatile | kShared | kStatic)) != 0 ||
        is_said_by_macro(unit_, variable_.name))
      return false;
    bool plain = true;
    walk(*site_.kernel.body, [&](const Stmt& s) {
      for (const Declarator* d : s.declarators) {
        if (d->reference && d->value() != nullptr && mentions(*d->value(), variable_.name))
          plain = false;
      }
      if (s.is(StmtKind::assembly) || s.is(StmtKind::label) || s.is(StmtKind::opaque))
        plain = false;
      return plain;
    });
    for (const Expr* use : uses_) {
      if (use->parent == nullptr) continue;
      const Expr& up = *use->parent;
      const bool handed = up.is(ExprKind::call) && !is_pure_function(unit_, callee(up));
      if (up.is_op(ExprKind::unary, "&") || handed || up.is(ExprKind::opaque)) return false;
      for (const Expr* at = use; at != nullptr; at = at->parent) {
        if (at->is(ExprKind::lambda) || at->is(ExprKind::statement)) return false;
      }
    }
    return plain;
  }

  /// A loop around it that the variable outlives; null if there is none.
  [[nodiscard]] const Stmt* outlived() const {
    const Stmt* out = nullptr;
    for (const Stmt* around = enclosing_loop(loop_); around != nullptr;
         around = enclosing_loop(*around)) {
      if (!around->span.contains(variable_.stmt->span)) out = around;
    }
    return out;
  }

  /// The use may see what the loop leaves in the variable: it stands behind the loop, or in another
  /// iteration of one around both.
  [[nodiscard]] bool sees_end(const Expr& use) const {
    if (inside(use)) return false;
    const Stmt* const around = outlived();
    return use.span.begin > loop_.span.begin ||
           (around != nullptr && around->span.contains(use.span));
  }

  /// In another for that begins by setting the variable.
  [[nodiscard]] bool set_anew(const Expr& use) const {
    const Stmt* at = use.stmt;
    while (at != nullptr && start_of(*at, variable_.name) == nullptr) at = at->parent;
    return at != nullptr && !at->span.contains(loop_.span);
  }

  void drop_declaration(std::vector<Edit>& edits) const {
    const Stmt& s = *variable_.stmt;
    const bool others = std::ranges::any_of(uses_, [&](const Expr* e) { return !inside(*e); });
    if (others || variable_.init_form != InitForm::none || !s.parent->is(StmtKind::block)) return;
    if (s.declarators.size() == 1) {
      const Span lines = whole_lines(unit_, s.span);
      edits.push_back({lines.begin, lines.end, ""});
      return;
    }
    // the names of the others, as long as each is no more than a name
    std::string names;
    for (const Declarator* d : s.declarators) {
      if (d->init_form != InitForm::none || d->is_pointer() || d->is_array()) return;
      if (d != &variable_) names += (names.empty() ? "" : ", ") + std::string(d->name);
    }
    edits.push_back(
        {s.declarators.front()->name_span.begin, s.declarators.back()->name_span.end, names});
  }

  /// `for (int i_2 = i; i_2 < n; i_2 += s)` in place of a loop that goes on from the variable.
  bool counted_by_for(std::vector<Edit>& edits, std::string& why) const {
    const std::string v(variable_.name), own = fresh_name(unit_, v);
    std::vector<Edit> renamed;
    for (const Expr* use : uses_) {
      if (inside(*use)) renamed.push_back({use->span.begin, use->span.end, own});
    }
    const std::string start = type() + " " + own + " = " + v;
    if (loop_.is(StmtKind::for_)) {
      if (loop_.step == nullptr) return why = v + " is no plain index", false;
      const std::size_t open = unit_.source().find('(', loop_.header.begin);
      edits = std::move(renamed);
      edits.push_back({open + 1, open + 1, start});
      return true;
    }
    const Stmt* const last =
        statements(*loop_.body).empty() ? nullptr : statements(*loop_.body).back();
    const bool steps = last != nullptr && loop_.body->is(StmtKind::block) &&
                       last->is(StmtKind::expression) && last->expr != nullptr &&
                       !last->expr->args.empty() && last->expr->arg(0).is_name(v) &&
                       !last->expr->is(ExprKind::binary);
    if (!steps) return why = v + " steps before the end of its loop", false;
    edits.push_back({loop_.header.begin, loop_.header.end,
                     "for (" + start + "; " + substituted(unit_, loop_.expr->span, renamed) + "; " +
                         substituted(unit_, last->expr->span, renamed) + ")"});
    for (Edit& e : renamed) {
      const Span span{e.begin, e.end};
      if (!loop_.header.contains(span) && !last->span.contains(span)) edits.push_back(std::move(e));
    }
    const Span lines = whole_lines(unit_, last->span);
    edits.push_back({lines.begin, lines.end, ""});
    return true;
  }

  const NormalSite& site_;
  const Unit& unit_;
  const Stmt& loop_;
  const Declarator& variable_;
  std::vector<const Expr*> uses_;
};

}  // namespace

bool shares_index(const Loop& loop) {
  return loop.counted && !loop.declared_inside && loop.declarator != nullptr &&
         (loop.stmt->is(StmtKind::for_) || loop.stmt->is(StmtKind::while_)) &&
         loop.stmt->body != nullptr;
}

bool own_index(const NormalSite& site, std::vector<Edit>& edits, std::string& why) {
  for (const auto& loop : site.facts.loops) {
    if (!shares_index(*loop)) continue;
    edits.clear();
    if (SharedIndex(site, *loop).rewrite(edits, why)) return true;
  }
  edits.clear();
  return false;
}

}  // namespace warpath
