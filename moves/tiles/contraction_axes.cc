#include "moves/tiles/contraction_axes.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

std::string launch_extent_of(const MoveContext& context, std::size_t axis) {
  const std::string grid = context.variant.launch.grid[axis].text();
  const std::string block = context.variant.launch.block[axis].text();
  const std::string tail = ", " + block + ")";
  if (grid.starts_with("ceil_div(") && grid.ends_with(tail)) {
    const std::string inside = grid.substr(9, grid.size() - 9 - tail.size());
    if (inside.find(',') == std::string::npos) return inside;
  }
  return Expression::parse("(" + grid + ") * (" + block + ")", "extent").text();
}

std::optional<AxisPart> direct_axis(const ContractionParts& parts,
                                    const ContractionParts::Definition& d) {
  if (d.declarator == nullptr || d.declarator->value() == nullptr || d.declarator->is_pointer())
    return std::nullopt;
  AxisPart part;
  part.axis.name = d.defines[0];
  part.axis.type =
      d.declarator->has(kAuto) ? "int" : std::string(parts.unit().text(d.declarator->type));
  part.axis.threaded = true;
  const ThreadIndex* index = parts.facts().thread_index(part.axis.name);
  if (index != nullptr && index->form == ThreadIndex::Form::global) {
    part.axis.launch_axis = static_cast<std::size_t>(index->axis);
    part.axis.launch_extent = launch_extent_of(parts.context(), part.axis.launch_axis);
    part.launch_axes = {part.axis.launch_axis};
    return part;
  }
  // W * blockIdx.a + threadIdx.x / W2 or threadIdx.x % W: a block of one thread axis that covers a
  // rectangle.
  const Polynomial value = parts.with_constants(parts.facts().polynomial(*d.declarator->value()));
  if (!value.is_known() || value.terms().size() != 2) return std::nullopt;
  Bindings tunables(parts.context().variant.tunables.begin(),
                    parts.context().variant.tunables.end());
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
      threads = parts.context().variant.launch.block[0].evaluate(tunables, "block");
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
    part.axis.launch_extent =
        Expression::parse("(" + parts.context().variant.launch.grid[axis].text() + ") * " +
                              std::to_string(*width),
                          "extent")
            .text();
    return part;
  }
  return std::nullopt;
}

std::vector<AxisPart> divided_axes(const ContractionParts& parts, FlatIndex& flat) {
  std::vector<AxisPart> out;
  const Expr* divisor = nullptr;
  std::string index_name;
  for (const ContractionParts::Definition& d : parts.definitions()) {
    const Expr* e = d.declarator == nullptr ? nullptr : d.declarator->value();
    if (e == nullptr) continue;
    e = &strip_casts(*e);
    if (!e->is(ExprKind::binary) || (e->op != "/" && e->op != "%")) continue;
    const Expr& left = strip_casts(e->arg(0));
    const ThreadIndex* index =
        left.is(ExprKind::name) ? parts.facts().thread_index(left.name) : nullptr;
    if (index == nullptr || index->form != ThreadIndex::Form::global) continue;
    if (index->beyond_launch) return {};  // tiles would make what the launch leaves undone
    if (divisor != nullptr &&
        (!same_text(parts.unit(), *divisor, e->arg(1)) || index_name != left.name))
      return {};
    divisor = &e->arg(1), index_name = std::string(left.name);
    AxisPart part;
    part.axis.name = d.defines[0];
    part.axis.type =
        d.declarator->has(kAuto) ? "int" : std::string(parts.unit().text(d.declarator->type));
    part.axis.threaded = true;
    part.axis.launch_axis = static_cast<std::size_t>(index->axis);
    part.launch_axes = {part.axis.launch_axis};
    const Polynomial by = parts.facts().source_polynomial(*divisor);
    flat.value +=
        e->op == "%" ? Polynomial::name(part.axis.name) : by * Polynomial::name(part.axis.name);
    if (e->op == "%") {
      part.axis.extent = parts.unit().plain_text(divisor->outer);
      part.extent = by;
    } else {
      for (const Condition& condition : parts.conditions()) {
        const auto total = upper_bound(parts, condition);
        if (!total || total->name != index_name) continue;
        for (const std::string& name : total->value.names()) {
          if (Polynomial::name(name) * by == total->value)
            part.axis.extent = name, part.extent = Polynomial::name(name);
        }
        const auto all = parts.fixed(total->value), columns = parts.fixed(by);
        if (part.axis.extent.empty() && all && columns && *all % *columns == 0)
          part.axis.extent = std::to_string(*all / *columns), part.extent = *all / *columns;
        if (!part.axis.extent.empty()) {
          flat.total = total->value;
          break;
        }
      }
    }
    if (part.axis.extent.empty()) return {};
    part.axis.size = parts.fixed(part.extent);
    part.axis.launch_extent = parts.launch_text(part.axis.extent).value_or("");
    out.push_back(part);
  }
  if (out.size() == 2) flat.name = index_name;
  return out.size() == 2 ? out : std::vector<AxisPart>{};
}

}  // namespace

std::vector<AxisPart> contraction_axes(ContractionParts& parts) {
  FlatIndex flat;
  std::vector<AxisPart> out = divided_axes(parts, flat);
  for (const ContractionParts::Definition& d : parts.definitions()) {
    if (!flat.name.empty()) break;
    if (auto part = direct_axis(parts, d)) out.push_back(*part);
  }
  const bool partial = std::ranges::any_of(out, [&](const AxisPart& part) {
    const ThreadIndex* const index = parts.facts().thread_index(part.axis.name);
    return index != nullptr && index->beyond_launch;
  });
  if (partial) return {};
  Bindings tunables(parts.context().variant.tunables.begin(),
                    parts.context().variant.tunables.end());
  std::set<std::string> names;
  for (AxisPart& part : out) {
    names.insert(part.axis.name);
    if (part.axis.size) continue;
    try {
      part.axis.size =
          Expression::parse(part.axis.launch_extent, "extent").evaluate(tunables, "extent");
      part.extent = *part.axis.size;
    } catch (const Error&) {
      part.axis.size = std::nullopt;
    }
  }
  parts.set_axes(std::move(names), std::move(flat));
  return out;
}

std::optional<UpperBound> upper_bound(const ContractionParts& parts, const Condition& condition) {
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
  out.text = parts.unit().plain_text(large.outer);
  out.value = parts.facts().source_polynomial(large);
  if (op.size() == 2) {
    out.value = out.value + Polynomial(1);
    out.text = out.value.is_known() ? out.value.text() : out.text + " + 1";
  }
  out.size = parts.fixed(out.value);
  out.launch_text = out.size ? std::to_string(*out.size) : parts.launch_text(out.text).value_or("");
  return out;
}

bool is_used_up(const ContractionParts& parts, const Condition& condition) {
  const auto bound = upper_bound(parts, condition);
  if (!bound || !parts.is_flat_index(bound->name)) return false;
  const Polynomial& total = parts.flat().total;
  const auto all = parts.fixed(total), own = parts.fixed(bound->value);
  return bound->value == total || (all && own && *own >= *all);
}

bool lower_bound_only(const ContractionParts& parts,
                      const Condition& condition,
                      const std::vector<AxisPart>& axes) {
  const Expr& e = *condition.expr;
  if (condition.negated || !e.is_op(ExprKind::binary, ">=") || !e.arg(0).is(ExprKind::name))
    return false;
  const bool axis = std::any_of(axes.begin(), axes.end(),
                                [&](const AxisPart& a) { return e.arg(0).is_name(a.axis.name); });
  return axis && constant_value(parts.unit(), e.arg(1)) == 0;
}

}  // namespace warpath
