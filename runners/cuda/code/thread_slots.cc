#include "runners/cuda/code/thread_slots.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runners/cuda/code/ptx_facts.h"
#include "runners/cuda/code/ptx_loops.h"
#include "runners/cuda/code/ptx_tokens.h"
#include "runners/cuda/code/ptx_values.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMostTerms = 16;
constexpr std::size_t kMostAccesses = 64;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 40U;
// bytes from thread to thread; times the threads of a block 32 bits hold it
constexpr std::int64_t kMostStep = std::int64_t{1} << 20U;
constexpr std::string_view kThread = "%tid.x";

/// A sum of numbers that a thread never changes, times constants. Wrapping is not modelled.
struct Affine {
  std::map<std::string, std::int64_t, std::less<>> terms;
  std::int64_t constant = 0;
  bool bends = false;  ///< a term but threadIdx.x itself differs from thread to thread
  [[nodiscard]] bool varies() const { return bends || terms.contains(kThread); }
};
using Sum = std::optional<Affine>;

Sum number(std::int64_t value) {
  return Affine{.terms = {}, .constant = value};
}
Sum named(std::string_view name, bool bends = false) {
  return Affine{.terms = {{std::string(name), 1}}, .constant = 0, .bends = bends};
}

Sum sum(const Sum& a, const Sum& b, std::int64_t factor = 1) {
  if (!a || !b) return std::nullopt;
  Affine out = *a;
  out.bends = out.bends || b->bends;
  const auto add = [&](std::int64_t& to, std::int64_t count) {
    return !__builtin_mul_overflow(count, factor, &count) &&
           !__builtin_add_overflow(to, count, &to) && std::abs(to) < kMostNumber;
  };
  if (!add(out.constant, b->constant)) return std::nullopt;
  for (const auto& [name, count] : b->terms) {
    const auto at = out.terms.try_emplace(name, 0).first;
    if (!add(at->second, count)) return std::nullopt;
    if (at->second == 0) out.terms.erase(at);
  }
  return out.terms.size() > kMostTerms ? std::nullopt : Sum(std::move(out));
}

/// The product where one of the two is a number.
Sum product(const Sum& a, const Sum& b) {
  if (!a || !b || (!a->terms.empty() && !b->terms.empty())) return std::nullopt;
  const bool first = a->terms.empty();
  return sum(number(0), first ? b : a, (first ? a : b)->constant);
}

std::vector<std::string_view> results_of(const PtxInstruction& instruction) {
  const bool none = instruction.operands.empty() || instruction.operands.front().starts_with('[') ||
                    instruction.opcode == "bra";
  return none ? std::vector<std::string_view>() : ptx_registers(instruction.operands.front());
}

/// Integer registers of a function that are written once, as sums of parameters, places of block
/// and thread, and results that are no sums.
class Sums {
 public:
  explicit Sums(const PtxFunction& function) : function_(function) {
    std::unordered_map<std::string_view, int> definitions;
    for (const PtxInstruction& instruction : function.instructions) {
      for (const std::string_view result : results_of(instruction)) ++definitions[result];
    }
    for (const PtxInstruction& instruction : function.instructions) {
      const auto results = results_of(instruction);
      if (results.size() != 1 || definitions[results.front()] != 1 || !instruction.guard.empty())
        continue;
      if (Sum made = computed(instruction, results.front()))
        values_.emplace(results.front(), *std::move(made));
    }
  }

  /// "[%rd1+16]"; nullopt where it may change while the thread runs, or is not followed.
  [[nodiscard]] Sum address(std::string_view operand) const {
    if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') return std::nullopt;
    operand = operand.substr(1, operand.size() - 2);
    const std::size_t sign = operand.find('+');
    const Sum base = value(operand.substr(0, sign));
    return sign == std::string_view::npos ? base : sum(base, value(operand.substr(sign + 1)));
  }

 private:
  [[nodiscard]] Sum value(std::string_view operand) const {
    if (const auto literal = ptx_literal(operand)) return number(*literal);
    if (operand.find('.') != std::string_view::npos) return named(operand);  // "%ctaid.x"
    const auto found = values_.find(operand);
    return found == values_.end() ? std::nullopt : Sum(found->second);
  }

  [[nodiscard]] Sum computed(const PtxInstruction& instruction, std::string_view result) const {
    const auto& operands = instruction.operands;
    const std::string_view opcode = instruction.opcode;
    if (opcode == "ld") {
      const bool is_own =
          instruction.has("param") && operands.size() == 2 && operands[1].size() > 2;
      const std::string_view name =
          is_own ? operands[1].substr(1, operands[1].size() - 2) : std::string_view();
      const bool known = std::ranges::find(function_.parameters, name, &PtxVariable::name) !=
                         function_.parameters.end();
      return known ? named(name) : std::nullopt;
    }
    if (!is_one_of(opcode, {"mov", "cvta", "cvt", "add", "sub", "mul", "mad", "shl", "shr", "and",
                            "or", "xor", "div", "rem", "min", "max", "neg", "not", "abs"}))
      return std::nullopt;
    std::vector<Sum> of;
    bool varies = false;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      of.push_back(value(operands[i]));
      if (!of.back()) return std::nullopt;
      varies = varies || of.back()->varies();
    }
    const auto else_itself = [&](const Sum& found) {
      return found ? found : named(result, varies);
    };
    const bool plain = std::ranges::all_of(instruction.modifiers, [](std::string_view m) {
      return is_one_of(m, {"s32", "u32", "b32", "s64", "u64", "b64", "lo", "wide", "to", "global"});
    });
    if (!plain || of.empty()) return named(result, varies);
    if (of.size() == 1 && is_one_of(opcode, {"mov", "cvta", "cvt"})) return of[0];
    if (of.size() == 2 && opcode == "add") return else_itself(sum(of[0], of[1]));
    if (of.size() == 2 && opcode == "sub") return else_itself(sum(of[0], of[1], -1));
    if (of.size() == 2 && opcode == "mul") return else_itself(product(of[0], of[1]));
    if (of.size() == 2 && opcode == "shl" && of[1]->terms.empty() && of[1]->constant >= 0 &&
        of[1]->constant < 32) {
      return else_itself(sum(number(0), of[0], std::int64_t{1} << of[1]->constant));
    }
    if (of.size() == 3 && opcode == "mad") {
      const Sum factor = product(of[0], of[1]);
      return else_itself(
          sum(factor ? factor
                     : named(std::string(result) + " of two", of[0]->varies() || of[1]->varies()),
              of[2]));
    }
    return named(result, varies);
  }

  const PtxFunction& function_;
  std::unordered_map<std::string_view, Affine> values_;
};

/// A read or write of the buffer.
struct Access {
  std::size_t instruction = 0;
  std::int64_t first = 0, last = 0;  ///< bytes [first, last) from the common address
  bool is_write = false;
};

/// Instructions that control may come to behind `from`, by index.
std::vector<bool> behind(const PtxFunction& function, std::size_t from) {
  std::vector<bool> seen(function.instructions.size() + 1);
  std::vector<std::size_t> work;
  const auto go = [&](std::size_t to) {
    if (!seen[to]) work.push_back(to);
    seen[to] = true;
  };
  const auto leave = [&](std::size_t i) {
    const PtxInstruction& instruction = function.instructions[i];
    const bool jumps = instruction.opcode == "bra";
    const auto target = jumps && !instruction.operands.empty()
                            ? label_target(function, instruction.operands.back())
                            : std::nullopt;
    // anywhere
    if (instruction.opcode == "brx" || (jumps && !target)) return seen.assign(seen.size(), true);
    if (target) go(std::min(*target, function.instructions.size()));
    if (!instruction.guard.empty() || !(jumps || is_one_of(instruction.opcode, {"ret", "exit"})))
      go(i + 1);
  };
  leave(from);
  while (!work.empty()) {
    const std::size_t i = work.back();
    work.pop_back();
    if (i < function.instructions.size()) leave(i);
  }
  return seen;
}

/// Which registers get something of which others, whatever way control takes.
class Uses {
 public:
  explicit Uses(const PtxFunction& function) {
    for (const PtxInstruction& instruction : function.instructions) {
      const auto results = results_of(instruction);
      for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
        if (instruction.operands[k].starts_with('[')) continue;
        for (const std::string_view from : ptx_registers(instruction.operands[k])) {
          for (const std::string_view to : results) into_[from].push_back(to);
        }
      }
    }
  }

  /// True if what `store` stores was made of what `load` reads.
  [[nodiscard]] bool leads(const PtxInstruction& load, const PtxInstruction& store) const {
    if (store.operands.size() != 2) return false;
    std::vector<std::string_view> work = results_of(load);
    std::unordered_map<std::string_view, bool> held;
    while (!work.empty()) {
      const std::string_view one = work.back();
      work.pop_back();
      if (std::exchange(held[one], true)) continue;
      if (const auto next = into_.find(one); next != into_.end())
        work.insert(work.end(), next->second.begin(), next->second.end());
    }
    return std::ranges::any_of(ptx_registers(store.operands[1]),
                               [&](std::string_view value) { return held.contains(value); });
  }

 private:
  std::unordered_map<std::string_view, std::vector<std::string_view>> into_;
};

bool looks_at_other_axes(const PtxFunction& function) {
  return std::ranges::any_of(function.instructions, [](const PtxInstruction& instruction) {
    return std::ranges::any_of(instruction.operands, [](std::string_view operand) {
      return operand.starts_with("%tid") && operand != kThread;
    });
  });
}

/// All accesses of the buffer; nothing where one of them is not told, or they do not lie in one
/// slot of each thread.
std::vector<Access> slot_accesses(const BufferTraffic& traffic,
                                  std::size_t written,
                                  std::size_t read) {
  const PtxFunction& entry = *traffic.parameters[written].entry;
  const Sums sums(entry);
  std::vector<Access> out;
  std::optional<Affine> common;
  std::int64_t begin = kMostNumber, end = -kMostNumber;
  for (const BufferAccess& access : traffic.accesses) {
    const std::size_t parameter = access.is_write ? written : read;
    if ((access.parameters >> parameter & 1U) == 0) continue;
    const PtxInstruction& instruction = access.function->instructions[access.instruction];
    if (access.function != &entry || out.size() == kMostAccesses ||
        !is_one_of(instruction.opcode, {"ld", "st"}))
      return {};
    const std::int64_t bytes = access_bytes(instruction);
    const std::size_t place = access.is_write ? 0 : 1;
    Sum at = place < instruction.operands.size() ? sums.address(instruction.operands[place])
                                                 : std::nullopt;
    if (!at || bytes <= 0 || at->bends) return {};
    const auto base = at->terms.find(entry.parameters[traffic.parameters[parameter].index].name);
    if (base == at->terms.end() || base->second != 1) return {};
    at->terms.erase(base);  // as one buffer both parameters are one address
    if (common && common->terms != at->terms) return {};
    out.push_back({.instruction = access.instruction,
                   .first = at->constant,
                   .last = at->constant + bytes,
                   .is_write = access.is_write});
    begin = std::min(begin, out.back().first);
    end = std::max(end, out.back().last);
    common = std::move(at);
  }
  const auto step = common ? common->terms.find(kThread) : decltype(common->terms.end())();
  if (!common || step == common->terms.end() || std::abs(step->second) < end - begin ||
      std::abs(step->second) > kMostStep)
    return {};
  return out;
}

}  // namespace

bool stays_in_own_slots(const BufferTraffic& traffic, std::size_t written, std::size_t read) {
  const PtxFunction& entry = *traffic.parameters[written].entry;
  if (traffic.untraced_writes > 0 || traffic.untraced_reads > 0 || looks_at_other_axes(entry))
    return false;
  const std::vector<Access> accesses = slot_accesses(traffic, written, read);
  const Uses uses(entry);
  for (const Access& store : accesses) {
    if (!store.is_write) continue;
    const std::vector<bool> after = behind(entry, store.instruction);
    for (const Access& load : accesses) {
      if (load.is_write || load.last <= store.first || store.last <= load.first) continue;
      if (after[load.instruction] ||
          !uses.leads(entry.instructions[load.instruction], entry.instructions[store.instruction]))
        return false;
    }
  }
  return !accesses.empty();
}

}  // namespace warpath::cuda
