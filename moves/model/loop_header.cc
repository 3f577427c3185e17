#include "moves/model/loop_header.h"
#include "moves/syntax/syntax_query.h"

#include <algorithm>

namespace warpath::model {
namespace {

const Declarator* variable_of(const KernelFacts& facts, const Expr& e) {
  const Expr& name = strip_casts(e);
  const auto found =
      name.kind == ExprKind::name ? facts.state->declared.find(&name) : facts.state->declared.end();
  return found == facts.state->declared.end() ? nullptr : found->second;
}

std::string_view flipped(std::string_view op) {
  if (op == "<") return ">";
  if (op == ">") return "<";
  if (op == "<=") return ">=";
  if (op == ">=") return "<=";
  return op;
}

/// A continue of this loop, not of one inside.
bool has_continue(const Stmt& body) {
  bool found = false;
  walk(body, [&](const Stmt& s) {
    if (s.kind == StmtKind::continue_ || s.kind == StmtKind::goto_) found = true;
    return !s.is_loop() || &s == &body;
  });
  return found;
}

const Expr* initial_value(const Stmt& loop, const Declarator& variable) {
  if (loop.init == nullptr) return nullptr;
  for (const Declarator* d : loop.init->declarators) {
    if (d == &variable) return d->value();
  }
  const Expr* found = nullptr;
  if (loop.init->expr != nullptr) {
    walk(*loop.init->expr, [&](const Expr& e) {
      if (e.is_op(ExprKind::assign, "=") && e.arg(0).is_name(variable.name)) found = e.args[1];
      return e.kind == ExprKind::comma;
    });
  }
  return found;
}

}  // namespace

const Expr* bump_of(const Write& write, bool& negative) {
  const Expr* node = write.node;
  if (node == nullptr) return nullptr;
  negative = false;
  if (node->kind == ExprKind::unary || node->kind == ExprKind::postfix) {
    negative = node->op == "--";
    return nullptr;
  }
  if (node->kind != ExprKind::assign) return nullptr;
  const std::string_view variable = write.variable->name;
  if (node->op == "+=" || node->op == "-=") {
    negative = node->op == "-=";
    return mentions(node->arg(1), variable) ? nullptr : node->args[1];
  }
  if (node->op != "=" || node->arg(1).kind != ExprKind::binary) return nullptr;
  const Expr& sum = node->arg(1);
  if (sum.op != "+" && sum.op != "-") return nullptr;
  negative = sum.op == "-";
  if (sum.arg(0).is_name(variable) && !mentions(sum.arg(1), variable)) return sum.args[1];
  if (sum.op == "+" && sum.arg(1).is_name(variable) && !mentions(sum.arg(0), variable))
    return sum.args[0];
  return nullptr;
}

bool is_invariant(const KernelFacts& facts,
                  const Expr& expr,
                  const std::vector<const Write*>& writes) {
  bool invariant = true;
  walk(expr, [&](const Expr& e) {
    if (e.kind == ExprKind::name) {
      const auto declared = facts.state->declared.find(&e);
      if (declared == facts.state->declared.end()) return invariant;
      for (const Write* write : writes)
        invariant = invariant && write->variable != declared->second;
    } else if (e.kind == ExprKind::assign || e.kind == ExprKind::opaque ||
               e.kind == ExprKind::lambda || e.op == "++" || e.op == "--") {
      invariant = false;
    } else if (e.kind == ExprKind::call) {
      invariant = invariant && is_pure_function(*facts.unit, callee(e));
    } else if (e.kind == ExprKind::subscript || e.is_op(ExprKind::unary, "*")) {
      const Expr* root = &e;
      while (root->kind == ExprKind::subscript ||
             (root->kind == ExprKind::unary && !root->args.empty()) ||
             root->kind == ExprKind::binary ||
             (root->kind == ExprKind::cast && !root->args.empty()))
        root = root->args[0];
      const Declarator* array = variable_of(facts, *root);
      invariant = invariant && array != nullptr && !facts.state->written_arrays.contains(array) &&
                  !array->has(kShared);
      if (invariant) facts.state->trusted_arrays.insert(array);
    }
    return invariant;
  });
  return invariant;
}

LoopHeader read_header(const KernelFacts& facts,
                       const Stmt& loop,
                       const std::vector<const Write*>& writes) {
  LoopHeader none;
  if (loop.kind != StmtKind::for_ && loop.kind != StmtKind::while_) return none;
  if (loop.expr == nullptr || loop.body == nullptr || loop.expr->kind != ExprKind::binary)
    return none;
  const Expr& condition = *loop.expr;
  for (const bool right : {false, true}) {
    LoopHeader out;
    const std::string_view op = right ? flipped(condition.op) : condition.op;
    if (op != "<" && op != "<=" && op != ">" && op != ">=" && op != "!=") return none;
    const Declarator* variable = variable_of(facts, condition.arg(right ? 1 : 0));
    if (variable == nullptr || variable->is_pointer() || variable->is_array() ||
        variable->reference)
      continue;
    const Write* only = nullptr;
    int count = 0;
    for (const Write* write : writes) {
      if (write->variable != variable) continue;
      only = write;
      ++count;
    }
    if (count != 1 || only->escapes || only->partial || only->node == nullptr) continue;
    out.has_continue = has_continue(*loop.body);
    const bool in_step = loop.step != nullptr && loop.step->span.contains(only->node->span);
    const bool at_top_level = only->stmt != nullptr && only->stmt->kind == StmtKind::expression &&
                              only->stmt->expr == only->node && only->stmt->parent == loop.body &&
                              !out.has_continue;
    if (!in_step && !at_top_level) continue;
    bool negative = false;
    out.step = bump_of(*only, negative);
    const bool by_one =
        only->node->kind == ExprKind::unary || only->node->kind == ExprKind::postfix;
    if (out.step == nullptr && !by_one) continue;
    if (out.step != nullptr && !is_invariant(facts, *out.step, writes)) continue;
    out.bound = condition.args[right ? 0 : 1];
    if (!is_invariant(facts, *out.bound, writes)) continue;
    out.step_negative = negative;
    out.unequal = op == "!=";
    out.descending = op == ">" || op == ">=" || (out.unequal && negative);
    out.inclusive = op == "<=" || op == ">=";
    out.first = initial_value(loop, *variable);
    out.variable = variable;
    return out;
  }
  return none;
}

}  // namespace warpath::model
