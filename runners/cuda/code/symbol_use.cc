#include "runners/cuda/code/symbol_use.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

using Name = std::uint32_t;

bool writes_memory(const PtxInstruction& instruction) {
  static constexpr std::string_view kWriters[] = {"st", "atom", "red", "stmatrix", "multimem"};
  return std::ranges::find(kWriters, instruction.opcode) != std::end(kWriters);
}

/// Asynchronous copies write to their first address and only read the second.
bool copies_memory(const PtxInstruction& instruction) {
  return instruction.opcode == "cp";
}

/// One function: which registers may hold which variable's address.
class Flow {
 public:
  Flow(std::map<std::string_view, SymbolUse>& uses, const PtxFunction& function) : uses_(uses) {
    for (const PtxInstruction& instruction : function.instructions) connect(instruction);
    spread();
    for (const PtxInstruction& instruction : function.instructions) note(instruction);
  }

 private:
  Name name_of(std::string_view word) {
    const auto [found, fresh] = names_.try_emplace(word, static_cast<Name>(targets_.size()));
    if (fresh) {
      targets_.emplace_back();
      held_.emplace_back();
    }
    return found->second;
  }

  /// Edges from every source word to the destination, for instructions that compute a register from
  /// others.
  void connect(const PtxInstruction& instruction) {
    if (instruction.operands.empty() || is_address(instruction.operands.front()) ||
        instruction.opcode == "call" || instruction.opcode == "ld" ||
        instruction.opcode == "setp") {
      return;
    }
    for (const std::string_view target : words_of(instruction.operands.front())) {
      const Name to = name_of(target);
      for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
        if (is_address(instruction.operands[i])) continue;
        for (const std::string_view source : words_of(instruction.operands[i])) {
          const Name from = name_of(source);
          targets_[from].push_back(to);
          if (const auto use = uses_.find(source); use != uses_.end()) {
            use->second.address_taken = true;
            hold(from, use->first);
          }
        }
      }
    }
  }

  /// A register that may hold several addresses is charged to the first: one culprit is enough to
  /// name, and the rest stay address-taken.
  void hold(Name name, std::string_view symbol) {
    if (!held_[name].empty()) {
      if (held_[name] != symbol) also_[held_[name]].insert(symbol);
      return;
    }
    held_[name] = symbol;
    work_.push_back(name);
  }

  void spread() {
    while (!work_.empty()) {
      const Name name = work_.back();
      work_.pop_back();
      for (const Name target : targets_[name]) hold(target, held_[name]);
    }
  }

  /// The variable whose address `word` is or may hold; empty if none.
  [[nodiscard]] std::string_view symbol_of(std::string_view word) const {
    if (const auto use = uses_.find(word); use != uses_.end()) return use->first;
    const auto name = names_.find(word);
    return name == names_.end() ? std::string_view{} : held_[name->second];
  }

  template <class Change>
  void for_symbols(std::string_view operand, Change change) {
    for (const std::string_view word : words_of(operand)) {
      const std::string_view symbol = symbol_of(word);
      if (symbol.empty()) continue;
      change(uses_[symbol]);
      if (const auto others = also_.find(symbol); others != also_.end()) {
        for (const std::string_view other : others->second) change(uses_[other]);
      }
    }
  }

  void note(const PtxInstruction& instruction) {
    bool first_address = true;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const std::string_view operand = instruction.operands[i];
      if (is_address(operand)) {
        const bool written =
            writes_memory(instruction) || (copies_memory(instruction) && first_address);
        for_symbols(operand, [&](SymbolUse& use) { (written ? use.stored : use.loaded) = true; });
        first_address = false;
      } else if (instruction.opcode == "call" || writes_memory(instruction)) {
        for_symbols(operand, [&](SymbolUse& use) { use.address_taken = use.escapes = true; });
      }
    }
  }

  std::map<std::string_view, SymbolUse>& uses_;
  std::unordered_map<std::string_view, Name> names_;
  std::vector<std::vector<Name>> targets_;  // by name: registers computed from it
  std::vector<std::string_view> held_;      // by name: the variable whose address it may hold
  std::vector<Name> work_;
  // variables that share a register with the key
  std::map<std::string_view, std::set<std::string_view>> also_;
};

}  // namespace

std::map<std::string_view, SymbolUse> symbol_uses(const PtxModule& module) {
  std::map<std::string_view, SymbolUse> uses;
  const auto declare = [&](const std::vector<PtxVariable>& variables) {
    for (const PtxVariable& variable : variables) {
      if (variable.space == "global" || variable.space == "const") uses.try_emplace(variable.name);
    }
  };
  declare(module.variables);
  for (const PtxFunction& function : module.functions) declare(function.variables);
  if (uses.empty()) return uses;
  for (const PtxFunction& function : module.functions) Flow(uses, function);
  return uses;
}

}  // namespace warpath::cuda
