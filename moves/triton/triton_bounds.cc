#include "moves/triton/triton_bounds.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/spec/expression_tree.h"

namespace warpath {
namespace {

using python::Node;
using python::NodeKind;
using python::Statement;
using python::StatementKind;
using Bound = std::optional<TritonBound>;
using Interval = std::optional<TritonInterval>;

constexpr int kMostTerms = 200;

TritonBound number(std::int64_t value) {
  return {value, std::to_string(value), TritonBound::term, false};
}

bool is_number(const TritonBound& bound) {
  return bound.text == std::to_string(bound.value);
}

/// What the kernel computes in 32 bits.
Bound checked(std::int64_t value, std::string text) {
  if (value > std::numeric_limits<std::int32_t>::max() ||
      value < std::numeric_limits<std::int32_t>::min())
    return std::nullopt;
  return TritonBound{value, std::move(text), TritonBound::term, false};
}

std::string in_form(const TritonBound& bound, int least) {
  return bound.form >= least && !bound.text.starts_with('-') ? bound.text : "(" + bound.text + ")";
}

/// `a op b`, in a text of this form.
Bound computed(const TritonBound& a,
               const char* op,
               const TritonBound& b,
               std::int64_t value,
               decltype(TritonBound::form) form) {
  if (is_number(a) && is_number(b)) return checked(value, std::to_string(value));
  const bool commutes = op == std::string_view(" + ");
  Bound out = checked(value, in_form(a, form) + op + in_form(b, commutes ? form : form + 1));
  if (!out) return out;
  out->form = form;
  out->varies = a.varies || b.varies;
  return out;
}

bool is(const TritonBound& bound, std::int64_t value) {
  return is_number(bound) && bound.value == value;
}

Bound plus(const Bound& a, const Bound& b) {
  if (!a || !b) return std::nullopt;
  if (is(*b, 0)) return a;
  if (is(*a, 0)) return b;
  return computed(*a, " + ", *b, a->value + b->value, TritonBound::sum);
}

Bound minus(const Bound& a, const Bound& b) {
  if (!a || !b) return std::nullopt;
  return is(*b, 0) ? a : computed(*a, " - ", *b, a->value - b->value, TritonBound::sum);
}

Bound times(const Bound& a, const Bound& b) {
  if (!a || !b) return std::nullopt;
  if (is(*a, 0) || is(*b, 1)) return a;
  if (is(*b, 0) || is(*a, 1)) return b;
  return computed(*a, " * ", *b, a->value * b->value, TritonBound::product);
}

/// Of numbers that are not negative.
Bound over(const Bound& a, const Bound& b) {
  if (!a || !b || a->value < 0 || b->value <= 0) return std::nullopt;
  return is(*b, 1) ? a : computed(*a, " // ", *b, a->value / b->value, TritonBound::product);
}

Interval exactly(const Bound& bound) {
  if (!bound) return std::nullopt;
  return TritonInterval{*bound, *bound, true};
}

Interval between(const Bound& least, const Bound& greatest) {
  if (!least || !greatest) return std::nullopt;
  return TritonInterval{*least, *greatest, false};
}

/// x[:, None]: the same elements in another shape.
bool reshapes(const Node& node) {
  if (!node.is(NodeKind::subscript)) return false;
  for (std::size_t i = 1; i < node.children.size(); ++i) {
    const Node& part = *node.children[i];
    const bool keeps = part.is(NodeKind::slice) && part.children.empty();
    if (!keeps && !(part.is(NodeKind::name) && part.text == "None")) return false;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> triton_axis(const Node& call) {
  const Node* axis = call.argument(std::size_t{0});
  if (axis == nullptr) axis = call.argument(std::string_view("axis"));
  if (axis == nullptr) return std::nullopt;
  const auto value = number_of(*axis);
  if (!value || *value < 0 || *value > 2) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

TritonBounds::TritonBounds(const TritonKernel& kernel,
                           const MoveContext& context,
                           const Workload& workload)
    : kernel_(kernel),
      context_(context),
      workload_(workload),
      values_(context.spec.bindings(workload, context.variant.tunables)) {}

bool TritonBounds::is_at_least(const TritonBound& bound, std::int64_t least) {
  if (bound.value < least) return false;
  const auto& tunables = context_.spec.tunables;
  const auto tunable = std::ranges::find(tunables, bound.text, &Tunable::name);
  const bool always = tunable != tunables.end() && tunable->values.front() >= least;
  if (bound.varies && !always) conditions_.insert(bound.text + " >= " + std::to_string(least));
  return true;
}

Interval TritonBounds::of(const Node& node) {
  if (++depth_ > kMostTerms) return std::nullopt;
  switch (node.kind) {
    case NodeKind::number:
      if (const auto value = number_of(node)) return exactly(number(*value));
      return std::nullopt;
    case NodeKind::name:
      return name(node.text);
    case NodeKind::call:
      return call(node);
    case NodeKind::method:
      return node.text == "to" && converts_exactly(node) ? of(*node.children[0]) : std::nullopt;
    case NodeKind::subscript:
      return reshapes(node) ? of(*node.children[0]) : std::nullopt;
    case NodeKind::unary: {
      const Interval value = node.text == "-" ? of(*node.children[0]) : std::nullopt;
      if (!value) return std::nullopt;
      const Bound least = minus(number(0), value->greatest),
                  greatest = minus(number(0), value->least);
      return least && greatest ? Interval({*least, *greatest, value->exact}) : std::nullopt;
    }
    case NodeKind::binary:
      return binary(node);
    default:
      return std::nullopt;
  }
}

Interval TritonBounds::name(std::string_view name) {
  if (kernel_.is_parameter(name)) {
    const auto value = values_.find(name);
    if (!kernel_.is_kept(name)) return std::nullopt;
    if (kernel_.is_constant(name)) {
      // an argument that is passed is none of the constants, whatever its name
      const ArgSpec* const own = context_.spec.io.find(name);
      const bool given =
          context_.variant.tunables.contains(name) || (own != nullptr && own->is_meta);
      return value == values_.end() || !given ? std::nullopt
                                              : exactly(constant(name, value->second));
    }
    const ArgSpec& argument = *kernel_.argument(name);
    const auto passed = values_.find(argument.name);
    // differences of unsigned integers wrap around
    if (argument.type != ArgType::integer || !info(argument.dtype).is_signed ||
        passed == values_.end())
      return std::nullopt;
    return exactly(checked(passed->second, std::to_string(passed->second)));
  }
  const auto at = kernel_.definition(name);
  if (!at) return std::nullopt;
  const Statement& statement = kernel_.statement(*at);
  const auto target = std::ranges::find(statement.targets, name) - statement.targets.begin();
  return defined(*at, static_cast<std::size_t>(target));
}

Interval TritonBounds::defined(std::size_t at, std::size_t target) {
  const Statement& statement = kernel_.statement(at);
  if (statement.value == nullptr || !statement.understood) return std::nullopt;
  const Node& value = *statement.value;
  if (statement.kind == StatementKind::loop) return loop(value);
  if (statement.kind != StatementKind::assign) return std::nullopt;
  if (statement.targets.size() == 1) return of(value);
  if (value.is(NodeKind::tuple) && value.children.size() == statement.targets.size())
    return of(*value.children[target]);
  return kernel_.calls(value, "swizzle2d") ? swizzled(value, target) : std::nullopt;
}

Interval TritonBounds::loop(const Node& range) {
  if (!range.is_call_of("range") && !kernel_.calls(range, "range")) return std::nullopt;
  std::vector<TritonInterval> ends;
  for (std::size_t i = 0; range.argument(i) != nullptr; ++i) {
    const Interval one = of(*range.argument(i));
    if (!one) return std::nullopt;
    ends.push_back(*one);
  }
  const bool names_ends = std::ranges::any_of(
      std::initializer_list<std::string_view>{"arg1", "arg2", "step"},
      [&](std::string_view keyword) { return range.argument(keyword) != nullptr; });
  if (ends.empty() || ends.size() > 3 || names_ends) return std::nullopt;
  const TritonInterval start = ends.size() == 1 ? *exactly(number(0)) : ends[0];
  const TritonInterval& end = ends.size() == 1 ? ends[0] : ends[1];
  const TritonInterval step = ends.size() == 3 ? ends[2] : *exactly(number(1));
  if (ends.size() == 3 && step.greatest.value < 0) {
    const Bound back = minus(number(0), step.greatest);
    if (!back || !is_at_least(*back, 1)) return std::nullopt;
    if (start.greatest.value <= end.least.value) return std::nullopt;
    return between(plus(end.least, number(1)), start.greatest);
  }
  if (!is_at_least(step.least, 1)) return std::nullopt;
  if (!start.exact || !end.exact || !step.exact)
    return between(start.least, minus(end.greatest, number(1)));
  // a loop without iterations has no values
  if (end.least.value <= start.least.value) return std::nullopt;
  const Bound length = minus(end.least, start.least);
  if (!length || !is_at_least(*length, 1)) return std::nullopt;
  const Bound steps = over(minus(length, number(1)), step.least);
  return between(start.least, plus(start.least, times(steps, step.least)));
}

Interval TritonBounds::call(const Node& node) {
  if (kernel_.calls(node, "program_id") || kernel_.calls(node, "num_programs")) {
    const auto axis = triton_axis(node);
    const Bound programs = axis ? grid(*axis) : std::nullopt;
    return kernel_.calls(node, "num_programs") ? exactly(programs)
                                               : between(number(0), minus(programs, number(1)));
  }
  const auto operand = [&](std::size_t i) -> Interval {
    return node.argument(i) == nullptr ? std::nullopt : of(*node.argument(i));
  };
  if (kernel_.calls(node, "arange")) {
    const Interval first = operand(0), end = operand(1);
    if (!first || !end) return std::nullopt;
    return between(first->least, minus(end->greatest, number(1)));
  }
  if (kernel_.calls(node, "cdiv")) {
    const Interval a = operand(0), b = operand(1);
    return a && b ? quotient(*a, *b, true) : std::nullopt;
  }
  if (kernel_.calls(node, "multiple_of") || kernel_.calls(node, "max_contiguous"))
    return operand(0);
  const bool least = node.is_call_of("min") || kernel_.calls(node, "minimum"),
             greatest = node.is_call_of("max") || kernel_.calls(node, "maximum");
  if ((least || greatest) && node.children.size() == 2) {
    const Interval a = operand(0), b = operand(1);
    if (!a || !b) return std::nullopt;
    // the other end is that of either: which one may depend on tunables
    if (!is_number(least ? a->least : a->greatest) || !is_number(least ? b->least : b->greatest))
      return std::nullopt;
    return least ? between(a->least.value < b->least.value ? a->least : b->least,
                           a->greatest.value < b->greatest.value ? a->greatest : b->greatest)
                 : between(a->least.value > b->least.value ? a->least : b->least,
                           a->greatest.value > b->greatest.value ? a->greatest : b->greatest);
  }
  if (node.text.ends_with(".to") && converts_exactly(node))
    return name(node.text.substr(0, node.text.size() - std::string_view(".to").size()));
  return std::nullopt;
}

/// The type that `.to()` names holds all integers that are followed.
bool TritonBounds::converts_exactly(const Node& call) const {
  const Node* type = call.argument(std::size_t{0});
  if (type == nullptr) type = call.argument(std::string_view("dtype"));
  return type != nullptr && (kernel_.text().text(type->outer) == kernel_.of_language("int32") ||
                             kernel_.text().text(type->outer) == kernel_.of_language("int64"));
}

/// The places of a matrix in another order are the same places.
Interval TritonBounds::swizzled(const Node& call, std::size_t target) {
  if (call.children.size() != 5 || target > 1 || call.argument(std::size_t{4}) == nullptr)
    return std::nullopt;
  const auto said = [&](std::size_t i) {
    return std::string(kernel_.text().text(call.children[i]->outer));
  };
  const auto programs = [&](const char* function, int axis) {
    return kernel_.of_language(function) + "(" + std::to_string(axis) + ")";
  };
  const bool of_grid =
      said(0) == programs("program_id", 1) && said(1) == programs("program_id", 0) &&
      said(2) == programs("num_programs", 1) && said(3) == programs("num_programs", 0);
  const Node &row = *call.children[0], &column = *call.children[1];
  const bool of_line = row.is(NodeKind::binary) && row.text == "//" &&
                       column.is(NodeKind::binary) && column.text == "%" &&
                       kernel_.text().text(row.children[1]->outer) == said(3) &&
                       kernel_.text().text(column.children[1]->outer) == said(3) &&
                       said(2) == programs("num_programs", 0) + " // " + said(3);
  return of_grid || of_line ? of(*call.children[target]) : std::nullopt;
}

Interval TritonBounds::binary(const Node& node) {
  const Interval left = of(*node.children[0]), right = of(*node.children[1]);
  if (!left || !right) return std::nullopt;
  const TritonInterval &a = *left, &b = *right;
  const auto result = [&](const Bound& least, const Bound& greatest) -> Interval {
    if (!least || !greatest) return std::nullopt;
    return TritonInterval{*least, *greatest, a.exact && b.exact};
  };
  if (node.text == "+") return result(plus(a.least, b.least), plus(a.greatest, b.greatest));
  if (node.text == "-") return result(minus(a.least, b.greatest), minus(a.greatest, b.least));
  if (node.text == "*") {
    if (!is_at_least(a.least, 0) || !is_at_least(b.least, 0)) return std::nullopt;
    return result(times(a.least, b.least), times(a.greatest, b.greatest));
  }
  if (node.text == "//") return quotient(a, b, false);
  if (node.text == "%") {
    if (!is_at_least(a.least, 0) || !is_at_least(b.least, 1)) return std::nullopt;
    return between(number(0), minus(b.greatest, number(1)));
  }
  return std::nullopt;
}

Interval TritonBounds::quotient(const TritonInterval& a, const TritonInterval& b, bool rounds_up) {
  if (!is_at_least(a.least, 0) || !is_at_least(b.least, 1)) return std::nullopt;
  const auto divided = [&](const TritonBound& by, const TritonBound& what) -> Bound {
    return over(rounds_up ? minus(plus(what, by), number(1)) : Bound(what), by);
  };
  const Bound least = divided(b.greatest, a.least), greatest = divided(b.least, a.greatest);
  if (!least || !greatest) return std::nullopt;
  return TritonInterval{*least, *greatest, a.exact && b.exact};
}

Bound TritonBounds::constant(std::string_view name, std::int64_t value) const {
  Bound out = checked(value, std::string(name));
  if (out) out->varies = context_.variant.tunables.contains(name);
  return out;
}

Bound TritonBounds::grid(std::size_t axis) const {
  const LaunchPlan& plan = launch_for(context_.spec, context_.variant, workload_);
  return bound(*expression_tree(plan.grid[axis]));
}

Bound TritonBounds::bound(const Expression::Node& node) const {
  const auto operand = [&](std::size_t i) { return bound(*node.children[i]); };
  switch (node.op) {
    case ExpressionOp::constant:
      return checked(node.value, std::to_string(node.value));
    case ExpressionOp::name: {
      const auto value = values_.find(node.name);
      if (value == values_.end()) return std::nullopt;
      if (kernel_.is_constant(node.name) && kernel_.is_kept(node.name))
        return constant(node.name, value->second);
      // one that the kernel does not see, such as num_warps, could change unnoticed
      if (context_.variant.tunables.contains(node.name)) return std::nullopt;
      return checked(value->second, std::to_string(value->second));
    }
    case ExpressionOp::add:
      return plus(operand(0), operand(1));
    case ExpressionOp::sub:
      return minus(operand(0), operand(1));
    case ExpressionOp::mul:
      return times(operand(0), operand(1));
    case ExpressionOp::div:
      return over(operand(0), operand(1));
    case ExpressionOp::ceil_div:
      return over(minus(plus(operand(0), operand(1)), number(1)), operand(1));
    default:
      return std::nullopt;
  }
}

bool TritonBounds::holds(const Node& comparison) {
  if (reshapes(comparison)) return holds(*comparison.children[0]);
  if (!comparison.is(NodeKind::comparison)) return false;
  depth_ = 0;
  const std::set<std::string> before = conditions_;
  const Interval left = of(*comparison.children[0]), right = of(*comparison.children[1]);
  if (!left || !right) return conditions_ = before, false;
  const std::string_view op = comparison.text;
  const bool less = op == "<" || op == "<=";
  if (!less && op != ">" && op != ">=") return conditions_ = before, false;
  const TritonBound &low = less ? left->greatest : right->greatest,
                    &high = less ? right->least : left->least;
  const bool strict = op == "<" || op == ">";
  if (strict ? low.value >= high.value : low.value > high.value) return conditions_ = before, false;
  if (low.varies || high.varies)
    conditions_.insert(low.text + (strict ? " < " : " <= ") + high.text);
  return true;
}

}  // namespace warpath
