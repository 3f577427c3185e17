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

std::string axis_name(std::string_view base, std::size_t axis) {
  return std::string(base) + "." + kAxisLetters[axis];
}

}  // namespace

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
  loop_ = &loop;
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
        inner_ = &outer;
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

const ContractionParts::Definition* ContractionParts::definition(std::string_view name) const {
  for (const Definition& d : definitions_) {
    if (std::find(d.defines.begin(), d.defines.end(), name) != d.defines.end()) return &d;
  }
  return nullptr;
}

bool ContractionParts::depends(std::string_view text, std::string_view name) const {
  std::set<std::string> names = names_in(text);
  for (bool grew = true; grew && !names.contains(std::string(name));) {
    grew = false;
    for (const Definition& d : definitions_) {
      const bool searched = groups_ && d.defines.size() == 1 && d.defines[0] == groups_->group;
      if (searched || (d.defines.size() == 1 && axis_names_.contains(d.defines[0]))) continue;
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
      if (name == flat_index_) {
        value = value.substituted(name, flat_value_);
        changed = true;
        continue;
      }
      const Definition* d = definition(name);
      const Expr* e = d == nullptr || d->declarator == nullptr || d->declarator->is_pointer()
                          ? nullptr
                          : d->declarator->value();
      if (e == nullptr || !is_integer_type(unit_.text(d->declarator->type)) ||
          (groups_ && name == groups_->group))
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

std::string ContractionParts::launch_extent_of(std::size_t axis) const {
  const std::string grid = context_.variant.launch.grid[axis].text();
  const std::string block = context_.variant.launch.block[axis].text();
  const std::string tail = ", " + block + ")";
  if (grid.starts_with("ceil_div(") && grid.ends_with(tail)) {
    const std::string inside = grid.substr(9, grid.size() - 9 - tail.size());
    if (inside.find(',') == std::string::npos) return inside;
  }
  return Expression::parse("(" + grid + ") * (" + block + ")", "extent").text();
}

std::optional<AxisPart> ContractionParts::direct_axis(const Definition& d) const {
  if (d.declarator == nullptr || d.declarator->value() == nullptr || d.declarator->is_pointer())
    return std::nullopt;
  AxisPart part;
  part.axis.name = d.defines[0];
  part.axis.type = d.declarator->has(kAuto) ? "int" : std::string(unit_.text(d.declarator->type));
  part.axis.threaded = true;
  const ThreadIndex* index = facts_.thread_index(part.axis.name);
  if (index != nullptr && index->form == ThreadIndex::Form::global) {
    part.axis.launch_axis = static_cast<std::size_t>(index->axis);
    part.axis.launch_extent = launch_extent_of(part.axis.launch_axis);
    part.launch_axes = {part.axis.launch_axis};
    return part;
  }
  // W * blockIdx.a + threadIdx.x / W2 or threadIdx.x % W: a block of one thread axis that covers a
  // rectangle.
  const Polynomial value = with_constants(facts_.polynomial(*d.declarator->value()));
  if (!value.is_known() || value.terms().size() != 2) return std::nullopt;
  Bindings tunables(context_.variant.tunables.begin(), context_.variant.tunables.end());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto width = value.coefficient_of(axis_name("blockIdx", axis)).constant();
    if (!width || *width < 1) continue;
    const Polynomial rest = value.without(axis_name("blockIdx", axis));
    const auto operations = rest.operations();
    if (operations.size() != 1 || operations[0]->operands.size() != 2 || rest.terms().size() != 1 ||
        rest.terms()[0].coefficient != 1)
      return std::nullopt;
    const auto by = operations[0]->operands[1].constant();
    if (!by || operations[0]->operands[0].as_name() != "threadIdx.x" || *by < 1)
      return std::nullopt;
    std::int64_t threads = 0;
    try {
      threads = context_.variant.launch.block[0].evaluate(tunables, "block");
    } catch (const Error&) {
      return std::nullopt;
    }
    const std::int64_t range = operations[0]->op == "%"   ? *by
                               : operations[0]->op == "/" ? threads / *by
                                                          : 0;
    if (range != *width || threads % *by != 0) return std::nullopt;
    part.axis.launch_axis = axis;
    part.launch_axes = {axis};
    if (axis != 0) part.launch_axes.push_back(0);
    part.axis.launch_extent = Expression::parse("(" + context_.variant.launch.grid[axis].text() +
                                                    ") * " + std::to_string(*width),
                                                "extent")
                                  .text();
    return part;
  }
  return std::nullopt;
}

std::vector<AxisPart> ContractionParts::divided_axes() {
  std::vector<AxisPart> out;
  const Expr* divisor = nullptr;
  std::string index_name;
  for (const Definition& d : definitions_) {
    const Expr* e = d.declarator == nullptr ? nullptr : d.declarator->value();
    if (e == nullptr) continue;
    e = &strip_casts(*e);
    if (!e->is(ExprKind::binary) || (e->op != "/" && e->op != "%")) continue;
    const Expr& left = strip_casts(e->arg(0));
    const ThreadIndex* index = left.is(ExprKind::name) ? facts_.thread_index(left.name) : nullptr;
    if (index == nullptr || index->form != ThreadIndex::Form::global) continue;
    if (index->beyond_launch) return {};  // tiles would make what the launch leaves undone
    if (divisor != nullptr && (!same_text(unit_, *divisor, e->arg(1)) || index_name != left.name))
      return {};
    divisor = &e->arg(1), index_name = std::string(left.name);
    AxisPart part;
    part.axis.name = d.defines[0];
    part.axis.type = d.declarator->has(kAuto) ? "int" : std::string(unit_.text(d.declarator->type));
    part.axis.threaded = true;
    part.axis.launch_axis = static_cast<std::size_t>(index->axis);
    part.launch_axes = {part.axis.launch_axis};
    const Polynomial by = facts_.source_polynomial(*divisor);
    flat_value_ +=
        e->op == "%" ? Polynomial::name(part.axis.name) : by * Polynomial::name(part.axis.name);
    if (e->op == "%") {
      part.axis.extent = unit_.plain_text(divisor->outer);
      part.extent = by;
    } else {
      for (const Condition& condition : conditions_) {
        const auto total = upper_bound(condition);
        if (!total || total->name != index_name) continue;
        for (const std::string& name : total->value.names()) {
          if (Polynomial::name(name) * by == total->value)
            part.axis.extent = name, part.extent = Polynomial::name(name);
        }
        const auto all = fixed(total->value), columns = fixed(by);
        if (part.axis.extent.empty() && all && columns && *all % *columns == 0)
          part.axis.extent = std::to_string(*all / *columns), part.extent = *all / *columns;
        if (!part.axis.extent.empty()) {
          flat_total_ = total->value;
          break;
        }
      }
    }
    if (part.axis.extent.empty()) return {};
    part.axis.size = fixed(part.extent);
    part.axis.launch_extent = launch_text(part.axis.extent).value_or("");
    out.push_back(part);
  }
  if (out.size() == 2) flat_index_ = index_name;
  return out.size() == 2 ? out : std::vector<AxisPart>{};
}

std::vector<AxisPart> ContractionParts::axes() {
  std::vector<AxisPart> out = divided_axes();
  for (const Definition& d : definitions_) {
    if (!flat_index_.empty()) break;
    if (auto part = direct_axis(d)) out.push_back(*part);
  }
  const bool partial = std::ranges::any_of(out, [&](const AxisPart& part) {
    const ThreadIndex* const index = facts_.thread_index(part.axis.name);
    return index != nullptr && index->beyond_launch;
  });
  if (partial) return {};
  Bindings tunables(context_.variant.tunables.begin(), context_.variant.tunables.end());
  for (AxisPart& part : out) {
    axis_names_.insert(part.axis.name);
    if (part.axis.size) continue;
    try {
      part.axis.size =
          Expression::parse(part.axis.launch_extent, "extent").evaluate(tunables, "extent");
      part.extent = *part.axis.size;
    } catch (const Error&) {
      part.axis.size = std::nullopt;
    }
  }
  return out;
}

std::optional<UpperBound> ContractionParts::upper_bound(const Condition& condition) const {
  const Expr& e = *condition.expr;
  if (!e.is(ExprKind::binary)) return std::nullopt;
  std::string op(e.op);
  if (op != "<" && op != "<=" && op != ">" && op != ">=") return std::nullopt;
  if (condition.negated) op = op == "<" ? ">=" : op == "<=" ? ">" : op == ">" ? "<=" : "<";
  const bool left_small = op[0] == '<';
  const Expr& small = strip_casts(left_small ? e.arg(0) : e.arg(1));
  const Expr& large = left_small ? e.arg(1) : e.arg(0);
  if (!small.is(ExprKind::name)) return std::nullopt;
  UpperBound out;
  out.name = std::string(small.name);
  out.text = unit_.plain_text(large.outer);
  out.value = facts_.source_polynomial(large);
  if (op.size() == 2) {
    out.value = out.value + Polynomial(1);
    out.text = out.value.is_known() ? out.value.text() : out.text + " + 1";
  }
  out.size = fixed(out.value);
  out.launch_text = out.size ? std::to_string(*out.size) : launch_text(out.text).value_or("");
  return out;
}

bool ContractionParts::is_used_up(const Condition& condition) const {
  const auto bound = upper_bound(condition);
  if (!bound || flat_index_.empty() || bound->name != flat_index_) return false;
  const auto all = fixed(flat_total_), own = fixed(bound->value);
  return bound->value == flat_total_ || (all && own && *own >= *all);
}

bool ContractionParts::lower_bound_only(const Condition& condition,
                                        const std::vector<AxisPart>& axes) const {
  const Expr& e = *condition.expr;
  if (condition.negated || !e.is_op(ExprKind::binary, ">=") || !e.arg(0).is(ExprKind::name))
    return false;
  const bool axis = std::any_of(axes.begin(), axes.end(),
                                [&](const AxisPart& a) { return e.arg(0).is_name(a.axis.name); });
  return axis && constant_value(unit_, e.arg(1)) == 0;
}

std::string ContractionParts::block_index_name(std::size_t axis) const {
  for (const Definition& d : definitions_) {
    const Expr* e = d.declarator == nullptr ? nullptr : d.declarator->value();
    if (e != nullptr && facts_.polynomial(*e).as_name() == axis_name("blockIdx", axis))
      return d.defines[0];
  }
  return axis_name("blockIdx", axis);
}

}  // namespace warpath
