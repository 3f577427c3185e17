#include "moves/tiles/contraction_parts.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/spec/parameters.h"
#include "engine/text/function_text.h"
#include "engine/text/local_names.h"
#include "engine/text/source_edit.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::string_view kAxisLetters = "xyz";

/// a && b && c; under a negation !(a || b || c).
void collect_conditions(const Expr& e, bool negated, std::vector<Condition>& out) {
  if (e.is_op(ExprKind::unary, "!")) return collect_conditions(e.arg(0), !negated, out);
  if (e.is_op(ExprKind::binary, negated ? "||" : "&&")) {
    collect_conditions(e.arg(0), negated, out);
    collect_conditions(e.arg(1), negated, out);
    return;
  }
  out.push_back({&e, negated});
}

/// `return;`, alone or in braces.
bool only_returns(const Stmt& body) {
  const std::vector<const Stmt*> all = statements(body);
  return all.size() == 1 && all[0]->is(StmtKind::return_) && all[0]->expr == nullptr;
}

/// An `if` that only assigns.
bool chooses_value(const Stmt& stmt) {
  if (!stmt.is(StmtKind::if_) || stmt.init != nullptr || stmt.expr == nullptr) return false;
  bool plain = true;
  walk(stmt, [&](const Stmt& s) {
    plain = plain && (s.is(StmtKind::if_) || s.is(StmtKind::block) || s.is(StmtKind::expression) ||
                      s.is(StmtKind::empty));
    return plain;
  });
  return plain;
}

}  // namespace

std::string axis_name(std::string_view base, std::size_t axis) {
  return std::string(base) + "." + kAxisLetters[axis];
}

std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> out;
  const CodeText code(text);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is_name(i) && !is_member(code, i)) out.emplace(code.text[i]);
  }
  return out;
}

bool mentions_block_index(std::string_view text, std::size_t axis) {
  const CodeText code(text);
  for (std::size_t i = 0; i + 2 < code.tokens.size(); ++i) {
    if (code.is(i, "blockIdx") && code.is(i + 1, ".") &&
        code.is(i + 2, kAxisLetters.substr(axis, 1)))
      return true;
  }
  return false;
}

ContractionParts::ContractionParts(const MoveContext& context, const KernelModel& kernel)
    : context_(context),
      unit_(kernel.unit),
      kernel_(*kernel.kernel),
      facts_(kernel.facts),
      constants_(kernel.unit.constants()) {
  for (const auto& [name, value] : context.variant.tunables) constants_.try_emplace(name, value);
}

void ContractionParts::add_definitions(const Stmt& stmt) {
  if (stmt.is(StmtKind::declaration) && !stmt.text_only) {
    for (const Declarator* d : stmt.declarators) {
      const bool alone = stmt.declarators.size() == 1;
      const std::string text = alone ? std::string(unit_.text(stmt))
                                     : std::string(unit_.text(d->specifiers)) + " " +
                                           std::string(unit_.text(d->span)) + ";";
      definitions_.push_back({{std::string(d->name)}, text, &stmt, d});
      const auto value = d->is_constant() && d->value() != nullptr
                             ? constant_value(unit_, *d->value())
                             : std::nullopt;
      if (value && !d->is_array()) constants_[std::string(d->name)] = *value;
    }
    return;
  }
  definitions_.push_back(
      {facts_.names_written(stmt), std::string(unit_.text(stmt)), &stmt, nullptr});
}

bool ContractionParts::split(const Stmt& loop, std::string& why) {
  std::vector<const Stmt*> path{&loop};
  while (path.back()->parent != nullptr) path.push_back(path.back()->parent);
  for (std::size_t i = path.size(); i-- > 1;) {
    const Stmt& outer = *path[i];
    const Stmt& inner = *path[i - 1];
    if (outer.is(StmtKind::if_)) {
      if (&inner != outer.body || outer.otherwise != nullptr || outer.expr == nullptr ||
          outer.init != nullptr) {
        return why = "the sum stands in a branch with an alternative", false;
      }
      collect_conditions(*outer.expr, false, conditions_);
      continue;
    }
    if (!outer.is(StmtKind::block))
      return why = "the sum stands in a statement that is no plain block", false;
    bool before = true;
    for (const Stmt* stmt : outer.children) {
      if (stmt == &inner) {
        before = false;
      } else if (!before) {
        if (i == 1) after_.push_back(stmt);
        if (i != 1 && !stmt->is(StmtKind::empty) && !stmt->is(StmtKind::return_))
          return why = "work follows behind the guarded part", false;
      } else if (stmt->is(StmtKind::if_) && stmt->otherwise == nullptr && stmt->init == nullptr &&
                 stmt->body != nullptr && only_returns(*stmt->body)) {
        collect_conditions(*stmt->expr, true, conditions_);
      } else if (stmt->is(StmtKind::declaration) || stmt->is(StmtKind::expression) ||
                 stmt->is_loop() || chooses_value(*stmt)) {
        for (const Access* access : facts_.accesses_in(*stmt)) {
          if (access->writes()) return why = "memory is written before the sum", false;
        }
        add_definitions(*stmt);
      } else if (!stmt->is(StmtKind::empty) && stmt != loop.pragma) {
        return why = "a statement before the sum is not understood", false;
      }
    }
  }
  if (path.size() < 2 || !path[1]->is(StmtKind::block))
    return why = "nothing is done with the sum", false;
  for (const Stmt* stmt : after_) {
    bool leaves = false;
    walk(*stmt, [&](const Stmt& s) {
      return leaves = leaves || s.is(StmtKind::return_) || s.is(StmtKind::goto_), true;
    });
    if (leaves) return why = "the kernel returns behind the sum", false;
  }
  return true;
}

void ContractionParts::set_axes(std::set<std::string> names, FlatIndex flat) {
  axis_names_ = std::move(names);
  flat_ = std::move(flat);
}

void ContractionParts::set_group(std::string name) {
  group_ = std::move(name);
  std::erase_if(definitions_, [&](const Definition& d) { return d.is(group_); });
}

const ContractionParts::Definition* ContractionParts::definition(std::string_view name) const {
  for (const Definition& d : definitions_) {
    if (std::find(d.defines.begin(), d.defines.end(), name) != d.defines.end()) return &d;
  }
  return nullptr;
}

std::vector<const Access*> ContractionParts::stores() const {
  std::vector<const Access*> out;
  for (const Stmt* stmt : after_) {
    for (const Access* access : facts_.accesses_in(*stmt)) {
      if (access->writes()) out.push_back(access);
    }
  }
  return out;
}

bool ContractionParts::depends(std::string_view text, std::string_view name) const {
  std::set<std::string> names = names_in(text);
  for (bool grew = true; grew && !names.contains(std::string(name));) {
    grew = false;
    for (const Definition& d : definitions_) {
      if (d.defines.size() == 1 && axis_names_.contains(d.defines[0])) continue;
      if (std::none_of(d.defines.begin(), d.defines.end(),
                       [&](const std::string& n) { return names.contains(n); }))
        continue;
      for (const std::string& used : names_in(d.text)) grew = names.insert(used).second || grew;
    }
  }
  return names.contains(std::string(name));
}

bool ContractionParts::on_threads(std::string_view text) const {
  return depends(text, "threadIdx") ||
         std::any_of(axis_names_.begin(), axis_names_.end(),
                     [&](const std::string& a) { return depends(text, a); });
}

Polynomial ContractionParts::with_constants(const Polynomial& value) const {
  return facts_.resolved(value.bound(constants_));
}

std::optional<std::int64_t> ContractionParts::fixed(const Polynomial& value) const {
  if (!value.is_known()) return std::nullopt;
  return with_constants(value).constant();
}

Polynomial ContractionParts::expanded(Polynomial value) const {
  for (int depth = 0; depth < 8 && value.is_known(); ++depth) {
    bool changed = false;
    for (const std::string& name : value.names()) {
      if (axis_names_.contains(name) || constants_.contains(name)) continue;
      if (name == flat_.name) {
        value = value.substituted(name, flat_.value);
        changed = true;
        continue;
      }
      const Definition* d = definition(name);
      const Expr* e = d == nullptr || d->declarator == nullptr || d->declarator->is_pointer()
                          ? nullptr
                          : d->declarator->value();
      if (e == nullptr || !is_integer_type(unit_.text(d->declarator->type)) || name == group_)
        continue;
      const Polynomial inner = facts_.source_polynomial(*e);
      if (!inner.is_known() || inner.mentions(name)) continue;
      value = value.substituted(name, inner);
      changed = true;
    }
    if (!changed) break;
  }
  return value;
}

std::string ContractionParts::text(const Condition& condition) const {
  const std::string plain = unit_.plain_text(condition.expr->span);
  return condition.negated ? "!(" + plain + ")" : plain;
}

std::optional<std::string> ContractionParts::launch_text(std::string_view text) const {
  std::string out(text);
  std::size_t at = 0;
  std::vector<std::pair<std::string, std::string>> names;
  for (const ArgSpec* const arg : parameter_arguments(context_.spec)) {
    if (at == kernel_.parameters.size()) break;
    const Declarator& parameter = *kernel_.parameters[at++];
    if (!parameter.name.empty() && arg != nullptr && arg->type == ArgType::integer)
      names.emplace_back(parameter.name, arg->name);
  }
  std::set<std::string> known;
  for (const auto& [name, value] : context_.variant.tunables) known.insert(name);
  for (const auto& [name, value] : constants_) {
    if (!known.contains(name)) out = replace_name(out, name, std::to_string(value));
  }
  for (const auto& [from, to] : names)
    known.insert(to), out = from == to ? out : replace_name(out, from, to);
  try {
    const Expression parsed = Expression::parse(out, "extent");
    const auto unknown = parsed.names();
    if (std::any_of(unknown.begin(), unknown.end(),
                    [&](const std::string& n) { return !known.contains(n); }))
      return std::nullopt;
    return parsed.text();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string ContractionParts::block_index_name(std::size_t axis) const {
  for (const Definition& d : definitions_) {
    const Expr* e = d.declarator == nullptr ? nullptr : d.declarator->value();
    if (e != nullptr && facts_.polynomial(*e).as_name() == axis_name("blockIdx", axis))
      return d.defines[0];
  }
  return axis_name("blockIdx", axis);
}

bool only_steps(const Unit& unit, const Stmt& stmt, std::string_view name) {
  if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr) return false;
  const Expr& e = *stmt.expr;
  const bool step =
      (e.is(ExprKind::unary) || e.is(ExprKind::postfix)) && e.op == "++" && e.arg(0).is_name(name);
  return step || (e.is_op(ExprKind::assign, "+=") && e.arg(0).is_name(name) &&
                  constant_value(unit, e.arg(1)) == 1);
}

}  // namespace warpath
