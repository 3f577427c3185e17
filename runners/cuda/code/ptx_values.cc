#include "runners/cuda/code/ptx_values.h"

#include <algorithm>
#include <charconv>

#include "engine/base/ascii.h"

namespace warpath::cuda {
namespace {

using Value = std::optional<LaneValues>;
using Number = std::int64_t;

LaneValues same(Number value, bool shifted = false) {
  LaneValues out{.at = {}, .shifted = shifted};
  out.at.fill(value);
  return out;
}

/// `f(a, b) -> optional<Number>` lane by lane.
template <class F>
Value each(const LaneValues& a, const LaneValues& b, bool shifted, F&& f) {
  LaneValues out{.at = {}, .shifted = shifted};
  for (std::size_t lane = 0; lane < kPtxLanes; ++lane) {
    const std::optional<Number> value = f(a.at[lane], b.at[lane]);
    if (!value) return std::nullopt;
    out.at[lane] = *value;
  }
  return out;
}

std::optional<Number> plus(Number a, Number b) {
  Number out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::optional<Number> minus(Number a, Number b) {
  Number out = 0;
  return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::optional<Number> times(Number a, Number b) {
  Number out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

Value add(const Value& a, const Value& b) {
  if (!a || !b) return std::nullopt;
  return each(*a, *b, a->shifted || b->shifted, plus);
}

Value subtract(const Value& a, const Value& b) {
  if (!a || !b) return std::nullopt;
  return each(*a, *b, a->shifted || b->shifted, minus);
}

/// (u + a) * (v + b), where u or v may be unknown: known up to what all lanes share only where the
/// factor of the unknown is the same in all.
Value multiply(const Value& a, const Value& b) {
  if (!a || !b) return std::nullopt;
  if (a->shifted && b->shifted)
    return a->uniform() && b->uniform() ? Value(same(0, true)) : std::nullopt;
  if ((a->shifted && !b->uniform()) || (b->shifted && !a->uniform())) return std::nullopt;
  return each(*a, *b, a->shifted || b->shifted, times);
}

std::optional<Number> shifted_left(Number a, Number b) {
  return b >= 0 && b < 62 ? times(a, Number{1} << b) : std::nullopt;
}
std::optional<Number> shifted_right(Number a, Number b) {
  return b >= 0 && b < 63 ? std::optional(a >> b) : std::nullopt;
}

/// Operations of two known integers whose result says nothing of an unknown one.
std::optional<Number> plain(std::string_view opcode, Number a, Number b) {
  if (opcode == "min") return std::min(a, b);
  if (opcode == "max") return std::max(a, b);
  if (opcode == "and") return a & b;
  if (opcode == "or") return a | b;
  if (opcode == "xor") return a ^ b;
  if (opcode == "shl") return shifted_left(a, b);
  if (opcode == "shr") return shifted_right(a, b);
  if (opcode == "div" && b != 0 && b != -1) return a / b;
  if (opcode == "rem" && b != 0 && b != -1) return a % b;
  return std::nullopt;
}

bool is_floating(const PtxInstruction& instruction) {
  return std::ranges::any_of(instruction.modifiers, [](std::string_view m) {
    return m.starts_with("bf16") || (m.size() > 1 && m[0] == 'f' && is_digit(m[1]));
  });
}

bool is_load(const PtxInstruction& instruction) {
  return instruction.opcode == "ld" || instruction.opcode == "ldu";
}

}  // namespace

double PtxLaunch::threads() const {
  double product = 1;
  for (const auto& axes : {block, grid}) {
    for (const std::int64_t n : axes) product *= static_cast<double>(n);
  }
  return product;
}

bool LaneValues::uniform() const {
  return std::ranges::all_of(at, [&](Number value) { return value == at.front(); });
}

std::optional<std::int64_t> ptx_literal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  if (text.ends_with('U')) text.remove_suffix(1);
  Number value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

std::vector<std::string_view> ptx_registers(std::string_view operand) {
  std::vector<std::string_view> out;
  for (std::size_t at = operand.find('%'); at != std::string_view::npos;
       at = operand.find('%', at)) {
    std::size_t end = at + 1;
    while (end < operand.size() && is_word(operand[end])) ++end;
    out.push_back(operand.substr(at, end - at));
    at = end;
  }
  return out;
}

PtxValues::PtxValues(const PtxFunction& function, const PtxLaunch& launch)
    : function_(function), launch_(launch), results_(function.instructions.size()) {
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const PtxInstruction& instruction = function.instructions[i];
    if (instruction.operands.empty() || instruction.operands.front().starts_with('[')) continue;
    const std::string_view defined = instruction.operands.front();
    if (defined.starts_with('%') && instruction.guard.empty())
      results_[i] = computed(instruction, i);
    for (const std::string_view name : ptx_registers(defined)) definitions_[name].push_back(i);
  }
}

std::optional<std::size_t> PtxValues::definition(std::string_view name,
                                                 std::size_t first,
                                                 std::size_t last) const {
  const auto found = definitions_.find(name);
  if (found == definitions_.end()) return std::nullopt;
  const auto after = std::ranges::lower_bound(found->second, last);
  if (after == found->second.begin() || *std::prev(after) < first) return std::nullopt;
  return *std::prev(after);
}

Value PtxValues::lanes(std::string_view operand, std::size_t before) const {
  if (const auto number = ptx_literal(operand)) return same(*number);
  if (operand.empty() || operand.front() == '{' || operand.front() == '[') return std::nullopt;
  if (operand.front() != '%') return same(0, true);  // the address of a variable
  if (const auto special = special_register(operand)) return special;
  const auto at = definition(operand, 0, before);
  return at ? results_[*at] : std::nullopt;
}

std::optional<Number> PtxValues::value(std::string_view operand, std::size_t before) const {
  const Value found = lanes(operand, before);
  return found && !found->shifted ? std::optional(found->at.front()) : std::nullopt;
}

Value PtxValues::address(std::string_view operand, std::size_t before) const {
  if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') return std::nullopt;
  operand = operand.substr(1, operand.size() - 2);
  const std::size_t sign = operand.find('+');
  const Value base = lanes(operand.substr(0, sign), before);
  if (sign == std::string_view::npos) return base;
  const auto offset = ptx_literal(operand.substr(sign + 1));
  return offset ? add(base, same(*offset)) : std::nullopt;
}

Value PtxValues::special_register(std::string_view name) const {
  const auto& block = launch_.block;
  const auto by_lane = [](auto&& f) {
    LaneValues out;
    for (std::size_t lane = 0; lane < kPtxLanes; ++lane)
      out.at[lane] = f(static_cast<Number>(lane));
    return out;
  };
  if (name == "%laneid") return by_lane([](Number lane) { return lane; });
  constexpr std::array<std::string_view, 3> kAxes{".x", ".y", ".z"};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    if (!name.ends_with(kAxes[i])) continue;
    const std::string_view base = name.substr(0, name.size() - 2);
    if (base == "%ntid") return same(block[i]);
    if (base == "%nctaid") return same(launch_.grid[i]);
    if (base == "%ctaid") return same(0);
    if (base != "%tid") continue;
    const Number below = i == 0 ? 1 : i == 1 ? block[0] : block[0] * block[1];
    return by_lane([&](Number lane) {
      return lane / std::max<Number>(1, below) % std::max<Number>(1, block[i]);
    });
  }
  return std::nullopt;
}

LaneValues PtxValues::parameter(std::string_view operand) const {
  const std::string_view name =
      operand.size() < 2 ? operand : operand.substr(1, operand.size() - 2);
  for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
    if (function_.parameters[i].name != name) continue;
    if (const auto found = launch_.parameters.find(i); found != launch_.parameters.end())
      return same(found->second);
  }
  return same(0, true);
}

Value PtxValues::computed(const PtxInstruction& made, std::size_t at) const {
  if (is_floating(made) || made.operands.size() < 2) return std::nullopt;
  const std::string_view opcode = made.opcode;
  if (is_load(made)) {
    if (made.has("param")) return parameter(made.operands[1]);
    const Value from = address(made.operands[1], at);
    return from && from->uniform() ? Value(same(0, true)) : std::nullopt;
  }
  const auto operand = [&](std::size_t i) {
    return i < made.operands.size() ? lanes(made.operands[i], at) : std::nullopt;
  };
  const Value a = operand(1);
  if (opcode == "mov" || opcode == "cvt" || opcode == "cvta") return a;
  if (opcode == "neg") return subtract(same(0), a);
  const Value b = operand(2);
  if (opcode == "add") return add(a, b);
  if (opcode == "sub") return subtract(a, b);
  if (made.has("hi")) return std::nullopt;
  if (opcode == "mul") return multiply(a, b);
  if (opcode == "mad") return add(multiply(a, b), operand(3));
  if (!a || !b) return std::nullopt;
  if (opcode == "shl" && !b->shifted && b->uniform() && b->at[0] >= 0 && b->at[0] < 62)
    return multiply(a, same(Number{1} << b->at[0]));
  if (!a->shifted && !b->shifted)
    return each(*a, *b, false, [&](Number x, Number y) { return plain(opcode, x, y); });
  constexpr std::array<std::string_view, 8> kUniform{"min", "max", "and", "or",
                                                     "xor", "shr", "div", "rem"};
  const bool keeps =
      std::ranges::find(kUniform, opcode) != kUniform.end() && a->uniform() && b->uniform();
  return keeps ? Value(same(0, true)) : std::nullopt;
}

}  // namespace warpath::cuda
