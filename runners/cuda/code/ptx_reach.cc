#include "runners/cuda/code/ptx_reach.h"

#include <algorithm>
#include <set>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

using Names = std::set<std::string_view>;

void add_words(const PtxFunction& function, Names& names) {
  for (const PtxInstruction& instruction : function.instructions) {
    for (const std::string_view operand : instruction.operands) {
      for (const PtxToken& token : tokenize_ptx(operand)) {
        if (token.kind == PtxToken::Kind::word) names.insert(token.text);
      }
    }
  }
}

/// A call whose target is a register: "call (%r1), %rd4, (%p0), prototype_1".
bool calls_an_address(const PtxFunction& function) {
  return std::ranges::any_of(function.instructions, [](const PtxInstruction& instruction) {
    return instruction.opcode == "call" &&
           std::ranges::any_of(instruction.operands,
                               [](std::string_view operand) { return operand.starts_with('%'); });
  });
}

}  // namespace

void keep_reached(PtxModule& module, const std::vector<std::string>& entries) {
  const bool others = std::ranges::any_of(module.functions, [&](const PtxFunction& function) {
    return function.is_entry && std::ranges::find(entries, function.name) == entries.end();
  });
  if (!others) return;
  Names reached(entries.begin(), entries.end());
  std::set<const PtxFunction*> kept;
  for (bool grew = true; grew;) {
    grew = false;
    for (const PtxFunction& function : module.functions) {
      if (!reached.contains(function.name) || !kept.insert(&function).second) continue;
      if (calls_an_address(function)) return;
      add_words(function, reached);
      grew = true;
    }
  }
  std::vector<PtxFunction> functions;
  for (PtxFunction& function : module.functions) {
    if (kept.contains(&function)) functions.push_back(std::move(function));
  }
  module.functions = std::move(functions);
}

}  // namespace warpath::cuda
