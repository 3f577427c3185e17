#include <algorithm>

#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/storage.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

/// Calls that take variables by value whatever the file says.
bool takes_values(const Unit& unit, std::string_view name) {
  return is_pure_function(unit, name) || name.starts_with("__shfl") || name.starts_with("atomic") ||
         name.starts_with("__sync") || name.starts_with("__ballot") || name.starts_with("__any") ||
         name.starts_with("__all") || name.starts_with("__match") || name.starts_with("__reduce") ||
         name.starts_with("__st") || name.starts_with("__ld") ||
         name.starts_with("__threadfence") || name == "printf" || name == "assert" ||
         name == "memset" || name == "memcpy" || name.starts_with("__cvta") ||
         name.starts_with("__builtin") || name.starts_with("__nanosleep") ||
         name.starts_with("__pipeline") || name == "clock64" || name == "clock";
}

class Resolver {
 public:
  explicit Resolver(KernelFacts& facts) : facts_(facts), state_(*facts.state) {}

  void run() {
    for (const Declarator* d : facts_.unit->globals()) scope_.push_back(d);
    for (const Declarator* d : facts_.kernel->parameters) scope_.push_back(d);
    if (facts_.kernel->body != nullptr) statement(*facts_.kernel->body);
    for (const Write& write : state_.writes) ++state_.write_counts[write.variable];
  }

 private:
  [[nodiscard]] const Declarator* find(std::string_view name) const {
    for (std::size_t i = scope_.size(); i-- > 0;) {
      if (scope_[i]->name == name) return scope_[i];
    }
    return nullptr;
  }

  void statement(const Stmt& s) {
    const std::size_t mark = scope_.size();
    const bool scoped =
        s.kind != StmtKind::declaration && s.kind != StmtKind::case_ && s.kind != StmtKind::label;
    for (const Declarator* d : s.declarators) {
      for (const Expr* e : d->extents) expression(e);
      for (const Expr* e : d->init) expression(e);
      scope_.push_back(d);
      // A reference to a variable may change it.
      if (d->reference && (!d->has(kConst) || d->is_pointer()) && d->value() != nullptr)
        note_write(*d->value(), d->value(), &s, true);
    }
    if (s.init != nullptr) statement(*s.init);
    if (s.kind != StmtKind::do_) expression(s.expr);
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
      expression(s.operands[i]);
      if (i < s.outputs) note_write(*s.operands[i], nullptr, &s, false);
    }
    for (const Stmt* child : s.children) statement(*child);
    if (s.body != nullptr) statement(*s.body);
    if (s.kind == StmtKind::do_) expression(s.expr);
    expression(s.step);
    if (s.otherwise != nullptr) statement(*s.otherwise);
    if (scoped) scope_.resize(mark);
  }

  /// `target` is changed by `node`: notes the variable if it is one, or a part of one.
  void note_write(const Expr& target, const Expr* node, const Stmt* stmt, bool escapes) {
    const Expr* e = &target;
    bool partial = false;
    while ((e->kind == ExprKind::member && e->op == ".") ||
           (e->kind == ExprKind::cast && e->args.size() == 1)) {
      partial = true;
      e = e->args[0];
    }
    if (e->kind != ExprKind::name) return;
    const auto found = state_.declared.find(e);
    if (found == state_.declared.end()) return;
    if (found->second->is_array() && !found->second->points()) return;
    state_.writes.push_back({found->second, node, e, stmt, partial, escapes});
  }

  void expression(const Expr* root) {
    if (root == nullptr) return;
    const Expr& e = *root;
    if (e.kind == ExprKind::name) {
      const Declarator* d = find(e.name);
      if (d == nullptr) return;
      state_.declared[&e] = d;
      const auto [only, first] = state_.by_name.try_emplace(d->name, d);
      if (!first && only->second != d) only->second = nullptr;
      const bool only_written = e.parent != nullptr && e.parent->kind == ExprKind::assign &&
                                e.parent->op == "=" && e.parent->args[0] == &e;
      if (!only_written) state_.reads.push_back({d, &e});
      return;
    }
    for (const Expr* arg : e.args) expression(arg);
    if (e.body != nullptr) statement(*e.body);
    if (e.kind == ExprKind::assign) note_write(e.arg(0), &e, e.stmt, false);
    if ((e.kind == ExprKind::unary || e.kind == ExprKind::postfix) &&
        (e.op == "++" || e.op == "--"))
      note_write(e.arg(0), &e, e.stmt, false);
    if (e.kind == ExprKind::unary && e.op == "&") note_write(e.arg(0), &e, e.stmt, true);
    if (e.kind == ExprKind::call) call(e);
  }

  void call(const Expr& e) {
    const std::string_view name = callee(e);
    if (name.empty() && e.arg(0).kind == ExprKind::member && e.arg(0).op == ".")
      return;  // a method
    const Function* function = facts_.unit->find_function(name);
    if (const Macro* macro = facts_.unit->macro(name); macro != nullptr && macro->function_like)
      names_of_macro(e, e, 0);
    if (function == nullptr && takes_values(*facts_.unit, name)) return;
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      if (function != nullptr && function->parameters.size() > i - 1) {
        const Declarator& p = *function->parameters[i - 1];
        if (!p.reference || (p.has(kConst) && !p.is_pointer())) continue;
      }
      const auto found =
          e.arg(i).kind == ExprKind::name ? state_.declared.find(&e.arg(i)) : state_.declared.end();
      const bool pointer =
          found != state_.declared.end() && function == nullptr && found->second->is_pointer();
      if (!pointer) note_write(e.arg(i), &e, e.stmt, true);
    }
  }

  /// The names of the kernel in what a macro stands for: reads at `site`.
  void names_of_macro(const Expr& call, const Expr& site, int depth) {
    constexpr int kDepth = 4;
    const auto expansion = expansion_of(*facts_.unit, call);
    if (!expansion || depth > kDepth) return;
    walk(*expansion->result, [&](const Expr& inner) {
      if (inner.kind == ExprKind::call) names_of_macro(inner, site, depth + 1);
      if (inner.kind != ExprKind::name) return true;
      const auto& own = expansion->parameters;
      const Declarator* d = find(inner.name);
      if (d == nullptr || !expansion->is_macro ||
          std::find(own.begin(), own.end(), inner.name) != own.end())
        return true;
      state_.macro_names[&call].emplace_back(&inner, d);
      state_.reads.push_back({d, site.args[0]});
      return true;
    });
  }

  KernelFacts& facts_;
  KernelFacts::State& state_;
  std::vector<const Declarator*> scope_;
};

}  // namespace

void resolve_names(KernelFacts& facts) {
  Resolver(facts).run();
}

std::vector<const Write*> writes_in(const KernelFacts& facts, Span span) {
  std::vector<const Write*> out;
  for (const Write& write : facts.state->writes) {
    if (span.contains(write.name->span)) out.push_back(&write);
  }
  return out;
}

namespace {

void unite(std::vector<std::string>& out, std::string_view name) {
  if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
}

}  // namespace

std::vector<std::string> KernelFacts::names_read(const Stmt& stmt) const {
  std::vector<std::string> out;
  for (const Read& read : state->reads) {
    if (stmt.span.contains(read.name->span) && read.variable->function != nullptr)
      unite(out, read.variable->name);
  }
  return out;
}

std::vector<std::string> KernelFacts::names_written(const Stmt& stmt) const {
  std::vector<std::string> out;
  for (const Write& write : state->writes) {
    if (stmt.span.contains(write.name->span)) unite(out, write.variable->name);
  }
  return out;
}

}  // namespace warpath::model
