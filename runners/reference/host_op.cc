#include "runners/reference/host_op.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace warpath {
namespace {

using Scalar = std::variant<std::monostate, std::int64_t, double, bool, std::string>;

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `value` as the kind asks for; monostate if it is of another type.
Scalar convert(Operand::Kind kind, const std::variant<std::int64_t, double, bool>& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* boolean = std::get_if<bool>(&value);
  switch (kind) {
    case Operand::Kind::number:
      if (integer != nullptr) return static_cast<double>(*integer);
      if (real != nullptr) return *real;
      break;
    case Operand::Kind::integer:
      if (integer != nullptr) return *integer;
      break;
    case Operand::Kind::flag:
      if (boolean != nullptr) return *boolean;
      if (integer != nullptr && (*integer == 0 || *integer == 1)) return *integer == 1;
      break;
    default:
      break;
  }
  return {};
}

bool among(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t bar = std::min(words.find('|'), words.size());
    if (words.substr(0, bar) == word) return true;
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

/// Literal text as the kind asks for; monostate if it is not one.
Scalar parse_literal(const Operand& operand, const std::string& text) {
  if (operand.kind == Operand::Kind::word && among(operand.help, text)) return text;
  if (operand.kind == Operand::Kind::flag && (text == "true" || text == "1")) return true;
  if (operand.kind == Operand::Kind::flag && (text == "false" || text == "0")) return false;
  if (operand.kind == Operand::Kind::integer) {
    if (const auto value = parse_number<std::int64_t>(text)) return *value;
  }
  if (operand.kind == Operand::Kind::number) {
    if (const auto value = parse_number<double>(text); value && std::isfinite(*value))
      return *value;
  }
  return {};
}

std::string expectation(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::tensor:
      return "the name of an input or inout tensor";
    case Operand::Kind::output:
      return "the name of an output or inout tensor";
    case Operand::Kind::number:
      return "a scalar argument or a number";
    case Operand::Kind::integer:
      return "an integer argument or an integer";
    case Operand::Kind::flag:
      return "a boolean argument, true or false";
    case Operand::Kind::word:
      return "one of " + std::string(operand.help);
  }
  return {};
}

std::string operand_names(const HostOp& op) {
  std::string out;
  for (const Operand& operand : op.operands())
    out += (out.empty() ? "" : ", ") + std::string(operand.name);
  return out;
}

}  // namespace

OpCall::OpCall(const HostOp& op,
               const ReferenceHostOp& use,
               const KernelSpec& spec,
               const Workload& workload,
               const ScalarMap& scalars)
    : op_(use.op), spec_(&spec), workload_(&workload) {
  for (const auto& [name, text] : use.operands) {
    const auto operands = op.operands();
    const auto operand = std::find_if(operands.begin(), operands.end(),
                                      [&](const Operand& o) { return o.name == name; });
    if (operand == operands.end())
      throw problem(name, "", "no such operand: " + op_ + " has " + operand_names(op));
    bound_.emplace(name, bind(*operand, text, scalars));
  }
  std::map<std::string, int, std::less<>> bindings;
  for (const Operand& operand : op.operands()) {
    const Bound* bound = find(operand.name);
    if (bound == nullptr && operand.required)
      throw problem(operand.name, "", "this operand to be given");
    if (bound == nullptr || operand.kind != Operand::Kind::output) continue;
    if (++bindings[bound->argument] > 1)
      throw problem(operand.name, bound->argument, "an output not bound already");
  }
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.role != ArgRole::output && arg.role != ArgRole::inout) continue;
    if (!bindings.contains(arg.name))
      throw problem("out", "", "an operand that computes " + arg.name);
  }
}

OpCall::Bound OpCall::bind(const Operand& operand,
                           const std::string& text,
                           const ScalarMap& scalars) const {
  if (operand.kind == Operand::Kind::tensor || operand.kind == Operand::Kind::output)
    return bind_tensor(operand, text);
  const auto scalar = scalars.find(text);
  Bound out;
  out.value = scalar != scalars.end() ? convert(operand.kind, scalar->second)
                                      : parse_literal(operand, text);
  if (std::holds_alternative<std::monostate>(out.value))
    throw problem(operand.name, text, expectation(operand));
  return out;
}

OpCall::Bound OpCall::bind_tensor(const Operand& operand, const std::string& text) const {
  const ArgSpec* arg = spec_->io.find(text);
  const ArgRole role = operand.kind == Operand::Kind::output ? ArgRole::output : ArgRole::input;
  if (arg == nullptr || arg->type != ArgType::tensor ||
      (arg->role != role && arg->role != ArgRole::inout)) {
    throw problem(operand.name, text, expectation(operand));
  }
  return {text, spec_->tensor_of(*arg, *workload_).dtype, spec_->shape_of(*arg, *workload_), {}};
}

void OpCall::attach(const TensorMap& tensors) {
  inputs_ = &tensors;
  for (const ArgSpec& arg : spec_->io.args) {
    if (arg.role == ArgRole::inout) outputs_[arg.name] = tensors.at(arg.name);
    if (arg.role != ArgRole::output) continue;
    outputs_[arg.name] =
        make_tensor(spec_->tensor_of(arg, *workload_).dtype, spec_->shape_of(arg, *workload_));
  }
}

const OpCall::Bound* OpCall::find(std::string_view operand) const {
  const auto it = bound_.find(operand);
  return it == bound_.end() ? nullptr : &it->second;
}

bool OpCall::has(std::string_view operand) const {
  return find(operand) != nullptr;
}

const OpCall::Shape& OpCall::shape(std::string_view operand) const {
  return bound_.find(operand)->second.shape;
}

DType OpCall::dtype(std::string_view operand) const {
  return bound_.find(operand)->second.dtype;
}

double OpCall::number(std::string_view operand, double fallback) const {
  const Bound* bound = find(operand);
  return bound == nullptr ? fallback : std::get<double>(bound->value);
}

std::int64_t OpCall::integer(std::string_view operand, std::int64_t fallback) const {
  const Bound* bound = find(operand);
  return bound == nullptr ? fallback : std::get<std::int64_t>(bound->value);
}

bool OpCall::flag(std::string_view operand, bool fallback) const {
  const Bound* bound = find(operand);
  return bound == nullptr ? fallback : std::get<bool>(bound->value);
}

std::string OpCall::word(std::string_view operand, std::string_view fallback) const {
  const Bound* bound = find(operand);
  return bound == nullptr ? std::string(fallback) : std::get<std::string>(bound->value);
}

const Tensor& OpCall::in(std::string_view operand) const {
  WARPATH_CHECK(inputs_ != nullptr);
  return inputs_->at(bound_.find(operand)->second.argument);
}

Tensor& OpCall::out(std::string_view operand) {
  return outputs_.at(bound_.find(operand)->second.argument);
}

Error OpCall::problem(std::string_view operand,
                      std::string_view value,
                      std::string_view expected) const {
  const std::string place = spec_->origin + ": reference " + op_ + ", workload " + workload_->name +
                            ", operand " + std::string(operand);
  return bad_input(place, value, expected);
}

void OpCall::require(bool holds, std::string_view operand, std::string_view expected) const {
  if (!holds) throw problem(operand, shape_text(shape(operand)), expected);
}

void OpCall::require_shape(std::string_view operand, const Shape& expected) const {
  require(shape(operand) == expected, operand, "shape " + shape_text(expected));
}

}  // namespace warpath
