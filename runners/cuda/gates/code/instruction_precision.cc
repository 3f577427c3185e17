#include <algorithm>
#include <set>

#include "register_gates.h"
#include "runners/cuda/code/narrow_chains.h"

namespace warpath::cuda {
namespace {

using Classes = std::set<std::string, std::less<>>;

constexpr std::string_view kLog2E = "0f3FB8AA3B";
constexpr std::string_view kLn2 = "0f3F317218";

bool any_of(const PtxInstruction& instruction, std::initializer_list<std::string_view> modifiers) {
  return std::ranges::any_of(modifiers,
                             [&](std::string_view modifier) { return instruction.has(modifier); });
}

bool is_mma(const PtxInstruction& instruction) {
  return instruction.opcode == "mma" || instruction.opcode == "wgmma" ||
         instruction.opcode == "tcgen05";
}

bool is_arithmetic(const PtxInstruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"add",   "sub", "mul",  "fma", "mad",
                                                  "div",   "ex2", "tanh", "rcp", "sqrt",
                                                  "rsqrt", "lg2", "atom", "red"};
  return std::ranges::find(kOpcodes, instruction.opcode) != std::end(kOpcodes);
}

/// Where ex2.approx and lg2.approx come from: __expf scales its argument by log2(e) and nothing
/// else; expf and exp2f reduce it first, and erfcf, which scales too, flushes denormals in ex2.
/// __logf scales the result by ln(2).
class Products {
 public:
  explicit Products(const PtxFunction& function) {
    for (const PtxInstruction& instruction : function.instructions) {
      if (instruction.opcode != "mul" || instruction.operands.size() != 3) continue;
      for (std::size_t i = 1; i < 3; ++i) {
        if (instruction.operands[i] == kLog2E) by_log2e_.insert(instruction.operands[0]);
        if (instruction.operands[i] == kLn2) times_ln2_.insert(instruction.operands[3 - i]);
      }
    }
  }
  [[nodiscard]] bool is_times_log2e(std::string_view name) const {
    return by_log2e_.contains(name);
  }
  [[nodiscard]] bool is_scaled_by_ln2(std::string_view name) const {
    return times_ln2_.contains(name);
  }

 private:
  std::set<std::string_view> by_log2e_, times_ln2_;
};

/// Special functions of the hardware that the mathematical library does not use by itself in this
/// form.
std::string approximation(const PtxInstruction& instruction, const Products& products) {
  const std::string opcode(instruction.opcode);
  const bool approximate = instruction.has("approx");
  if (opcode == "div" && (instruction.has("full") || (approximate && !instruction.has("ftz"))))
    return "approximate division";
  if (!approximate) return "";
  if (opcode == "sin" || opcode == "cos" || opcode == "tanh" || opcode == "sqrt")
    return "approximate " + opcode;
  if (instruction.operands.size() < 2) return "";
  if (opcode == "ex2" && !instruction.has("ftz") &&
      products.is_times_log2e(instruction.operands[1]))
    return "approximate exp";
  if (opcode == "lg2" && products.is_scaled_by_ln2(instruction.operands[0]))
    return "approximate log";
  return "";
}

/// "wmma.mma" names the types of result and accumulator, and those of the factors unless they are
/// half; other forms move data.
std::string wmma_class(const PtxInstruction& instruction) {
  if (!instruction.has("mma")) return "";
  if (any_of(instruction, {"s8", "u8"})) return "int8";
  if (any_of(instruction, {"s4", "u4", "b1"})) return "int4";
  if (instruction.has("f64")) return "";
  if (instruction.has("bf16")) return "bfloat16";
  return instruction.has("f16") ? "float16 accumulation" : "float16";
}

/// The class of reduced precision that an instruction belongs to; empty for what every contract
/// allows. Conversions and exact operations (max, neg, moves) on small types are no loss by
/// themselves.
std::string precision_class(const PtxInstruction& instruction,
                            const Products& products,
                            const NarrowChains& chains) {
  if (any_of(instruction, {"e4m3", "e5m2", "e4m3x2", "e5m2x2", "kind::f8f6f4"})) return "float8";
  if (any_of(instruction, {"e2m1", "e3m2", "e2m3", "e2m1x2", "e3m2x2", "e2m3x2", "kind::mxf4"}))
    return "float4 or float6";
  if (any_of(instruction, {"tf32", "kind::tf32"})) return "tf32";
  if (instruction.opcode == "wmma") return wmma_class(instruction);
  if (is_mma(instruction)) {
    if (any_of(instruction, {"s8", "u8", "kind::i8"})) return "int8";
    if (any_of(instruction, {"s4", "u4", "b1"})) return "int4";
    if (instruction.has("bf16")) return "bfloat16";
    if (instruction.has("f16")) {
      const auto halves = std::ranges::count(instruction.modifiers, std::string_view("f16"));
      return instruction.has("f32") && halves <= 2 ? "float16" : "float16 accumulation";
    }
    return "";
  }
  if (is_arithmetic(instruction)) {
    // One operation, or a second behind it, has the bits of a wider one that is rounded.
    constexpr std::size_t kRoundings = 2;
    const std::size_t chain = chains.length(instruction);
    const std::string kind = chain > 0 && chain <= kRoundings ? "rounding to " : "";
    const std::string rest = kind.empty() ? " arithmetic" : "";
    if (any_of(instruction, {"f16", "f16x2"})) return kind + "float16" + rest;
    if (any_of(instruction, {"bf16", "bf16x2"})) return kind + "bfloat16" + rest;
  }
  if (instruction.opcode == "cvt" && instruction.modifiers.size() >= 2) {
    const std::string_view to = instruction.modifiers[instruction.modifiers.size() - 2];
    if (to == "f16" || to == "f16x2") return "rounding to float16";
    if (to == "bf16" || to == "bf16x2") return "rounding to bfloat16";
    if (to == "f32" && instruction.modifiers.back() == "f64") return "rounding to float32";
  }
  if (instruction.opcode == "dp4a" || instruction.opcode == "dp2a") return "int8";
  const bool plain = instruction.opcode == "add" || instruction.opcode == "sub" ||
                     instruction.opcode == "mul" || instruction.opcode == "fma";
  if (plain && instruction.has("f32") && instruction.has("ftz")) return "flushed denormals";
  return approximation(instruction, products);
}

Classes classes_of(const PtxModule& module) {
  Classes found;
  for (const PtxFunction& function : module.functions) {
    const Products products(function);
    const NarrowChains chains(function);
    for (const PtxInstruction& instruction : function.instructions) {
      if (std::string name = precision_class(instruction, products, chains); !name.empty())
        found.insert(std::move(name));
    }
  }
  return found;
}

/// Are products of factors of this type exact? Where all matrices are of it (not vectors: scales,
/// biases), tensor cores that add in single precision round no earlier than any other order of
/// sums.
bool multiplies_exactly(const KernelSpec& spec, DType dtype) {
  bool any = false;
  for (const ArgSpec& arg : spec.io.args) {
    if (!arg.tensor || arg.role == ArgRole::output || !info(arg.tensor->dtype).is_float) continue;
    constexpr std::size_t kVector = 1;
    if (arg.tensor->dtype == dtype) any = true;
    if (arg.tensor->dtype != dtype && arg.tensor->shape.size() > kVector) return false;
  }
  return any;
}

/// What the spec allows: the types of its tensors may be stored, the types of its work bound and
/// those that all its matrices have may be multiplied, a declared use of special functions may be
/// met by approximations, and its own options hold.
Classes contract(const KernelSpec& spec) {
  Classes allowed;
  const bool wide = std::ranges::any_of(spec.io.args, [](const ArgSpec& arg) {
    return arg.role != ArgRole::input && arg.tensor && arg.tensor->dtype == DType::f64;
  });
  if (!wide) allowed.insert("rounding to float32");
  for (const ArgSpec& arg : spec.io.args) {
    const DType dtype = arg.tensor ? arg.tensor->dtype : DType::f32;
    if (dtype == DType::f16) allowed.insert("rounding to float16");
    if (dtype == DType::bf16) allowed.insert("rounding to bfloat16");
    if (dtype == DType::i8 || dtype == DType::u8) allowed.insert("int8");
  }
  if (multiplies_exactly(spec, DType::f16)) allowed.insert("float16");
  if (multiplies_exactly(spec, DType::bf16)) allowed.insert("bfloat16");
  const bool real = std::ranges::any_of(spec.io.args, [](const ArgSpec& arg) {
    return arg.tensor && info(arg.tensor->dtype).is_float;
  });
  if (!real) allowed.merge(Classes{"int8", "int4"});  // exact: there is nothing that they round
  for (const auto& [type, amount] : spec.bound.flops) {
    allowed.insert(type);
    if (type == "float16" || type == "bfloat16") allowed.insert("rounding to " + type);
    if (type == "sfu")
      allowed.merge(Classes{"approximate division", "approximate sin", "approximate cos",
                            "approximate tanh", "approximate sqrt", "approximate exp",
                            "approximate log"});
  }
  for (const std::string& option : spec.compiler_options) {
    const bool fast = option.ends_with("use_fast_math");
    if (fast || option.ends_with("ftz=true")) allowed.insert("flushed denormals");
    if (fast)
      allowed.merge(Classes{"approximate division", "approximate sin", "approximate cos",
                            "approximate tanh", "approximate sqrt", "approximate exp",
                            "approximate log"});
  }
  return allowed;
}

/// A candidate may not be faster by being less precise than the contract: every class of reduced
/// precision in its PTX must be declared by the spec or used by the spec's own kernel.
class PrecisionGate final : public CodeGate {
 public:
  PrecisionGate()
      : CodeGate({.name = "instruction_precision",
                  .phase = GatePhase::code,
                  .help = "the loaded PTX computes in the precision that the spec declares",
                  .former = "s5_precision"}) {}

  [[nodiscard]] GateResult judge(const GateSubject& subject) const override {
    if (subject.ptx == nullptr) return not_run("there is no PTX");
    Classes allowed = contract(*subject.spec);
    if (subject.baseline_ptx != nullptr) allowed.merge(classes_of(*subject.baseline_ptx));
    std::string used;
    for (const std::string& name : classes_of(*subject.ptx)) {
      if (!allowed.contains(name)) {
        return fail(
            name + ", which neither the contract nor the baseline has" +
            (name.starts_with("approximate") ? " (a spec allows it by sfu in bound.flops)" : ""));
      }
      used += (used.empty() ? "" : ", ") + name;
    }
    return pass(used);
  }
};

}  // namespace

void register_gate_instruction_precision(GateTable& table) {
  table.add(std::make_unique<PrecisionGate>());
}

}  // namespace warpath::cuda
