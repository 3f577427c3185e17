#include "runners/cuda/code/narrow_chains.h"

#include <algorithm>

#include "runners/cuda/code/ptx_values.h"

namespace warpath::cuda {
namespace {

bool is_narrow(const PtxInstruction& instruction) {
  return instruction.has("f16") || instruction.has("f16x2") || instruction.has("bf16") ||
         instruction.has("bf16x2");
}

bool is_arithmetic(const PtxInstruction& instruction) {
  static constexpr std::string_view kRounding[] = {"add", "sub", "mul", "fma"};
  return is_narrow(instruction) &&
         std::ranges::find(kRounding, instruction.opcode) != std::end(kRounding);
}

/// What comes out of these is as exact as what went in.
bool hands_on(const PtxInstruction& instruction) {
  static constexpr std::string_view kExact[] = {"mov", "shfl", "prmt", "selp", "and", "or",
                                                "xor", "shl",  "shr",  "lop3", "bfe", "bfi",
                                                "neg", "abs",  "min",  "max"};
  return std::ranges::find(kExact, instruction.opcode) != std::end(kExact);
}

bool in_block_memory(const PtxInstruction& instruction) {
  return instruction.has("shared") || instruction.has("shared::cta") || instruction.has("local");
}

}  // namespace

NarrowChains::NarrowChains(const PtxFunction& function) {
  const bool any = std::ranges::any_of(function.instructions, is_arithmetic);
  // A pass may see a loop's value one addition further: as many passes as additions are counted.
  for (std::size_t pass = 0; any && pass <= kMost; ++pass) {
    for (const PtxInstruction& instruction : function.instructions) {
      if (instruction.operands.empty()) continue;
      if (instruction.opcode == "st" && in_block_memory(instruction)) {
        of_memory_ = std::max(of_memory_, before(instruction));
        continue;
      }
      std::size_t made = 0;
      if (is_arithmetic(instruction)) {
        made = std::min(before(instruction) + 1, kMost);
      } else if (hands_on(instruction)) {
        made = before(instruction);
      } else if (instruction.opcode == "ld" && in_block_memory(instruction)) {
        made = of_memory_;
      }
      for (const std::string_view name : ptx_registers(instruction.operands[0])) {
        std::size_t& known = of_register_[name];
        known = std::max(known, made);
      }
    }
  }
}

std::size_t NarrowChains::before(const PtxInstruction& instruction) const {
  std::size_t most = 0;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
    for (const std::string_view name : ptx_registers(instruction.operands[i])) {
      const auto it = of_register_.find(name);
      if (it != of_register_.end()) most = std::max(most, it->second);
    }
  }
  return most;
}

std::size_t NarrowChains::length(const PtxInstruction& instruction) const {
  return is_arithmetic(instruction) ? std::min(before(instruction) + 1, kMost) : 0;
}

}  // namespace warpath::cuda
