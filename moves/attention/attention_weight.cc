#include "moves/attention/attention_weight.h"
#include "moves/syntax/syntax_query.h"

#include <algorithm>
#include <utility>

namespace warpath {
namespace {

using namespace model;

class WeightReader {
 public:
  WeightReader(const Unit& unit,
               const KernelFacts& facts,
               const WeightedSum& parts,
               std::string& why)
      : unit_(unit), facts_(facts), parts_(parts), why_(why) {}

  bool run(std::string& text) {
    const Declarator* d = defined(parts_.weight);
    const Expr* argument = d == nullptr ? nullptr : exp_argument(*d->value());
    if (argument == nullptr || !parts_.sum_weight->is_name(parts_.weight))
      return fail("the weight is no exponential");
    const auto scale = exponent(*argument);
    if (!scale) return fail("the exponent is not a scaled score minus one value");
    text = scale->starts_with("1.0f * ") ? scale->substr(7) : *scale;
    const bool moving = top_ != nullptr && (!top_->is(ExprKind::name) || is_changed(top_->name));
    if (!moving)
      return parts_.acc_keep == nullptr && parts_.sum_keep == nullptr
                 ? true
                 : fail("the sums are scaled without need");
    if (top_ == nullptr || parts_.acc_keep == nullptr || parts_.sum_keep == nullptr ||
        !same_text(unit_, *parts_.acc_keep, *parts_.sum_keep) ||
        !parts_.acc_keep->is(ExprKind::name)) {
      return fail("the largest score changes, and the sums are not scaled with it");
    }
    const Declarator* keep = defined(parts_.acc_keep->name);
    const Expr* step = keep == nullptr ? nullptr : exp_argument(*keep->value());
    if (step == nullptr || !strip_casts(*step).is_op(ExprKind::binary, "-"))
      return fail("the sums are not scaled by an exponential");
    const Expr& difference = strip_casts(*step);
    const Expr &before = strip_casts(difference.arg(0)), &after = strip_casts(difference.arg(1));
    for (const Expr* handover : parts_.handovers) {
      const bool fits =
          same_text(unit_, handover->arg(0), before) && same_text(unit_, handover->arg(1), after);
      if (fits && same_text(unit_, after, *top_) && handover->span.begin > keep->span.begin)
        return true;
    }
    return fail("the sums are not scaled by the change of the largest score");
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  [[nodiscard]] const Declarator* defined(std::string_view name) const {
    for (const Declarator* d : parts_.defined) {
      if (d->name == name) return d;
    }
    return nullptr;
  }
  /// Depends on the dot product.
  [[nodiscard]] bool on_score(const Expr& e) const {
    bool out = false;
    walk(e, [&](const Expr& x) {
      if (!x.is(ExprKind::name)) return true;
      const Declarator* d = defined(x.name);
      if (x.name == parts_.score || (d != nullptr && on_score(*d->value()))) out = true;
      return true;
    });
    return out;
  }

  /// Text of f in e = f * score; nullopt if e is no such thing.
  [[nodiscard]] std::optional<std::string> factor(const Expr& given) const {
    const Expr& e = strip_casts(given);
    if (e.is_name(parts_.score)) {
      std::string out = "1.0f";
      for (const Expr* f : parts_.score_factors) out += " * (" + unit_.plain_text(f->outer) + ")";
      return out;
    }
    if (e.is(ExprKind::name)) {
      const Declarator* d = defined(e.name);
      return d == nullptr ? std::nullopt : factor(*d->value());
    }
    if (!e.is_op(ExprKind::binary, "*") && !e.is_op(ExprKind::binary, "/")) return std::nullopt;
    const bool left = on_score(e.arg(0));
    if (left == on_score(e.arg(1)) || (!left && e.op == "/")) return std::nullopt;
    const auto inner = factor(e.arg(left ? 0 : 1));
    const Expr& other = e.arg(left ? 1 : 0);
    if (!inner || !is_uniform(other)) return std::nullopt;
    return *inner + " " + std::string(e.op) + " (" + unit_.plain_text(other.outer) + ")";
  }

  /// The same for the exponent f * score - top; `top_` is what is taken away.
  std::optional<std::string> exponent(const Expr& given) {
    const Expr& e = strip_casts(given);
    if (e.is(ExprKind::name)) {
      const Declarator* d = defined(e.name);
      if (d != nullptr) return exponent(*d->value());
    }
    if (e.is_op(ExprKind::binary, "-")) {
      top_ = &strip_casts(e.arg(1));
      return factor(e.arg(0));
    }
    if (e.is_op(ExprKind::binary, "*")) {
      const bool left = on_score(e.arg(0));
      if (left != on_score(e.arg(1)) && is_uniform(e.arg(left ? 1 : 0))) {
        const auto inner = exponent(e.arg(left ? 0 : 1));
        if (inner) return *inner + " * (" + unit_.plain_text(e.arg(left ? 1 : 0).outer) + ")";
      }
    }
    return factor(e);
  }

  /// The same value for all queries and keys of a block.
  [[nodiscard]] bool is_uniform(const Expr& e) const {
    bool out = facts_.uniformity(e) != Uniformity::thread && !mentions(e, parts_.loop->variable);
    walk(e, [&](const Expr& x) {
      if (x.is(ExprKind::name) && defined(x.name) != nullptr) out = false;
      return true;
    });
    return out;
  }

  [[nodiscard]] const Expr* exp_argument(const Expr& given) const {
    const Expr& e = strip_casts(given);
    const std::string_view name = callee(e);
    return (name == "expf" || name == "__expf" || name == "exp") && e.args.size() == 2 ? &e.arg(1)
                                                                                       : nullptr;
  }

  [[nodiscard]] bool is_changed(std::string_view name) const {
    return std::find(parts_.loop->assigned.begin(), parts_.loop->assigned.end(), name) !=
               parts_.loop->assigned.end() ||
           defined(name) != nullptr;
  }

  const Unit& unit_;
  const KernelFacts& facts_;
  const WeightedSum& parts_;
  std::string& why_;
  const Expr* top_ = nullptr;
};

}  // namespace

bool is_zero(const model::Expr& e) {
  const Expr& inner = strip_casts(e);
  return inner.is(ExprKind::number) &&
         inner.name.find_first_not_of("0.fF") == std::string_view::npos;
}

std::optional<Update> read_update(const model::Unit& unit, const model::Stmt& stmt) {
  if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr || !stmt.expr->is(ExprKind::assign))
    return std::nullopt;
  Update out;
  out.target = &stmt.expr->arg(0);
  const Expr& value = strip_casts(stmt.expr->arg(1));
  const auto summand = [&](const Expr& e) {
    const Expr& inner = strip_casts(e);
    if (inner.is_op(ExprKind::binary, "*"))
      return out.a = &strip_casts(inner.arg(0)), out.b = &strip_casts(inner.arg(1)), true;
    return out.a = &inner, true;
  };
  const auto kept = [&](const Expr& e) {
    const Expr& inner = strip_casts(e);
    if (same_text(unit, inner, *out.target)) return true;
    if (!inner.is_op(ExprKind::binary, "*")) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (same_text(unit, strip_casts(inner.arg(i)), *out.target))
        return out.keep = &strip_casts(inner.arg(1 - i)), true;
    }
    return false;
  };
  if (stmt.expr->op == "+=") return summand(value), out;
  if (stmt.expr->op != "=") return std::nullopt;
  if ((callee(value) == "fmaf" || callee(value) == "__fmaf_rn") && value.args.size() == 4) {
    if (!kept(value.arg(3))) return std::nullopt;
    out.a = &strip_casts(value.arg(1)), out.b = &strip_casts(value.arg(2));
    return out;
  }
  if (!value.is_op(ExprKind::binary, "+")) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (kept(value.arg(i))) return summand(value.arg(1 - i)), out;
  }
  return std::nullopt;
}

bool read_weight(const model::Unit& unit,
                 const model::KernelFacts& facts,
                 const WeightedSum& parts,
                 std::string& scale,
                 std::string& why) {
  return WeightReader(unit, facts, parts, why).run(scale);
}

}  // namespace warpath
