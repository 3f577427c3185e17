#include "moves/edit/hinted_access.h"

namespace warpath {

using namespace model;

const Expr* hinting_call(const Access& access) {
  if (access.in_helper || access.kind == AccessKind::atomic) return nullptr;
  if (access.expr->is(ExprKind::call)) return access.expr;  // __ldcg(p)
  const Expr* const address = access.expr->parent;
  if (address == nullptr || !address->is_op(ExprKind::unary, "&")) return nullptr;
  const Expr* const call = address->parent;
  return call != nullptr && call->is(ExprKind::call) && call->args.size() > 1 &&
                 call->args[1] == address
             ? call
             : nullptr;
}

const Expr* replaceable(const Access& access) {
  if (access.in_helper || access.kind == AccessKind::atomic) return nullptr;
  if (const Expr* call = hinting_call(access))
    return access.kind == AccessKind::read ? call : nullptr;
  const Expr* const parent = access.expr->parent;
  return parent != nullptr && parent->is_op(ExprKind::unary, "&") ? nullptr : access.expr;
}

}  // namespace warpath
