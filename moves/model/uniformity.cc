#include <algorithm>

#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

Uniformity level_of_builtin(std::string_view name) {
  if (name.starts_with("threadIdx")) return Uniformity::thread;
  if (name.starts_with("blockIdx")) return Uniformity::block;
  return Uniformity::grid;  // blockDim, gridDim, sizes, warpSize
}

bool is_thread_call(const Unit& unit, std::string_view f) {
  if (f.starts_with("atomic") || f.starts_with("__shfl") || f.starts_with("__ballot") ||
      f.starts_with("__activemask") || f.starts_with("clock"))
    return true;
  return !is_pure_function(unit, f) && !f.starts_with("__syncthreads");
}

class Levels {
 public:
  explicit Levels(const KernelFacts& facts) : facts_(facts), state_(*facts.state) {}

  [[nodiscard]] Uniformity of(const Expr& e) const {
    Uniformity out = Uniformity::constant;
    walk(e, [&](const Expr& inner) {
      out = std::max(out, own(inner));
      return out != Uniformity::thread;
    });
    return out;
  }

  [[nodiscard]] Uniformity of(const Declarator& d) const {
    const auto found = state_.levels.find(&d);
    if (found != state_.levels.end()) return found->second;
    if (d.function == nullptr) return d.is_constant() ? Uniformity::constant : Uniformity::grid;
    return d.is_parameter ? Uniformity::grid : Uniformity::constant;
  }

  /// The widest condition around the statement: of ifs, loops, and of exits before it in the same
  /// blocks.
  [[nodiscard]] Uniformity control(const Stmt& stmt) const {
    Uniformity out = Uniformity::constant;
    const auto condition = [&](const Expr* e) {
      if (e != nullptr) out = std::max(out, of(*e));
    };
    for (const Guard* guard : facts_.guards_at(stmt)) condition(guard->condition);
    for (const Stmt* s = stmt.parent; s != nullptr; s = s->parent) {
      if (s->is_loop() || s->kind == StmtKind::switch_) condition(s->expr);
    }
    return out;
  }

 private:
  [[nodiscard]] Uniformity own(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::name: {
        const auto declared = state_.declared.find(&e);
        if (declared != state_.declared.end()) return of(*declared->second);
        return level_of_builtin(e.name);
      }
      case ExprKind::call:
        return called(e, 0);
      case ExprKind::opaque:
      case ExprKind::lambda:
      case ExprKind::statement:
        return Uniformity::thread;
      case ExprKind::subscript: {
        const Access* access = facts_.access_of(e);
        if (access == nullptr) return Uniformity::constant;
        const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
        if (array.space == Space::local) return Uniformity::constant;  // by its declarator
        return array.written || array.escapes ? Uniformity::thread : Uniformity::constant;
      }
      default:
        return Uniformity::constant;
    }
  }

  /// What a call adds to its arguments: the names inside what it stands for.
  [[nodiscard]] Uniformity called(const Expr& e, int depth) const {
    constexpr int kDepth = 4;
    if (is_thread_call(*facts_.unit, callee(e)) || depth > kDepth) return Uniformity::thread;
    const auto expansion = expansion_of(*facts_.unit, e);
    if (!expansion) return Uniformity::constant;
    Uniformity out = Uniformity::constant;
    if (const auto names = state_.macro_names.find(&e); names != state_.macro_names.end()) {
      for (const auto& [name, declarator] : names->second) out = std::max(out, of(*declarator));
    }
    walk(*expansion->result, [&](const Expr& inner) {
      const auto& own = expansion->parameters;
      const bool parameter = std::find(own.begin(), own.end(), inner.name) != own.end();
      if (inner.kind == ExprKind::name && !parameter)
        out = std::max(out, level_of_builtin(inner.name));
      if (inner.kind == ExprKind::call) out = std::max(out, called(inner, depth + 1));
      const bool loads = inner.kind == ExprKind::subscript || inner.is_op(ExprKind::unary, "*");
      if (loads) {  // of memory that the kernel may write
        const bool written = std::any_of(facts_.arrays.begin(), facts_.arrays.end(),
                                         [](const Array& a) { return a.written || a.escapes; });
        if (written) out = Uniformity::thread;
      }
      return true;
    });
    return out;
  }

  const KernelFacts& facts_;
  KernelFacts::State& state_;
};

}  // namespace

void find_uniformity(KernelFacts& facts) {
  KernelFacts::State& state = *facts.state;
  const Levels levels(facts);
  const auto raise = [&](const Declarator& d, Uniformity to) {
    Uniformity& level = state.levels.try_emplace(&d, levels.of(d)).first->second;
    if (level >= to) return false;
    level = to;
    return true;
  };
  std::vector<std::pair<const Declarator*, const Stmt*>> locals;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) locals.emplace_back(d, &s);
    return true;
  });
  for (const Declarator* d : facts.kernel->parameters) raise(*d, Uniformity::grid);
  constexpr int kRounds =
      64;  // a chain of variables longer than this ends in the safe answer below
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (const auto& [d, stmt] : locals) {
      Uniformity level = Uniformity::constant;
      for (const Expr* e : d->init) level = std::max(level, levels.of(*e));
      changed = raise(*d, level) || changed;
    }
    for (const Write& write : state.writes) {
      Uniformity level = write.stmt != nullptr ? levels.control(*write.stmt) : Uniformity::thread;
      if (write.node == nullptr || write.escapes) {
        level = Uniformity::thread;
      } else if (write.node->kind == ExprKind::assign) {
        level = std::max(level, levels.of(write.node->arg(1)));
      }
      changed = raise(*write.variable, level) || changed;
    }
    for (const Access& access : facts.accesses) {  // elements of local arrays
      const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
      if (!access.writes() || array.space != Space::local || array.declarator == nullptr) continue;
      Uniformity level = access.stmt != nullptr ? levels.control(*access.stmt) : Uniformity::thread;
      const Expr* node = access.expr->parent;
      level = std::max(level, node != nullptr && node->kind == ExprKind::assign
                                  ? levels.of(node->arg(1))
                                  : Uniformity::thread);
      level =
          std::max(level, access.expr->kind == ExprKind::subscript ? levels.of(access.expr->arg(1))
                                                                   : Uniformity::thread);
      changed = raise(*array.declarator, level) || changed;
    }
  }
  if (changed) {
    for (auto& [d, level] : state.levels) level = Uniformity::thread;
  }
  for (const auto& [d, level] : state.levels) {
    Uniformity& widest = state.name_levels.try_emplace(std::string(d->name), level).first->second;
    widest = std::max(widest, level);
  }
}

Uniformity KernelFacts::uniformity(const Expr& expr) const {
  return Levels(*this).of(expr);
}

Uniformity KernelFacts::uniformity(const Polynomial& value) const {
  if (!value.is_known()) return Uniformity::thread;
  Uniformity out = Uniformity::constant;
  for (const std::string& name : value.names()) {
    const auto found = state->name_levels.find(name);
    if (found != state->name_levels.end()) {
      out = std::max(out, found->second);
      continue;
    }
    const bool plain = name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
                       std::string::npos;
    out = std::max(out, plain ? level_of_builtin(name) : Uniformity::thread);
  }
  return out;
}

bool KernelFacts::uniformly_reached(const Stmt& stmt) const {
  const Levels levels(*this);
  if (levels.control(stmt) == Uniformity::thread) return false;
  // An exit under a condition that divides threads, anywhere before or in a loop around.
  bool reached = true;
  walk(*kernel->body, [&](const Stmt& s) {
    const bool exit = s.kind == StmtKind::return_ || s.kind == StmtKind::goto_;
    const bool jump = s.kind == StmtKind::break_ || s.kind == StmtKind::continue_;
    if (!exit && !jump) return true;
    const Stmt* loop = enclosing_loop(s);
    const bool shares_loop = loop != nullptr && is_inside(stmt, *loop);
    if (jump && !shares_loop) return true;
    if (exit && s.span.begin > stmt.span.begin && !shares_loop) return true;
    if (levels.control(s) == Uniformity::thread) reached = false;
    return reached;
  });
  return reached;
}

}  // namespace warpath::model
