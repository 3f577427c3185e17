#include <algorithm>
#include <array>
#include <set>

#include "engine/spec/parameters.h"
#include "register_gates.h"
#include "runners/cuda/code/symbol_use.h"
#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMaxPtxBytes = std::size_t{32} << 20U;
constexpr std::int64_t kMaxTableBytes = 4096;

struct Rule {
  std::string_view word;
  std::string_view reason;
};
/// Opcodes that no honest kernel of this contract needs.
constexpr std::array<Rule, 6> kRefusedOpcodes{{
    {"griddepcontrol", "dependent launches can end after the timer"},
    {"applypriority", "cache residue outlives the launch"},
    {"discard", "drops cache lines without writing them back"},
    {"multimem", "reaches other devices"},
    {"brkpt", "stops for a debugger"},
    {"pmevent", "talks to profilers"},
}};
/// Modifiers of any instruction ("L2::evict_last" is compared behind its last colon).
constexpr std::array<Rule, 2> kRefusedModifiers{{
    {"evict_last", "cache residue outlives the launch"},
    {"sys", "system scope reaches beyond the device"},
}};
/// Special registers whose value differs between launches or places.
constexpr std::array<Rule, 9> kRefusedRegisters{{
    {"%globaltimer", "time-dependent"},
    {"%clock", "time-dependent"},
    {"%clock64", "time-dependent"},
    {"%clock_hi", "time-dependent"},
    {"%globaltimer_lo", "time-dependent"},
    {"%globaltimer_hi", "time-dependent"},
    {"%gridid", "tells launches apart"},
    {"%smid", "place-dependent"},
    {"%nsmid", "place-dependent"},
}};
/// Reported, but no reason to refuse.
constexpr std::array<std::string_view, 4> kNoted{"prefetch", "prefetchu", "nanosleep", "trap"};

std::int64_t parameter_bytes(const ArgSpec& arg) {
  switch (arg.type) {
    case ArgType::tensor:
      return 8;
    case ArgType::boolean:
      return 1;
    case ArgType::string:
      return 0;
    case ArgType::integer:
    case ArgType::floating:
      break;
  }
  return static_cast<std::int64_t>(info(arg.dtype).size_bytes);
}

bool starts_with_register(std::string_view operand, std::string_view name) {
  return operand == name || (operand.starts_with(name) && operand[name.size()] == '.');
}

/// Judges the code that will be loaded, where macros, pasted tokens and split strings are gone:
/// state that outlives a launch, work outside the entries that are launched, dependence on time and
/// place, tampering with the caches.
class PtxGate final : public CodeGate {
 public:
  PtxGate()
      : CodeGate({.name = kPtxGate,
                  .phase = GatePhase::code,
                  .help = "the loaded PTX keeps no state, hides no work and does not tamper with "
                          "caches or clocks",
                  .former = "s1_ptx"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.ptx == nullptr || subject.code == nullptr) return not_run("there is no PTX");
    if (subject.code->ptx.size() > kMaxPtxBytes)
      return fail("the PTX exceeds " + std::to_string(kMaxPtxBytes) + " bytes");
    const PtxModule& module = *subject.ptx;
    for (const auto& problem : {functions_problem(module, subject), variables_problem(module),
                                instructions_problem(module)}) {
      if (!problem.empty()) return fail(problem);
    }
    return pass(notes(module));
  }

 private:
  static std::string functions_problem(const PtxModule& module, const GateSubject& subject) {
    for (const std::string_view directive : module.directives) {
      if (directive == "alias") return "declares an alias";
    }
    std::vector<std::string> expected{subject.code->lowered_name};
    if (subject.variant != nullptr) {
      for (std::string& name : step_kernels(*subject.variant)) expected.push_back(std::move(name));
    }
    std::size_t entries = 0;
    for (const PtxFunction& function : module.functions) {
      // declared before it is used, and defined later
      if (!function.has_body && defined(module, function.name)) continue;
      if (!function.has_body)
        return "needs the function " + std::string(function.name) +
               " from outside (printf, malloc, assert, device-side launch)";
      if (!function.is_entry) continue;
      ++entries;
      if (std::ranges::find(expected, function.name) != expected.end()) continue;
      return entries > 1 || module.entry(expected.front()) != nullptr
                 ? "has more than one entry: " + expected.front() + " and " +
                       std::string(function.name)
                 : "lacks the entry " + expected.front();
    }
    for (const std::string& name : expected) {
      if (module.entry(name) == nullptr) return "lacks the entry " + name;
    }
    if (std::string problem =
            parameters_problem(*module.entry(expected.front()), main_parameters(subject));
        !problem.empty())
      return problem;
    if (subject.variant == nullptr) return "";
    for (const auto* steps : {&subject.variant->before, &subject.variant->after}) {
      for (const LaunchStep& step : *steps) {
        if (step.kind != LaunchStep::Kind::kernel) continue;
        std::string problem =
            parameters_problem(*module.entry(step.kernel_name), step_parameters(subject, step));
        if (!problem.empty()) return problem;
      }
    }
    return "";
  }

  static bool defined(const PtxModule& module, std::string_view name) {
    return std::ranges::any_of(module.functions, [&](const PtxFunction& function) {
      return function.has_body && function.name == name;
    });
  }

  /// Bytes of what the main kernel receives.
  static std::vector<std::int64_t> main_parameters(const GateSubject& subject) {
    std::vector<std::int64_t> sizes;
    for (const ParameterLayout& layout : parameter_layouts(*subject.spec))
      sizes.push_back(static_cast<std::int64_t>(layout.size_bytes));
    if (subject.variant != nullptr) sizes.insert(sizes.end(), subject.variant->scratch.size(), 8);
    return sizes;
  }

  static std::vector<std::int64_t> step_parameters(const GateSubject& subject,
                                                   const LaunchStep& step) {
    std::vector<std::int64_t> sizes;
    for (const std::string& name : step.arguments) {
      const ArgSpec* const arg = subject.spec->io.find(name);
      // else a scratch buffer's address
      sizes.push_back(arg == nullptr ? 8 : parameter_bytes(*arg));
    }
    return sizes;
  }

  static std::string parameters_problem(const PtxFunction& entry,
                                        const std::vector<std::int64_t>& expected) {
    std::vector<std::int64_t> found;
    for (const PtxVariable& parameter : entry.parameters) found.push_back(parameter.size_bytes);
    if (found == expected) return "";
    const auto text = [](const std::vector<std::int64_t>& sizes) {
      std::string out;
      for (const std::int64_t size : sizes) out += (out.empty() ? "" : " ") + std::to_string(size);
      return "[" + out + "]";
    };
    return "the entry " + std::string(entry.name) + " takes parameters of " + text(found) +
           " bytes, the contract has " + text(expected);
  }

  static std::string variables_problem(const PtxModule& module) {
    const auto uses = symbol_uses(module);
    std::int64_t table_bytes = 0;
    const auto problem_of = [&](const PtxVariable& variable) -> std::string {
      const std::string name(variable.name);
      if (variable.is_managed) return "managed variable " + name;
      if (variable.space.starts_with("tex") || variable.space.starts_with("surf") ||
          variable.space.starts_with("sampler"))
        return "texture or surface " + name;
      if (variable.is_extern && variable.space != "shared")
        return "variable " + name + " from outside";
      if (variable.space != "global" && variable.space != "const") return "";
      const SymbolUse use = uses.at(variable.name);
      if (use.stored)
        return "writes the " + std::string(variable.space) + " variable " + name +
               ", which outlives the launch";
      if (use.escapes)
        return "hands out the address of the " + std::string(variable.space) + " variable " + name;
      if (variable.space == "global" && !variable.initialised && use.address_taken)
        return "takes the address of " + name + ", which outlives the launch";
      if (variable.initialised) table_bytes += variable.size_bytes;
      return "";
    };
    for (const PtxVariable& variable : module.variables) {
      if (std::string problem = problem_of(variable); !problem.empty()) return problem;
    }
    for (const PtxFunction& function : module.functions) {
      for (const PtxVariable& variable : function.variables) {
        if (std::string problem = problem_of(variable); !problem.empty()) return problem;
      }
    }
    if (table_bytes > kMaxTableBytes)
      return "carries tables of " + std::to_string(table_bytes) + " bytes, at most " +
             std::to_string(kMaxTableBytes) + " are allowed";
    return "";
  }

  static std::string instructions_problem(const PtxModule& module) {
    for (const PtxFunction& function : module.functions) {
      const bool makes_policy =
          std::ranges::any_of(function.instructions,
                              [](const PtxInstruction& i) { return i.opcode == "createpolicy"; });
      for (const PtxInstruction& instruction : function.instructions) {
        if (std::string problem = instruction_problem(instruction, makes_policy); !problem.empty())
          return problem;
      }
    }
    return "";
  }

  static std::string instruction_problem(const PtxInstruction& instruction, bool makes_policy) {
    const auto because = [](std::string_view what, std::string_view reason) {
      return std::string(what) + ": " + std::string(reason);
    };
    for (const Rule& rule : kRefusedOpcodes) {
      if (instruction.opcode == rule.word) return because(rule.word, rule.reason);
    }
    for (const std::string_view modifier : instruction.modifiers) {
      const std::string_view last = modifier.substr(modifier.rfind(':') + 1);
      for (const Rule& rule : kRefusedModifiers) {
        if (last == rule.word)
          return because(std::string(instruction.opcode) + " ." + std::string(rule.word),
                         rule.reason);
      }
      if (last == "cache_hint" && !makes_policy)
        return "a cache policy that no createpolicy made: it can be any";
    }
    for (const std::string_view operand : instruction.operands) {
      for (const Rule& rule : kRefusedRegisters) {
        if (starts_with_register(operand, rule.word)) return because(rule.word, rule.reason);
      }
    }
    return "";
  }

  static std::string notes(const PtxModule& module) {
    std::set<std::string_view> found;
    for (const PtxFunction& function : module.functions) {
      for (const PtxInstruction& instruction : function.instructions) {
        if (std::ranges::find(kNoted, instruction.opcode) != kNoted.end())
          found.insert(instruction.opcode);
      }
    }
    std::string text;
    for (const std::string_view opcode : found)
      text += (text.empty() ? "uses " : ", ") + std::string(opcode);
    return text;
  }
};

}  // namespace

void register_gate_ptx_rules(GateTable& table) {
  table.add(std::make_unique<PtxGate>());
}

}  // namespace warpath::cuda
