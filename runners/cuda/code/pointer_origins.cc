#include "runners/cuda/code/pointer_origins.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>
#include <unordered_map>

#include "runners/cuda/code/ptx_tokens.h"

namespace warpath::cuda {
namespace {

using Node = std::uint32_t;
using Mask = std::uint64_t;
constexpr std::size_t kMaxParameters = 64;

/// The first word of an operand: of "[%rd1+16]" %rd1, of "{%r1, %r2}" %r1.
std::string_view first_word(std::string_view operand) {
  for (const PtxToken& token : tokenize_ptx(operand)) {
    if (token.kind == PtxToken::Kind::word) return token.text;
  }
  return {};
}

/// A mask that keeps low bits only: "and" with it asks how a pointer is aligned.
bool keeps_low_bits(std::string_view operand) {
  const bool hexadecimal = operand.starts_with("0x") || operand.starts_with("0X");
  if (hexadecimal) operand.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(operand.data(), operand.data() + operand.size(), value,
                                            hexadecimal ? 16 : 10);
  return error == std::errc{} && end != operand.data() && value < (std::uint64_t{1} << 32U);
}

bool is_wide(const PtxInstruction& instruction) {
  return std::ranges::any_of(instruction.modifiers, [](std::string_view m) {
    return is_one_of(m, {"b64", "u64", "s64", "wide"});
  });
}

/// True if the instruction's memory is the block's or the thread's own.
bool is_private(const PtxInstruction& instruction) {
  return std::ranges::any_of(instruction.modifiers, [](std::string_view m) {
    return m.starts_with("shared") || is_one_of(m, {"local", "param", "const"});
  });
}

bool writes_buffers(const PtxInstruction& instruction) {
  if (instruction.opcode == "cp") {  // a copy's first space is where it writes
    for (const std::string_view m : instruction.modifiers) {
      if (m == "global" || m.starts_with("shared")) return m == "global";
    }
    return false;
  }
  return is_one_of(instruction.opcode, {"st", "atom", "red"}) && !is_private(instruction) &&
         !instruction.has("async");
}

bool reads_noncoherently(const PtxInstruction& instruction) {
  return instruction.opcode == "ldu" || (instruction.opcode == "ld" && instruction.has("nc"));
}

class Origins {
 public:
  explicit Origins(const PtxModule& module) {
    for (const PtxFunction& function : module.functions) {
      if (function.has_body) bodies_.emplace(function.name, &function);
    }
    for (const PtxFunction& function : module.functions) {
      if (function.has_body) connect(function);
    }
    spread();
    // The difference of two pointers is none.
    for (const Difference& difference : differences_) {
      if (held_[difference.less] == 0)
        add_edge(difference.from, difference.to), work_.push_back(difference.from);
    }
    spread();
    for (const PtxFunction& function : module.functions) {
      if (function.has_body) note(function);
    }
  }
  BufferTraffic result;

 private:
  struct Difference {
    Node from, less, to;
  };

  Node node(const PtxFunction& function, std::string_view name) {
    auto& own = names_[function.name];
    const auto [found, fresh] = own.try_emplace(name, static_cast<Node>(held_.size()));
    if (fresh) held_.push_back(0), edges_.emplace_back();
    return found->second;
  }

  void add_edge(Node from, Node to) { edges_[from].push_back(to); }

  void connect(const PtxFunction& function) {
    if (function.is_entry) {
      for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        if (function.parameters[i].size_bytes != 8 || result.parameters.size() == kMaxParameters)
          continue;
        const Node parameter = node(function, function.parameters[i].name);
        held_[parameter] = Mask{1} << result.parameters.size();
        work_.push_back(parameter);
        result.parameters.push_back({&function, i});
      }
    }
    // by parameter of the next call: what was put there last
    std::unordered_map<std::string_view, Node> passed;
    std::unordered_map<std::string_view, Node> returned;
    for (const PtxInstruction& instruction : function.instructions) {
      const auto& operands = instruction.operands;
      if (instruction.opcode == "call") {
        call(instruction, passed, returned);
        passed.clear();
      } else if (operands.size() >= 2 && instruction.opcode == "st" && instruction.has("param")) {
        const std::string_view place = first_word(operands[0]);
        const Node value = node(function, first_word(operands[1]));
        const Node own_result = node(function, place);
        add_edge(value, own_result);
        passed[place] = value;
      } else if (operands.size() >= 2 && instruction.opcode == "ld" && instruction.has("param")) {
        const std::string_view place = first_word(operands[1]);
        const auto result_of = returned.find(place);
        if (is_wide(instruction) || !function.is_entry)
          add_edge(result_of != returned.end() ? result_of->second : node(function, place),
                   node(function, first_word(operands[0])));
      } else {
        compute(function, instruction);
      }
    }
  }

  /// "call.uni (retval0), name, (param0, param1);"
  void call(const PtxInstruction& instruction,
            const std::unordered_map<std::string_view, Node>& passed,
            std::unordered_map<std::string_view, Node>& returned) {
    const auto& operands = instruction.operands;
    const bool returns = !operands.empty() && operands.front().starts_with('(');
    const std::size_t at = returns ? 1 : 0;
    const auto callee = at < operands.size() ? bodies_.find(operands[at]) : bodies_.end();
    if (returns) returned.erase(first_word(operands.front()));
    if (callee == bodies_.end()) return;
    const PtxFunction& target = *callee->second;
    if (returns) returned[first_word(operands.front())] = node(target, "func_retval0");
    if (at + 1 >= operands.size()) return;
    const auto arguments = words_of(operands[at + 1]);
    for (std::size_t i = 0; i < std::min(arguments.size(), target.parameters.size()); ++i) {
      if (const auto value = passed.find(arguments[i]); value != passed.end())
        add_edge(value->second, node(target, target.parameters[i].name));
    }
  }

  /// Edges from the operands through which a pointer reaches the result.
  void compute(const PtxFunction& function, const PtxInstruction& instruction) {
    const auto& operands = instruction.operands;
    const std::string_view opcode = instruction.opcode;
    if (operands.size() < 2 || is_address(operands.front())) return;
    const auto edge = [&](std::string_view from, std::string_view to) {
      if (from.starts_with('%')) add_edge(node(function, from), node(function, to));
    };
    const std::string_view to = operands.front();
    // halves: the upper one stands for the pointer, the lower one for its alignment
    if (opcode == "mov" && operands[1].starts_with('{')) {
      const auto halves = words_of(operands[1]);
      if (!halves.empty()) edge(halves.back(), to);
    } else if (opcode == "mov" && to.starts_with('{')) {
      const auto halves = words_of(to);
      if (!halves.empty()) edge(operands[1], halves.back());
    } else if (is_one_of(opcode,
                         {"mov", "cvta", "selp", "slct", "min", "max", "or", "xor", "add"})) {
      if (!is_wide(instruction) && !is_one_of(opcode, {"mov", "selp"})) return;
      for (std::size_t i = 1; i < operands.size(); ++i) edge(operands[i], first_word(to));
    } else if (opcode == "cvt") {
      if (instruction.modifiers.size() >= 2 &&
          is_one_of(instruction.modifiers.back(), {"u64", "s64"}) &&
          is_one_of(instruction.modifiers[instruction.modifiers.size() - 2], {"u64", "s64"}))
        edge(operands[1], to);
    } else if (opcode == "and" && is_wide(instruction) && operands.size() == 3) {
      if (!keeps_low_bits(operands[2])) edge(operands[1], to);
      if (!keeps_low_bits(operands[1])) edge(operands[2], to);
    } else if (opcode == "sub" && is_wide(instruction) && operands.size() == 3) {
      if (operands[2].starts_with('%')) {
        differences_.push_back(
            {node(function, operands[1]), node(function, operands[2]), node(function, to)});
      } else {
        edge(operands[1], to);
      }
    } else if (opcode == "mad" && is_wide(instruction) && operands.size() == 4) {
      edge(operands[3], to);
    }
  }

  void spread() {
    while (!work_.empty()) {
      const Node from = work_.back();
      work_.pop_back();
      for (const Node to : edges_[from]) {
        if ((held_[to] | held_[from]) == held_[to]) continue;
        held_[to] |= held_[from];
        work_.push_back(to);
      }
    }
  }

  void note(const PtxFunction& function) {
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      const PtxInstruction& instruction = function.instructions[i];
      const bool writes = writes_buffers(instruction), reads = reads_noncoherently(instruction);
      const bool loads = instruction.opcode == "ld" && !reads && !is_private(instruction);
      if (!writes && !reads && !loads) continue;
      const auto address = std::ranges::find_if(instruction.operands, is_address);
      if (address == instruction.operands.end()) continue;
      const Mask origins = held_[node(function, first_word(*address))];
      const BufferAccess access{
          .function = &function, .instruction = i, .parameters = origins, .is_write = writes};
      if (loads) {
        if (origins != 0) result.loads.push_back(access);
        continue;
      }
      (writes ? result.written : result.read_noncoherently) |= origins;
      if (origins == 0) {
        ++(writes ? result.untraced_writes : result.untraced_reads);
      } else {
        result.accesses.push_back(access);
      }
    }
  }

  std::unordered_map<std::string_view, const PtxFunction*> bodies_;
  // by function
  std::unordered_map<std::string_view, std::unordered_map<std::string_view, Node>> names_;
  std::vector<Mask> held_;                // by node
  std::vector<std::vector<Node>> edges_;  // by node
  std::vector<Difference> differences_;
  std::vector<Node> work_;
};

}  // namespace

BufferTraffic buffer_traffic(const PtxModule& module) {
  return std::move(Origins(module).result);
}

}  // namespace warpath::cuda
