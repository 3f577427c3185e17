#include <algorithm>
#include <array>
#include <cctype>

#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// The smaller or greater of a variable and a candidate, kept in the variable; on NaN it stays.
struct Selection {
  const Expr* kept = nullptr;
  const Expr* candidate = nullptr;
  bool greatest = false;
};

/// `condition` says that the candidate replaces what is kept.
std::optional<Selection> selection(const Unit& unit,
                                   const Expr& condition,
                                   const Expr& kept,
                                   const Expr& candidate) {
  if (!condition.is(ExprKind::binary) || condition.args.size() != 2) return std::nullopt;
  const bool less = condition.op == "<" || condition.op == "<=";
  if (!less && condition.op != ">" && condition.op != ">=") return std::nullopt;
  const bool forwards =
      same_text(unit, condition.arg(0), candidate) && same_text(unit, condition.arg(1), kept);
  const bool backwards =
      same_text(unit, condition.arg(1), candidate) && same_text(unit, condition.arg(0), kept);
  if (forwards == backwards) return std::nullopt;
  return Selection{&kept, &candidate, forwards != less};
}

/// `if (x < kept) kept = x;`, with braces or without.
std::optional<Selection> selection(const Unit& unit, const Stmt& s) {
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.otherwise != nullptr || s.expr == nullptr)
    return std::nullopt;
  const std::vector<const Stmt*> body = statements(*s.body);
  if (body.size() != 1 || !body[0]->is(StmtKind::expression) || body[0]->expr == nullptr ||
      !body[0]->expr->is_op(ExprKind::assign, "="))
    return std::nullopt;
  return selection(unit, *s.expr, body[0]->expr->arg(0), body[0]->expr->arg(1));
}

/// `kept = x < kept ? x : kept`.
std::optional<Selection> selection(const Unit& unit, const Expr& assignment) {
  if (!assignment.is_op(ExprKind::assign, "=") || !assignment.arg(1).is(ExprKind::conditional))
    return std::nullopt;
  const Expr& choice = assignment.arg(1);
  if (!same_text(unit, assignment.arg(0), choice.arg(2))) return std::nullopt;
  return selection(unit, choice.arg(0), assignment.arg(0), choice.arg(1));
}

const Expr& variable_below(const Expr& expr) {
  const Expr* at = &expr;
  while (at->is(ExprKind::subscript)) at = &at->arg(0);
  return *at;
}

/// A constant that is no NaN.
bool is_ordered_constant(const Expr& expr) {
  const Expr& e = strip_casts(expr);
  if (e.is_op(ExprKind::unary, "-") || e.is_op(ExprKind::unary, "+"))
    return is_ordered_constant(e.arg(0));
  constexpr std::array<std::string_view, 5> kNamed{"FLT_MAX", "FLT_MIN", "INFINITY", "HUGE_VALF",
                                                   "CUDART_INF_F"};
  return e.is(ExprKind::number) || std::ranges::find(kNamed, e.name) != kNamed.end();
}

/// The local float, or array of them, never holds a NaN: it starts from constants, and afterwards
/// changes by selections alone.
bool stays_ordered(const KernelModel& model, const Declarator& d) {
  if (d.is_pointer() || d.reference || d.is_parameter || d.has(kShared) || d.stmt == nullptr ||
      model.unit.text(d.type) != "float" || d.init.size() > 1 ||
      (d.value() != nullptr && !is_ordered_constant(*d.value())))
    return false;
  bool ordered = true;
  walk_expressions(*model.kernel->body, [&](const Expr& e) {
    if (!e.is_name(d.name) || declaration_of(model.unit, e) != &d) return true;
    const Expr* at = &e;
    while (at->parent != nullptr && at->parent->is(ExprKind::subscript) &&
           at->parent->args[0] == at)
      at = at->parent;
    const Expr* const up = at->parent;
    if (up == nullptr) return true;
    if (up->is_op(ExprKind::unary, "&") || up->op == "++" || up->op == "--") ordered = false;
    if (!up->is(ExprKind::assign) || up->args[0] != at) return true;
    const Expr& value = up->arg(1);
    const bool kept = (callee(value) == "fminf" || callee(value) == "fmaxf") &&
                      value.args.size() == 3 && same_text(model.unit, value.arg(1), *at);
    const Stmt* const around = up->stmt == nullptr                     ? nullptr
                               : up->stmt->parent->is(StmtKind::block) ? up->stmt->parent->parent
                                                                       : up->stmt->parent;
    ordered = ordered && up->op == "=" &&
              (is_ordered_constant(value) || kept || selection(model.unit, *up) ||
               (around != nullptr && selection(model.unit, *around)));
    return true;
  });
  return ordered;
}

/// In loops, the smaller or greater of two floats kept by a comparison becomes fminf or fmaxf: one
/// instruction and no branch. Where the kept value cannot be NaN the results are the same, but for
/// the sign of a zero.
class MinMaxSelect final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "min_max_select"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    const MoveInstance instance{std::string(name()), std::string(kThreadSite), {}};
    std::string why;
    if (!apply(context, instance, why)) return {};
    return {instance};
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view) const override {
    return {};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (wanted.site != kThreadSite || !wanted.parameters.empty())
      return why = "min_max_select applies to thread, without parameters", std::nullopt;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    std::vector<Edit> edits;
    const Unit& unit = model->unit;
    const auto call = [&](const Selection& s) {
      const std::string kept(unit.text(*s.kept));
      return kept + (s.greatest ? " = fmaxf(" : " = fminf(") + kept + ", " +
             std::string(unit.text(*s.candidate)) + ")";
    };
    walk(*model->kernel->body, [&](const Stmt& s) {
      const auto found = selection(unit, s);
      if (!found || enclosing_loop(s) == nullptr || !replaces(*model, *found)) return true;
      const Stmt& kept = *statements(*s.body).front();
      // Removes the text around the assignment, except comments after it.
      if (has_comment(unit, {s.span.begin, kept.span.begin})) return true;
      edits.push_back({s.span.begin, kept.expr->span.begin, ""});
      edits.push_back({kept.expr->span.begin, kept.expr->span.end, call(*found)});
      if (s.body->is(StmtKind::block)) {
        std::size_t brace = s.body->span.end - 1;
        while (std::isspace(static_cast<unsigned char>(unit.source()[brace - 1])) != 0) --brace;
        edits.push_back({brace, s.body->span.end, ""});
      }
      return true;
    });
    walk_expressions(*model->kernel->body, [&](const Expr& e) {
      const auto found = selection(unit, e);
      if (found && e.stmt != nullptr && enclosing_loop(*e.stmt) != nullptr &&
          !has_comment(unit, e.span) && replaces(*model, *found))
        edits.push_back({e.span.begin, e.span.end, call(*found)});
      return true;
    });
    if (edits.empty())
      return why = "no loop keeps the smaller or greater of floats that are never NaN",
             std::nullopt;
    Rewrite rewrite(*model);
    rewrite.add(std::move(edits));
    return rewrite.finish(context.variant);
  }

 private:
  static bool has_comment(const Unit& unit, Span span) {
    const std::string_view text = unit.text(span);
    return text.find("//") != std::string_view::npos || text.find("/*") != std::string_view::npos;
  }

  static bool replaces(const KernelModel& model, const Selection& s) {
    const Expr& variable = variable_below(*s.kept);
    const Declarator* const d =
        variable.is(ExprKind::name) ? declaration_of(model.unit, variable) : nullptr;
    return d != nullptr && is_pure(model.unit, *s.candidate) && !s.candidate->is(ExprKind::comma) &&
           type_of(model.facts, *s.candidate) == "float" && stays_ordered(model, *d);
  }
};

}  // namespace

void register_move_min_max_select(MoveRegistry& registry) {
  registry.add("min_max_select", "a smallest or greatest float by one instruction, not a branch",
               [] { return std::make_unique<MinMaxSelect>(); });
}

}  // namespace warpath
