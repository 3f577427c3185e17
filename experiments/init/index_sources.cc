#include "experiments/init/index_sources.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using model::Access;
using model::Loop;
using model::Polynomial;

namespace {

constexpr int kDeepestCall = 8;

std::optional<Polynomial> rounded(const model::KernelFacts& facts,
                                  const model::Expr& given,
                                  bool up,
                                  int depth) {
  if (depth > kDeepestCall) return std::nullopt;
  const model::Expr& e = model::strip_casts(given);
  const auto inner = [&](const model::Expr& one, bool rounds_up = false) {
    return rounded(facts, one, rounds_up, depth + 1);
  };
  model::ValueReader reader(facts);
  if (e.is(model::ExprKind::call)) {
    std::string_view name = model::callee(e);
    if (name.starts_with("std::")) name.remove_prefix(5);
    if (e.args.size() == 2 && (name == "floor" || name == "floorf")) return inner(e.arg(1));
    if (e.args.size() == 2 && (name == "ceil" || name == "ceilf")) return inner(e.arg(1), true);
    const auto expansion = model::expansion_of(*facts.unit, e);
    if (!expansion) return std::nullopt;
    reader.bind(e, *expansion);
    return rounded(facts, *expansion->result, up, depth + 1);
  }
  const bool quotient = e.is_op(model::ExprKind::binary, "/");
  if (quotient || e.is_op(model::ExprKind::binary, "*")) {
    const auto a = inner(e.arg(0)), b = inner(e.arg(1));
    if (!a || !b) return std::nullopt;
    if (!quotient) return *a * *b;
    return Polynomial::operation("/", {up ? *a + *b - 1 : *a, *b});
  }
  const model::Value value = reader.read(e);
  if (value.is_pointer() || !value.full.is_known()) return std::nullopt;
  return value.full;
}

}  // namespace

DeclaredValues declared_values(const model::KernelFacts& facts) {
  DeclaredValues out;
  model::walk(*facts.kernel->body, [&](const model::Stmt& stmt) {
    for (const model::Declarator* const d : stmt.declarators) {
      if (d->is_array() || d->value() == nullptr) continue;
      const auto [found, fresh] = out.try_emplace(std::string(d->name), d->value());
      if (!fresh) found->second = nullptr;
    }
    return true;
  });
  return out;
}

std::optional<Polynomial> rounded_value(const model::KernelFacts& facts, const model::Expr& expr) {
  return rounded(facts, expr, false, 0);
}

std::optional<std::set<std::string>> sizes_behind_index(const model::KernelFacts& facts,
                                                        const DeclaredValues& values,
                                                        const std::vector<Polynomial>& assumed,
                                                        const Access& access) {
  if (access.expr == nullptr || access.in_helper) return std::nullopt;
  std::set<std::string> out, seen;
  bool known = true;
  const std::function<void(const model::Expr&)> read = [&](const model::Expr& expr) {
    model::walk(expr, [&](const model::Expr& e) {
      if (e.is(model::ExprKind::member) && e.arg(0).is_name("blockIdx")) {
        const std::string axis = "blockIdx." + std::string(e.name);
        std::vector<Polynomial> bounds = assumed;
        for (const auto& guard : facts.guards)
          bounds.insert(bounds.end(), guard->nonnegative.begin(), guard->nonnegative.end());
        for (const Polynomial& one : bounds) {
          if (!one.mentions(axis)) continue;
          for (const std::string& size : one.names())
            if (size.find('.') == std::string::npos) out.insert(size);
        }
      }
      const std::string name(e.name);
      if (!e.is(model::ExprKind::name) || !seen.insert(name).second) return true;
      const model::Declarator* const parameter = facts.kernel->parameter(name);
      if (parameter != nullptr && !parameter->points()) out.insert(name);
      for (const auto& loop : facts.loops) {
        if (loop->variable == name && loop->bound_expr != nullptr) read(*loop->bound_expr);
      }
      model::walk_expressions(*facts.kernel->body, [&](const model::Expr& other) {
        if (other.is(model::ExprKind::assign) && other.arg(0).is_name(name)) read(other.arg(1));
        return true;
      });
      const auto declared = values.find(name);
      if (declared != values.end() && declared->second == nullptr) known = false;
      if (declared != values.end() && declared->second != nullptr) read(*declared->second);
      return true;
    });
  };
  read(*access.expr);
  for (const Loop* const loop : access.loops)
    if (loop->bound_expr != nullptr) read(*loop->bound_expr);
  if (!known) return std::nullopt;
  return out;
}

bool moves_a_pointer(const model::KernelFacts& facts, const Loop& loop) {
  return std::ranges::any_of(loop.assigned, [&](const std::string& name) {
    const model::Declarator* const parameter = facts.kernel->parameter(name);
    return parameter != nullptr && parameter->points();
  });
}

bool is_thread(const std::string& name) {
  return name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
}

bool is_launch_extent(const std::string& name) {
  return name.starts_with("blockDim.") || name.starts_with("gridDim.");
}

}  // namespace warpath
