#include "experiments/project/host_launch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Function;
using model::Polynomial;
using model::Unit;

namespace {

constexpr int kMostHops = 40;

std::string_view base_of(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// Follows values through the host function that holds the launch.
class HostValues {
 public:
  /// `sizes` stand for themselves.
  HostValues(const Unit& unit, const Function& function, Bindings sizes = {})
      : unit_(unit), function_(function), sizes_(std::move(sizes)) {}

  /// From now on an expression written like the argument is the parameter.
  void name_argument(const Expr& argument, std::string_view parameter) {
    if (argument.kind == ExprKind::number) return;
    arguments_.try_emplace(unit_.plain_text(argument.span), parameter);
  }

  [[nodiscard]] std::optional<Polynomial> value(const Expr& given, int hops = 0) const {
    const Expr& e = model::strip_casts(given);
    if (hops > kMostHops) return std::nullopt;
    if (const auto known = arguments_.find(unit_.plain_text(e.span)); known != arguments_.end())
      return Polynomial::name(known->second);
    switch (e.kind) {
      case ExprKind::number:
        return number(e);
      case ExprKind::name:
        return named(e, hops);
      case ExprKind::size_of:
        if (const auto bytes = model::constant_value(unit_, e)) return Polynomial(*bytes);
        return std::nullopt;
      case ExprKind::unary:
        if (e.op != "-" && e.op != "+") return std::nullopt;
        if (const auto operand = value(e.arg(0), hops + 1))
          return e.op == "-" ? -*operand : *operand;
        return std::nullopt;
      case ExprKind::member:
        return component(e.arg(0), e.name, hops + 1);
      case ExprKind::call:
        return called(e, hops + 1);
      case ExprKind::binary:
        return combined(e, hops + 1);
      default:
        return std::nullopt;
    }
  }

  /// Component 0 to 2 of a dim3, or of a number that stands for one.
  [[nodiscard]] std::optional<Polynomial> axis(const Expr& given,
                                               std::size_t i,
                                               int hops = 0) const {
    const Expr& e = given;
    if (hops > kMostHops) return std::nullopt;
    const bool made = (e.kind == ExprKind::cast && unit_.plain_text(e.type) == "dim3") ||
                      e.kind == ExprKind::init_list;
    const bool called_so = e.kind == ExprKind::call && model::callee(e) == "dim3";
    if (made || called_so) {
      const std::size_t at = i + (called_so ? 1 : 0);
      if (e.args.size() == (called_so ? 2U : 1U) && i == 0 && is_dim3(e.arg(at)))
        return axis(e.arg(at), i, hops + 1);
      return at < e.args.size() ? value(e.arg(at), hops + 1) : Polynomial(1);
    }
    if (e.kind == ExprKind::name && is_dim3(e)) {
      const Declarator* const d = model::declaration_of(unit_, e);
      if (const Expr* const set = set_once(d->name, "xyz"[i])) return value(*set, hops + 1);
      if (changed(d->name, "xyz"[i])) return std::nullopt;
      if (d->init_form == model::InitForm::assign) return axis(*d->init[0], i, hops + 1);
      if (d->init.size() == 1 && is_dim3(*d->init[0])) return axis(*d->init[0], i, hops + 1);
      return i < d->init.size() ? value(*d->init[i], hops + 1) : Polynomial(1);
    }
    return i == 0 ? value(e, hops) : Polynomial(1);
  }

  /// Bytes that cudaMalloc and its kin were asked for in the variable.
  [[nodiscard]] std::optional<Polynomial> bytes_of(const Expr& pointer) const {
    const Expr& variable = model::strip_casts(pointer);
    if (!variable.is(ExprKind::name)) return std::nullopt;
    std::optional<Polynomial> out;
    model::walk_expressions(*function_.body, [&](const Expr& e) {
      if (!e.is(ExprKind::call) || !model::callee(e).starts_with("cudaMalloc") || e.args.size() < 3)
        return true;
      const Expr& target = model::strip_casts(e.arg(1));
      if (target.is_op(ExprKind::unary, "&") && target.arg(0).is_name(variable.name))
        out = value(e.arg(2));
      return true;
    });
    return out;
  }

 private:
  [[nodiscard]] bool is_dim3(const Expr& e) const {
    if (e.kind == ExprKind::cast) return unit_.plain_text(e.type) == "dim3";
    if (e.kind == ExprKind::call) return model::callee(e) == "dim3";
    const Declarator* const d = e.is(ExprKind::name) ? model::declaration_of(unit_, e) : nullptr;
    return d != nullptr && unit_.plain_text(d->type) == "dim3";
  }

  static std::optional<Polynomial> number(const Expr& e) {
    if (const auto integer = integer_value(e.name)) return Polynomial(*integer);
    const double real = std::strtod(std::string(e.name).c_str(), nullptr);
    if (!(std::abs(real) < 1e15) || real != std::floor(real)) return std::nullopt;
    return Polynomial(static_cast<std::int64_t>(real));
  }

  /// What component `axis` of a dim3 gets in `name.x = value`, where nothing else changes it.
  [[nodiscard]] const Expr* set_once(std::string_view name, char axis) const {
    const Expr* out = nullptr;
    std::size_t times = 0;
    model::walk_expressions(*function_.body, [&](const Expr& e) {
      if (e.is_op(ExprKind::assign, "=") && e.arg(0).is(ExprKind::member) &&
          e.arg(0).arg(0).is_name(name) && e.arg(0).name == std::string_view(&axis, 1))
        ++times, out = &e.arg(1);
      return true;
    });
    return times == 1 && !changed(name, axis, out) ? out : nullptr;
  }

  /// Set after its declaration, other than to `known`, or its address is given away. `axis`: of a
  /// dim3 the component that counts; 0: all do.
  [[nodiscard]] bool changed(std::string_view name,
                             char axis = 0,
                             const Expr* known = nullptr) const {
    bool out = false;
    const auto base = [&](const Expr& e) -> const Expr& {
      const bool other = e.is(ExprKind::member) && axis != 0 && e.name.size() == 1 &&
                         e.name != std::string_view(&axis, 1);
      return e.is(ExprKind::member) && !other ? e.arg(0) : e;
    };
    model::walk_expressions(*function_.body, [&](const Expr& e) {
      const bool sets = e.is(ExprKind::assign) || e.is_op(ExprKind::unary, "++") ||
                        e.is_op(ExprKind::unary, "--") || e.is_op(ExprKind::unary, "&") ||
                        e.is(ExprKind::postfix);
      const bool ours = known != nullptr && e.args.size() > 1 && &e.arg(1) == known;
      out = out || (sets && !ours && !e.args.empty() && base(e.arg(0)).is_name(name));
      return !out;
    });
    return out;
  }

  [[nodiscard]] std::optional<Polynomial> named(const Expr& e, int hops) const {
    if (const auto bound = bound_.find(e.name); bound != bound_.end()) return bound->second;
    if (sizes_.contains(e.name)) return Polynomial::name(e.name);
    const Declarator* const d = model::declaration_of(unit_, e);
    if (d != nullptr && d->value() != nullptr && !d->is_pointer() && !d->is_array() &&
        !changed(d->name)) {
      if (const auto value_of = value(*d->value(), hops + 1)) return value_of;
    }
    const model::Macro* const macro = unit_.macro(e.name);
    if (macro != nullptr && is_made_of_sizes(*macro)) return std::nullopt;
    const auto constant = unit_.constants().find(e.name);
    if (constant != unit_.constants().end()) return Polynomial(constant->second);
    if (d != nullptr || macro == nullptr || macro->function_like) return std::nullopt;
    if (const auto value_of = model::constant_value(unit_, macro->body))
      return Polynomial(*value_of);
    return std::nullopt;
  }

  [[nodiscard]] bool is_made_of_sizes(const model::Macro& macro) const {
    return std::ranges::any_of(tokenize(macro.body).tokens, [&](const Token& token) {
      return sizes_.contains(spelling(macro.body, token));
    });
  }

  [[nodiscard]] std::optional<Polynomial> component(const Expr& object,
                                                    std::string_view member,
                                                    int hops) const {
    if (!is_dim3(object) || member.size() != 1 || member[0] < 'x' || member[0] > 'z')
      return std::nullopt;
    return axis(object, static_cast<std::size_t>(member[0] - 'x'), hops);
  }

  [[nodiscard]] std::optional<Polynomial> combined(const Expr& e, int hops) const {
    const auto a = value(e.arg(0), hops), b = value(e.arg(1), hops);
    if (!a || !b) return std::nullopt;
    if (e.op == "+") return *a + *b;
    if (e.op == "-") return *a - *b;
    if (e.op == "*") return *a * *b;
    if (b->constant() == 0) return std::nullopt;
    if (e.op == "/" || e.op == "%") return Polynomial::operation(e.op, {*a, *b});
    const auto bits = b->constant();
    if (!bits || *bits < 0 || *bits > 40) return std::nullopt;
    const Polynomial power(std::int64_t{1} << static_cast<unsigned>(*bits));
    if (e.op == "<<") return *a * power;
    if (e.op == ">>") return Polynomial::operation("/", {*a, power});
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Polynomial> called(const Expr& e, int hops) const {
    const std::string_view name = base_of(model::callee(e));
    if ((name == "ceil" || name == "ceilf") && e.args.size() == 2) {
      const Expr& quotient = model::strip_casts(e.arg(1));
      if (!quotient.is_op(ExprKind::binary, "/")) return value(quotient, hops);
      const auto a = value(quotient.arg(0), hops), b = value(quotient.arg(1), hops);
      if (!a || !b) return std::nullopt;
      return Polynomial::operation("/", {*a + *b - 1, *b});
    }
    if ((name == "min" || name == "max") && e.args.size() == 3) {
      const auto a = value(e.arg(1), hops), b = value(e.arg(2), hops);
      if (!a || !b) return std::nullopt;
      return Polynomial::operation(name, {*a, *b});
    }
    const Function* const helper = unit_.find_function(name);
    const Expr* const result = helper == nullptr ? nullptr : model::returned_expression(*helper);
    if (result == nullptr || helper->parameters.size() + 1 != e.args.size()) return std::nullopt;
    HostValues inside(unit_, *helper, sizes_);
    for (std::size_t i = 0; i < helper->parameters.size(); ++i) {
      const auto argument = value(e.arg(i + 1), hops);
      if (!argument) return std::nullopt;
      inside.bound_.emplace(helper->parameters[i]->name, *argument);
    }
    return inside.value(*result, hops);
  }

  const Unit& unit_;
  const Function& function_;
  Bindings sizes_;
  std::map<std::string, std::string, std::less<>> arguments_;  // text of an argument: parameter
  std::map<std::string, Polynomial, std::less<>> bound_;       // parameters of a helper
};

struct Launch {
  const Expr* expr = nullptr;
  const Function* function = nullptr;  ///< that it stands in
};

std::vector<Launch> launches_of(const Unit& unit, const Function& kernel) {
  std::vector<Launch> out;
  for (const Function* const function : unit.functions()) {
    if (function->body == nullptr) continue;
    model::walk_expressions(*function->body, [&](const Expr& e) {
      const bool ours = e.is(ExprKind::launch) && !e.args.empty() && e.arg(0).is(ExprKind::name) &&
                        base_of(e.arg(0).name) == kernel.name &&
                        e.args.size() >= kernel.parameters.size() + 3;
      if (ours) out.push_back({&e, function});
      return true;
    });
  }
  return out;
}

/// A number as host code writes it: 2.5f, -1e-5, a constant with such a value.
std::optional<double> real_value(const Unit& unit, const Expr& given, int hops = 0) {
  const Expr& e = model::strip_casts(given);
  if (hops > kMostHops) return std::nullopt;
  if (e.is(ExprKind::number)) return std::strtod(std::string(e.name).c_str(), nullptr);
  if (e.is_op(ExprKind::unary, "-")) {
    const auto operand = real_value(unit, e.arg(0), hops + 1);
    return operand ? std::optional(-*operand) : std::nullopt;
  }
  const Declarator* const d = e.is(ExprKind::name) ? model::declaration_of(unit, e) : nullptr;
  return d != nullptr && d->value() != nullptr ? real_value(unit, *d->value(), hops + 1)
                                               : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> HostLaunch::threads(std::size_t axis) const {
  return block[axis] ? block[axis]->evaluate({integers.begin(), integers.end()}) : std::nullopt;
}

std::vector<std::string> template_arguments_in(std::string_view name) {
  std::vector<std::string> out;
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos || !name.ends_with('>')) return out;
  int depth = 0;
  std::string now;
  for (const char c : name.substr(open + 1, name.size() - open - 2)) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.push_back(std::exchange(now, ""));
    } else if (c != ' ' || !now.empty()) {
      now += c;
    }
  }
  out.push_back(now);
  return out;
}

namespace {

/// Template arguments of launches, as text that means the same outside of the launching function.
class OutsideArguments {
 public:
  explicit OutsideArguments(const Unit& host) : host_(host) {}

  /// A constant of `function` as its value, a template parameter of its own as what the first call
  /// that says it gives; empty for what only the function knows. `at`: where it stands.
  [[nodiscard]] std::string outside(const std::string& argument,
                                    const Function& function,
                                    std::size_t at,
                                    int hops = 0) {
    const bool word =
        !argument.empty() && is_word_start(argument[0]) && std::ranges::all_of(argument, is_word);
    if (!word) return argument;
    if (const Declarator* const d = model::visible(host_, function, argument, at)) {
      const bool truth =
          d->value() != nullptr && d->value()->is(ExprKind::literal) && d->is_constant();
      if (truth && (d->value()->name == "true" || d->value()->name == "false"))
        return std::string(d->value()->name);
      const HostValues values(host_, function);
      const auto value = d->value() != nullptr ? values.value(*d->value()) : std::nullopt;
      const auto number = value ? value->constant() : std::nullopt;
      if (number) return std::to_string(*number);
      return d->function != nullptr ? "" : argument;
    }
    const auto own =
        std::ranges::find(function.template_parameters, argument, &model::TemplateParameter::name);
    if (own == function.template_parameters.end()) return argument;
    const auto which = static_cast<std::size_t>(own - function.template_parameters.begin());
    return hops < kMostCallers ? by_callers(function, which, hops) : "";
  }

  /// Some template arguments were those of one call of several that give others.
  [[nodiscard]] bool calls_differ() const { return calls_differ_; }

 private:
  static constexpr int kMostCallers = 4;

  std::string by_callers(const Function& called, std::size_t which, int hops) {
    std::string out;
    for (const Function* const caller : host_.functions()) {
      if (caller->body == nullptr || caller == &called) continue;
      model::walk_expressions(*caller->body, [&](const Expr& e) {
        if (!e.is(ExprKind::call) || !e.arg(0).is(ExprKind::name) ||
            base_of(e.arg(0).name) != called.name)
          return true;
        const std::vector<std::string> given = template_arguments_in(e.arg(0).name);
        if (which >= given.size()) return true;
        const std::string one = outside(given[which], *caller, e.span.begin, hops + 1);
        calls_differ_ = calls_differ_ || (!out.empty() && !one.empty() && one != out);
        if (out.empty()) out = one;
        return true;
      });
    }
    return out;
  }

  const Unit& host_;
  bool calls_differ_ = false;
};

}  // namespace

std::optional<HostLaunch> find_launch(const Unit& host,
                                      const Function& kernel,
                                      const Bindings& sizes) {
  const std::vector<Launch> all = launches_of(host, kernel);
  if (all.empty()) return std::nullopt;
  HostLaunch out;
  out.instances_differ = std::ranges::any_of(
      all, [&](const Launch& one) { return one.expr->arg(0).name != all[0].expr->arg(0).name; });
  const Launch& found = all[out.instances_differ ? (all.size() - 1) / 2 : 0];
  const Expr& launch = *found.expr;
  out.line = model::line_of(host, launch.span.begin);
  out.launches = all.size();
  out.template_arguments = template_arguments_in(launch.arg(0).name);
  const std::size_t passed = launch.args.size() - kernel.parameters.size();
  HostValues values(host, *found.function, sizes);
  OutsideArguments arguments(host);
  for (std::string& argument : out.template_arguments)
    argument = arguments.outside(argument, *found.function, launch.span.begin);
  out.calls_differ = arguments.calls_differ();
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Declarator& parameter = *kernel.parameters[i];
    const std::string name(parameter.name);
    const Expr& argument = launch.arg(passed + i);
    if (parameter.is_pointer()) continue;
    if (const auto value = values.value(argument))
      if (const auto number = value->evaluate(sizes)) out.integers[name] = *number;
    if (const auto real = real_value(host, argument)) out.numbers[name] = *real;
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!kernel.parameters[i]->is_pointer())
      values.name_argument(model::strip_casts(launch.arg(passed + i)), kernel.parameters[i]->name);
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!kernel.parameters[i]->is_pointer()) continue;
    if (const auto bytes = values.bytes_of(launch.arg(passed + i)))
      out.bytes[std::string(kernel.parameters[i]->name)] = *bytes;
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.grid[axis] = values.axis(launch.arg(1), axis);
    out.block[axis] = values.axis(launch.arg(2), axis);
  }
  if (passed > 3) out.dynamic_smem_bytes = values.value(launch.arg(3));
  return out;
}

}  // namespace warpath
