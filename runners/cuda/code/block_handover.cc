#include "runners/cuda/code/block_handover.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string_view>

#include "runners/cuda/code/ptx_tokens.h"
#include "runners/cuda/code/ptx_values.h"

namespace warpath::cuda {
namespace {

bool is_shared(const PtxInstruction& instruction) {
  return std::ranges::any_of(instruction.modifiers,
                             [](std::string_view m) { return m.starts_with("shared"); });
}

/// An atomic on memory that other blocks see.
bool is_global_atomic(const PtxInstruction& instruction) {
  return is_one_of(instruction.opcode, {"atom", "red"}) && !is_shared(instruction);
}

bool releases(const PtxInstruction& instruction) {
  return instruction.has("release") || instruction.has("acq_rel");
}

/// Stores before it are seen by other blocks before what follows.
bool orders_stores(const PtxInstruction& instruction) {
  if (instruction.opcode == "membar") return !instruction.has("cta");
  if (instruction.opcode == "fence") return !instruction.has("cta") && !instruction.has("proxy");
  return is_one_of(instruction.opcode, {"st", "atom", "red"}) && releases(instruction);
}

bool is_weak_store(const PtxInstruction& instruction) {
  return instruction.opcode == "st" && !instruction.has("volatile") &&
         !instruction.has("relaxed") && !instruction.has("mmio") && !releases(instruction);
}

/// The registers whose values derive from the results of certain instructions, by arithmetic,
/// predicates and the block's shared memory; not by loads from, or atomics on, other memory.
class Derived {
 public:
  using Seed = std::function<bool(std::size_t)>;

  Derived(const PtxFunction& function, const Seed& is_seed) {
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < function.instructions.size(); ++i)
        grows = visit(function.instructions[i], is_seed(i)) || grows;
    }
  }

  [[nodiscard]] bool holds(std::string_view operand) const {
    return std::ranges::any_of(ptx_registers(operand),
                               [&](std::string_view name) { return registers_.contains(name); });
  }

 private:
  bool visit(const PtxInstruction& instruction, bool is_seed) {
    const auto& operands = instruction.operands;
    if (operands.empty()) return false;
    const auto any_from = [&](std::size_t first) {
      for (std::size_t i = first; i < operands.size(); ++i)
        if (holds(operands[i])) return true;
      return false;
    };
    if (is_address(operands.front())) {
      if (in_shared_ || instruction.opcode != "st" || !is_shared(instruction) || !any_from(1))
        return false;
      return in_shared_ = true;
    }
    bool derived = is_seed;
    if (instruction.opcode == "ld") {
      derived = derived || (in_shared_ && is_shared(instruction));
    } else if (instruction.opcode != "atom") {
      derived = derived || any_from(1) || holds(instruction.guard);
    }
    bool grows = false;
    if (derived)
      for (const std::string_view name : ptx_registers(operands.front()))
        grows = registers_.insert(name).second || grows;
    return grows;
  }

  std::set<std::string_view> registers_;
  bool in_shared_ = false;
};

std::string_view address_of(const PtxInstruction& instruction) {
  const auto found = std::ranges::find_if(instruction.operands, is_address);
  return found == instruction.operands.end() ? std::string_view{} : *found;
}

/// What depends on which block it is: its index, its cluster's, or a number that an atomic gave it.
Derived of_block(const PtxFunction& function) {
  return Derived(function, [&](std::size_t i) {
    const PtxInstruction& instruction = function.instructions[i];
    if (instruction.opcode == "atom" && is_global_atomic(instruction) && !instruction.has("cta"))
      return true;
    return std::ranges::any_of(instruction.operands, [](std::string_view operand) {
      return operand.starts_with("%ctaid") || operand.starts_with("%clusterid") ||
             operand.starts_with("%cluster_cta");
    });
  });
}

/// Buffers that are stored to before `ticket` without a fence between.
std::uint64_t stored_before(const PtxFunction& entry,
                            const BufferTraffic& traffic,
                            std::size_t ticket) {
  std::size_t fence = 0;
  for (std::size_t i = 0; i < ticket; ++i)
    if (orders_stores(entry.instructions[i])) fence = i;
  std::uint64_t buffers = 0;
  for (const BufferAccess& access : traffic.accesses) {
    if (access.function == &entry && access.is_write && access.instruction < ticket &&
        access.instruction >= fence && is_weak_store(entry.instructions[access.instruction]))
      buffers |= access.parameters;
  }
  return buffers;
}

bool elects_a_reader(const PtxFunction& entry,
                     const BufferTraffic& traffic,
                     std::size_t ticket,
                     const Derived& block) {
  const std::uint64_t stored = stored_before(entry, traffic, ticket);
  if (stored == 0) return false;
  const Derived decided(entry, [&](std::size_t i) { return i == ticket; });
  std::size_t branch = ticket + 1;
  const auto decides = [&](const PtxInstruction& instruction) {
    return instruction.opcode == "bra" && decided.holds(instruction.guard);
  };
  while (branch < entry.instructions.size() && !decides(entry.instructions[branch])) ++branch;
  return std::ranges::any_of(traffic.loads, [&](const BufferAccess& load) {
    if (load.function != &entry || load.instruction <= branch || (load.parameters & stored) == 0)
      return false;
    const std::string_view address = address_of(entry.instructions[load.instruction]);
    return !decided.holds(address) && !block.holds(address);
  });
}

}  // namespace

std::string handover_problem(const PtxFunction& entry, const BufferTraffic& traffic) {
  const bool any = std::ranges::any_of(entry.instructions, is_global_atomic);
  if (!any) return "";
  const Derived block = of_block(entry);
  for (std::size_t i = 0; i < entry.instructions.size(); ++i) {
    const PtxInstruction& instruction = entry.instructions[i];
    if (!is_global_atomic(instruction)) continue;
    if (instruction.has("cta")) {
      if (instruction.has("global") && !block.holds(address_of(instruction)))
        return "an atomic of the block's scope changes memory that other blocks change too";
      continue;
    }
    if (instruction.opcode == "atom" && !releases(instruction) &&
        elects_a_reader(entry, traffic, i, block))
      return "it stores results, takes a ticket with no fence between, and the block that the "
             "ticket elects reads what others stored";
  }
  return "";
}

}  // namespace warpath::cuda
