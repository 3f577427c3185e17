#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// A loop whose length differs from thread to thread, such as a window that the edges cut, becomes
/// one of as many iterations as it has at most, each under the loop's own condition: it is unrolled
/// and its loads are under way together. So do the loops inside it that can. Site "loop:K".
class PredicateLoop final : public LoopMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "predicate_loop"; }

 private:
  static constexpr std::int64_t kMost = 32;  // iterations, of loops in one another together

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const Loop& loop,
                                                 std::string& why) const override {
    if (auto veto = model.facts.veto_at(*loop.stmt); !veto.empty())
      return why = std::move(veto), std::nullopt;
    // those inside a loop that can go with it
    if (loop.parent != nullptr && most_trips(model, *loop.parent, why))
      return why = "the loop around it would take it along", std::nullopt;
    Writer writer(model);
    std::int64_t all = 1;
    const auto text = writer.loop(loop, all, why);
    if (!text) return std::nullopt;
    Variant out = context.variant;
    const Span span{loop.stmt->span.begin, loop.stmt->span.end};
    out.source = edited(model.unit.source(), {{span.begin, span.end, *text}});
    return out;
  }

  /// What the value is at most (least) where it has a min (max) in it: with each of its operands
  /// in its place. The value itself, if there is none.
  static std::vector<Polynomial> alternatives(const Polynomial& value, std::string_view op) {
    for (const Polynomial::Term& term : value.terms()) {
      if (term.coefficient != 1 || term.factors.size() != 1 || term.factors[0]->op != op) continue;
      const std::vector<Polynomial>& operands = term.factors[0]->operands;
      const Polynomial rest = value - Polynomial::operation(op, operands);
      std::vector<Polynomial> out;
      for (const Polynomial& operand : operands) {
        for (Polynomial& p : alternatives(operand + rest, op)) out.push_back(std::move(p));
      }
      return out;
    }
    return {value};
  }

  /// The most iterations that a thread takes: the loop ends below each operand of a minimum, and
  /// begins at or above each of a maximum.
  static std::optional<std::int64_t> most_trips(const KernelModel& model,
                                                const Loop& loop,
                                                std::string& why) {
    const KernelFacts& facts = model.facts;
    const auto none = [&](const char* reason) { return why = reason, std::nullopt; };
    if (!loop.counted || loop.descending || !loop.declared_inside || loop.first_expr == nullptr ||
        !loop.stmt->is(StmtKind::for_) || loop.stmt->expr == nullptr || loop.stmt->body == nullptr)
      return none("the loop does not count up with an index of its own");
    if (loop.trip_count) return none("the loop's length is known");
    if (loop.has_barrier || joins_threads(*loop.stmt)) return none("threads work together in it");
    const Expr& test = *loop.stmt->expr;
    const bool below = test.is(ExprKind::binary) && (test.op == "<" || test.op == "<=") &&
                       test.arg(0).is_name(loop.variable);
    const auto step = fixed(facts, loop.step);
    if (!below || !step || *step < 1) return none("the loop's condition is no plain bound");
    const std::vector<std::string> written = facts.names_written(*loop.stmt);
    bool stays = is_pure(model.unit, *loop.first_expr) && is_pure(model.unit, test);
    for (const Expr* e : {loop.first_expr, static_cast<const Expr*>(&test.arg(1))}) {
      walk(*e, [&](const Expr& part) {
        if (part.is(ExprKind::name) && std::ranges::count(written, part.name) > 0) stays = false;
        if (part.is(ExprKind::subscript) || part.is_op(ExprKind::unary, "*")) stays = false;
        return stays;
      });
    }
    if (!stays) return none("the loop's bounds may change in it");
    std::optional<std::int64_t> most;
    for (const Polynomial& end : alternatives(facts.resolved(loop.end), "min")) {
      for (const Polynomial& first : alternatives(facts.resolved(loop.first), "max")) {
        const auto length = fixed(facts, end - first);
        if (length && (!most || *length < *most)) most = length;
      }
    }
    if (!most) return none("the loop has no length that it never exceeds");
    if (*most < 1) return none("the loop never runs");
    return (*most + *step - 1) / *step;
  }

  /// Writes loops again, from the innermost.
  class Writer {
   public:
    explicit Writer(const KernelModel& model) : model_(model), unit_(model.unit) {}

    /// `all`: iterations of the loops around it, and then with its own.
    std::optional<std::string> loop(const Loop& loop, std::int64_t& all, std::string& why) {
      const auto most = most_trips(model_, loop, why);
      if (!most) return std::nullopt;
      if (all * *most > kMost) return why = "the loop may be too long to unroll", std::nullopt;
      all *= *most;
      const Stmt& s = *loop.stmt;
      const std::string count = fresh("k"), step = indent_unit(unit_),
                        pad = indentation(unit_, s.span.begin);
      std::vector<Edit> inner;
      for (const Loop* child : loop.children) {
        std::string ignored;
        if (const auto text = this->loop(*child, all, ignored))
          inner.push_back({child->stmt->span.begin, child->stmt->span.end, *text});
      }
      std::string body = substituted(unit_, s.body->span, inner);
      for (std::size_t at = 0; (at = body.find('\n', at)) != std::string::npos; ++at) {
        const bool empty = at + 1 < body.size() && (body[at + 1] == '\n' || body[at + 1] == '#');
        if (!empty) body.insert(at + 1, step);
      }
      // a loop of its own, with its pragma on a line of its own
      if (!s.body->is(StmtKind::block))
        body = "{\n" + pad + step + step + body + "\n" + pad + step + "}";
      const Declarator& variable = *loop.declarator;
      const std::int64_t by = *fixed(model_.facts, loop.step);
      const std::string from = factor_of(unit_, *loop.first_expr),
                        offset = by == 1 ? count : count + " * " + std::to_string(by);
      return (s.pragma == nullptr ? "#pragma unroll\n" + pad : std::string()) + "for (int " +
             count + " = 0; " + count + " < " + std::to_string(*most) + "; ++" + count + ") {\n" +
             pad + step + "const " + unit_.plain_text(variable.type) + " " + loop.variable + " = " +
             from + " + " + offset + ";\n" + pad + step + "if (" + unit_.plain_text(s.expr->outer) +
             ") " + body + "\n" + pad + "}";
    }

   private:
    std::string fresh(std::string_view wish) { return fresh_name(unit_, wish, &taken_); }

    const KernelModel& model_;
    const Unit& unit_;
    std::set<std::string, std::less<>> taken_;
  };
};

}  // namespace

void register_move_predicate_loop(MoveRegistry& registry) {
  registry.add("predicate_loop",
               "a loop of differing length as one of the most iterations, each under its condition",
               [] { return on_known_shape(std::make_unique<PredicateLoop>()); });
}

}  // namespace warpath
