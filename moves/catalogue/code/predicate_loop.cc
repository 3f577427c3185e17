#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/model/kernel_model.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// Whether a value means in 32 signed bits what the facts say of it. Sums and products may have
/// unsigned parts, which wrap around to the same bits; everything that depends on the order of
/// values has signed operands, or some that are never below zero.
class SignedValue {
 public:
  explicit SignedValue(const KernelFacts& facts) : facts_(facts), unit_(*facts.unit) {}

  [[nodiscard]] bool of(const Expr& e) { return type(e) == DType::i32 && follows(e); }

 private:
  [[nodiscard]] std::optional<DType> type(const Expr& e) const {
    return dtype_of_type(type_of(facts_, e));
  }

  /// Of arguments and operands, from `first`.
  [[nodiscard]] bool of_all(const Expr& e, std::size_t first) {
    return std::all_of(e.args.begin() + static_cast<std::ptrdiff_t>(first), e.args.end(),
                       [&](const Expr* arg) { return of(*arg); });
  }

  /// The facts have its value modulo 2^32.
  [[nodiscard]] bool follows(const Expr& e) {
    if (type(e) != DType::i32 && type(e) != DType::u32) return false;
    switch (e.kind) {
      case ExprKind::number:
      case ExprKind::subscript:
        return true;
      case ExprKind::name:
        return variable(e);
      case ExprKind::member:
        return is_place(e);
      case ExprKind::unary:
        return (e.op == "+" || e.op == "-") && follows(e.arg(0));
      case ExprKind::binary:
        if (e.op == "+" || e.op == "-" || e.op == "*")
          return follows(e.arg(0)) && follows(e.arg(1));
        return of_all(e, 0) || is_small(e);
      case ExprKind::conditional:
        return e.arg(0).is(ExprKind::binary) && of_all(e.arg(0), 0) && of_all(e, 1);
      case ExprKind::cast:
        return follows(e.arg(0));
      case ExprKind::call:
        return call(e);
      default:
        return false;
    }
  }

  static bool is_place(const Expr& e) {
    return e.is(ExprKind::member) &&
           (e.arg(0).is_name("threadIdx") || e.arg(0).is_name("blockIdx") ||
            e.arg(0).is_name("blockDim") || e.arg(0).is_name("gridDim"));
  }

  /// A thread's place in the launch, computed without a difference.
  bool is_small(const Expr& e) {
    if (const auto number = constant_value(unit_, e)) return *number >= 0;
    if (is_place(e)) return true;
    return e.is(ExprKind::binary) && (e.op == "+" || e.op == "*" || e.op == "/" || e.op == "%") &&
           is_small(e.arg(0)) && is_small(e.arg(1));
  }

  /// A minimum or maximum, also as a macro of one comparison.
  bool call(const Expr& e) {
    const std::string_view f = callee(e);
    if (const Macro* macro = unit_.macro(f)) {
      const auto expansion = expansion_of(unit_, e);
      bool plain = macro->function_like && expansion.has_value();
      if (plain) {
        walk(*expansion->result, [&](const Expr& part) {
          const bool parameter =
              part.is(ExprKind::name) && std::ranges::count(macro->parameters, part.name) > 0;
          plain =
              plain && (parameter || part.is(ExprKind::binary) || part.is(ExprKind::conditional));
          return plain;
        });
      }
      return plain && of_all(e, 1);
    }
    const bool known = f == "min" || f == "max" || f == "std::min" || f == "std::max";
    return known && unit_.find_function(f) == nullptr && of_all(e, 1);
  }

  /// What it is set to, wherever that is.
  bool variable(const Expr& name) {
    const auto found = facts_.state->declared.find(&name);
    if (found == facts_.state->declared.end()) {
      const Macro* macro = unit_.macro(name.name);  // or a tunable
      return unit_.constants().contains(name.name) &&
             (macro == nullptr || macro->body.find_first_of("uU") == std::string::npos);
    }
    const Declarator& d = *found->second;
    const bool fixed = d.is_constant() || d.has(kConstant);
    if (d.reference || d.has(kVolatile) || (d.function == nullptr && !fixed)) return false;
    if (!seen_.insert(&d).second) return true;
    if (!d.init.empty() && (d.value() == nullptr || !follows(*d.value()))) return false;
    return std::ranges::all_of(facts_.state->writes, [&](const Write& write) {
      if (write.variable != &d) return true;
      if (write.escapes || write.partial || write.node == nullptr) return false;
      const Expr& e = *write.node;
      if (e.is(ExprKind::unary) || e.is(ExprKind::postfix)) return true;
      if (!e.is(ExprKind::assign)) return false;
      const bool sum = e.op == "=" || e.op == "+=" || e.op == "-=" || e.op == "*=";
      return sum ? follows(e.arg(1)) : of(e.arg(0)) && of(e.arg(1));
    });
  }

  const KernelFacts& facts_;
  const Unit& unit_;
  std::set<const Declarator*> seen_;
};

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

  /// Its type, which `auto` takes from the first value.
  static std::string type_of_index(const KernelFacts& facts, const Declarator& d) {
    const std::string type = facts.unit->resolved_type(facts.unit->plain_text(d.type));
    return type == "auto" && d.value() != nullptr ? type_of(facts, *d.value()) : type;
  }

  /// After an iteration nothing happens but that the index moves on.
  static bool only_steps(const KernelFacts& facts, const Loop& loop) {
    const Stmt& s = *loop.stmt;
    return s.step != nullptr && std::ranges::all_of(facts.state->writes, [&](const Write& write) {
             return write.variable != loop.declarator || write.node == s.step;
           });
  }

  static bool has_lambda(const Stmt& body) {
    bool out = false;
    walk_expressions(body, [&](const Expr& e) {
      out = out || e.is(ExprKind::lambda);
      return !out;
    });
    return out;
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
    if (loop.stmt->init == nullptr || loop.stmt->init->declarators.size() != 1 ||
        loop.declarator->reference || !only_steps(facts, loop))
      return none("the loop's head does more than to count");
    SignedValue is_signed(facts);
    const auto type = dtype_of_type(type_of_index(facts, *loop.declarator));
    if (type != DType::i32 || !is_signed.of(*loop.first_expr) || !is_signed.of(test.arg(1)))
      return none("the loop's bounds may wrap around");
    if (has_lambda(*facts.kernel->body)) return none("a lambda may change the loop's bounds");
    const std::vector<std::string> written = facts.names_written(*loop.stmt);
    bool stays = is_pure(model.unit, *loop.first_expr) && is_pure(model.unit, test);
    for (const Expr* e : {loop.first_expr, static_cast<const Expr*>(&test.arg(1))}) {
      walk(*e, [&](const Expr& part) {
        if (part.is(ExprKind::name) && std::ranges::count(written, part.name) > 0) stays = false;
        if (part.is(ExprKind::subscript) || part.is_op(ExprKind::unary, "*") ||
            part.is_op(ExprKind::member, "->"))
          stays = false;
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
             pad + step + unit_.plain_text(variable.type) + " " + loop.variable + " = " + from +
             " + " + offset + ";\n" + pad + step + "if (" + unit_.plain_text(s.expr->outer) + ") " +
             body + "\n" + pad + "}";
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
