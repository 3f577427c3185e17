#include <algorithm>
#include <array>

#include "moves/model/facts_state.h"
#include "moves/model/reduce_op.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

struct Form {
  ReduceOp op = ReduceOp::add;
  const Expr* value = nullptr;
  const Expr* factor_a = nullptr;
  const Expr* factor_b = nullptr;
  bool negated = false;
};

/// Tells whether an expression is the accumulator itself, or mentions it.
struct Target {
  const Unit& unit;
  const Expr& target;
  [[nodiscard]] bool is(const Expr& e) const {
    const Expr& bare = strip_casts(e);
    return bare.kind == target.kind && same_text(unit, bare, target);
  }
  [[nodiscard]] bool within(const Expr& e) const {
    bool found = false;
    walk(e, [&](const Expr& inner) {
      found = found || (inner.kind == target.kind && same_text(unit, inner, target));
      return !found;
    });
    return found;
  }
};

std::optional<ReduceOp> compound_op(std::string_view op) {
  if (op == "+" || op == "-") return ReduceOp::add;
  if (op == "*") return ReduceOp::multiply;
  if (op == "&") return ReduceOp::bit_and;
  if (op == "|") return ReduceOp::bit_or;
  if (op == "^") return ReduceOp::bit_xor;
  if (op == "&&" || op == "and") return ReduceOp::logical_and;
  if (op == "||" || op == "or") return ReduceOp::logical_or;
  return std::nullopt;
}

std::optional<ReduceOp> extremum(std::string_view f) {
  if (f.starts_with("std::")) f.remove_prefix(5);
  constexpr auto kMaximum = std::to_array<std::string_view>(
      {"fmaxf", "fmax", "max", "__hmax", "umax", "llmax", "__hmax2"});
  constexpr auto kMinimum = std::to_array<std::string_view>(
      {"fminf", "fmin", "min", "__hmin", "umin", "llmin", "__hmin2"});
  if (std::find(kMaximum.begin(), kMaximum.end(), f) != kMaximum.end()) return ReduceOp::maximum;
  if (std::find(kMinimum.begin(), kMinimum.end(), f) != kMinimum.end()) return ReduceOp::minimum;
  return std::nullopt;
}

bool is_fma(std::string_view f) {
  if (f.starts_with("std::")) f.remove_prefix(5);
  return f == "fma" || f == "fmaf" || f == "__fmaf_rn" || f == "__hfma" || f == "__fma_rn";
}

/// `condition` picks `value` over the accumulator when true: value > acc is a maximum.
std::optional<ReduceOp> picked(const Target& t, const Expr& condition, const Expr& value) {
  if (condition.kind != ExprKind::binary) return std::nullopt;
  const bool value_left = t.is(condition.arg(1)) && same_text(t.unit, condition.arg(0), value);
  const bool value_right = t.is(condition.arg(0)) && same_text(t.unit, condition.arg(1), value);
  if (!value_left && !value_right) return std::nullopt;
  const bool greater = condition.op == ">" || condition.op == ">=";
  const bool less = condition.op == "<" || condition.op == "<=";
  if (!greater && !less) return std::nullopt;
  return greater == value_left ? ReduceOp::maximum : ReduceOp::minimum;
}

std::optional<Form> sum_form(const Target& t, const Expr& sum) {
  const auto op = compound_op(sum.op);
  if (!op) return std::nullopt;
  const bool left = t.within(sum.arg(0));
  const bool right = t.within(sum.arg(1));
  if (left == right) return std::nullopt;
  if (sum.op == "-" && right) return std::nullopt;
  const Expr& holder = sum.arg(left ? 0 : 1);
  const Expr& other = sum.arg(left ? 1 : 0);
  if (t.is(holder)) return Form{*op, &other, nullptr, nullptr, sum.op == "-"};
  // s + a + b: the accumulator deeper in a chain of the same operator
  if (holder.kind != ExprKind::binary || compound_op(holder.op) != op) return std::nullopt;
  auto inner = sum_form(t, holder);
  if (!inner) return inner;
  inner->value = nullptr;
  return inner;
}

std::optional<Form> form_of(const Target& t, const Expr& node) {
  if (node.kind == ExprKind::unary || node.kind == ExprKind::postfix) {
    if (node.op != "++" && node.op != "--") return std::nullopt;
    return Form{ReduceOp::add, nullptr, nullptr, nullptr, node.op == "--"};
  }
  if (node.kind != ExprKind::assign) return std::nullopt;
  const Expr& right = node.arg(1);
  if (node.op != "=") {
    const auto op = compound_op(node.op.substr(0, node.op.size() - 1));
    if (!op || t.within(right)) return std::nullopt;
    return Form{*op, &right, nullptr, nullptr, node.op == "-="};
  }
  const Expr& value = strip_casts(right);
  if (value.kind == ExprKind::binary) return sum_form(t, value);
  if (value.kind == ExprKind::call && value.args.size() == 3) {
    const std::string_view f = callee(value);
    auto op = extremum(f);
    if (!op && (f == "__hadd" || f == "__fadd_rn" || f == "__dadd_rn" || f == "__hadd2"))
      op = ReduceOp::add;
    if (!op) return std::nullopt;
    const bool first = t.is(value.arg(1));
    const bool second = t.is(value.arg(2));
    if (first == second || t.within(value.arg(first ? 2 : 1))) return std::nullopt;
    return Form{*op, value.args[first ? 2 : 1], nullptr, nullptr, false};
  }
  if (value.kind == ExprKind::call && value.args.size() == 4) {
    const std::string_view f = callee(value);
    if (!t.is(value.arg(3)) || t.within(value.arg(1)) || t.within(value.arg(2)))
      return std::nullopt;
    if (is_fma(f)) return Form{ReduceOp::add, nullptr, value.args[1], value.args[2], false};
    if (f == "__dp4a") return Form{ReduceOp::add, nullptr, nullptr, nullptr, false};
    return std::nullopt;
  }
  if (value.kind == ExprKind::conditional) {
    const bool keep_else = t.is(value.arg(2));
    const bool keep_then = t.is(value.arg(1));
    if (keep_else == keep_then) return std::nullopt;
    const Expr& taken = value.arg(keep_else ? 1 : 2);
    const auto op = picked(t, value.arg(0), taken);
    if (!op) return std::nullopt;
    const bool flip = keep_then;  // the accumulator is kept when the condition holds
    return Form{flip ? (*op == ReduceOp::maximum ? ReduceOp::minimum : ReduceOp::maximum) : *op,
                &taken, nullptr, nullptr, false};
  }
  return std::nullopt;
}

/// if (e > s) s = e;
std::optional<Form> guarded_form(const Target& t, const Stmt& stmt, const Expr& node) {
  if (!node.is_op(ExprKind::assign, "=") || t.within(node.arg(1))) return std::nullopt;
  const Stmt* owner = stmt.parent;
  if (owner != nullptr && owner->kind == StmtKind::block && owner->children.size() == 1)
    owner = owner->parent;
  if (owner == nullptr || owner->kind != StmtKind::if_ || owner->otherwise != nullptr ||
      owner->expr == nullptr)
    return std::nullopt;
  const auto op = picked(t, *owner->expr, node.arg(1));
  return op ? std::optional(Form{*op, node.args[1], nullptr, nullptr, false}) : std::nullopt;
}

bool is_floating(std::string_view type) {
  const auto dtype = dtype_of_type(type);
  return dtype ? info(*dtype).is_float : !is_integer_type(type);
}

std::optional<Reduction> reduction(const Unit& unit,
                                   const Expr& target,
                                   const Expr& node,
                                   const Stmt* stmt) {
  if (stmt == nullptr) return std::nullopt;
  const Target t{unit, target};
  auto form = form_of(t, node);
  Reduction out;
  out.stmt = stmt;
  if (!form) {
    form = guarded_form(t, *stmt, node);
    if (!form) return std::nullopt;
    const Stmt* owner = stmt->parent;
    out.stmt = owner->kind == StmtKind::if_ ? owner : owner->parent;
  }
  out.op = form->op;
  out.target = &target;
  out.value = form->value;
  out.factor_a = form->factor_a;
  out.factor_b = form->factor_b;
  out.negated = form->negated;
  return out;
}

}  // namespace

std::optional<Reduction> reduction_of(const KernelFacts& facts, const Write& write) {
  if (write.node == nullptr || write.partial || write.escapes) return std::nullopt;
  auto out = reduction(*facts.unit, *write.name, *write.node, write.stmt);
  if (!out) return out;
  out->accumulator = std::string(write.variable->name);
  out->declarator = write.variable;
  out->type = facts.unit->resolved_type(facts.unit->plain_text(write.variable->type));
  out->is_float = is_floating(out->type);
  return out;
}

std::optional<Reduction> reduction_of(const KernelFacts& facts, const Access& access) {
  if (!access.writes() || access.kind == AccessKind::atomic || access.in_helper ||
      access.expr->parent == nullptr)
    return std::nullopt;
  const Expr& node = *access.expr->parent;
  if (node.args.empty() || node.args[0] != access.expr) return std::nullopt;
  auto out = reduction(*facts.unit, *access.expr, node, access.stmt);
  if (!out) return out;
  out->accumulator = facts.unit->plain_text(access.expr->span);
  out->access = static_cast<int>(&access - facts.accesses.data());
  out->type = facts.arrays[static_cast<std::size_t>(access.array)].type;
  out->is_float = is_floating(out->type);
  return out;
}

std::string_view name(LoopClass kind) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"parallel", "reduction", "scan", "serial"});
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view name(AccessKind kind) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"read", "write", "read_write", "atomic"});
  return kNames[static_cast<std::size_t>(kind)];
}
std::string_view name(Uniformity uniformity) {
  constexpr auto kNames = std::to_array<std::string_view>({"constant", "grid", "block", "thread"});
  return kNames[static_cast<std::size_t>(uniformity)];
}

}  // namespace warpath::model
