#include "runners/cuda/code/ptx_facts.h"

#include <algorithm>
#include <array>

namespace warpath::cuda {
namespace {

struct OpcodeClass {
  std::string_view opcode;
  std::string_view name;
};
/// Opcodes whose class does not depend on a type or a state space.
constexpr std::array<OpcodeClass, 41> kByOpcode{{
    {"ex2", "sfu"},
    {"lg2", "sfu"},
    {"sin", "sfu"},
    {"cos", "sfu"},
    {"tanh", "sfu"},
    {"rcp", "sfu"},
    {"rsqrt", "sfu"},
    {"sqrt", "sfu"},
    {"mma", "tensor"},
    {"wmma", "tensor"},
    {"wgmma", "tensor"},
    {"tcgen05", "tensor"},
    {"dp4a", "int32"},
    {"dp2a", "int32"},
    {"cvt", "convert"},
    {"setp", "compare"},
    {"set", "compare"},
    {"selp", "compare"},
    {"slct", "compare"},
    {"testp", "compare"},
    {"atom", "atomic"},
    {"red", "atomic"},
    {"bar", "barrier"},
    {"barrier", "barrier"},
    {"mbarrier", "barrier"},
    {"shfl", "shuffle"},
    {"vote", "vote"},
    {"match", "vote"},
    {"redux", "vote"},
    {"activemask", "vote"},
    {"elect", "vote"},
    {"bra", "branch"},
    {"brx", "branch"},
    {"call", "branch"},
    {"ret", "branch"},
    {"exit", "branch"},
    {"membar", "fence"},
    {"fence", "fence"},
    {"cp", "async_copy"},
    {"ldmatrix", "load_shared"},
    {"stmatrix", "store_shared"},
}};
constexpr std::array<std::string_view, 5> kAddressSpaces{"global", "shared", "local", "const",
                                                         "param"};

/// "shared" of "shared::cta"; empty if the instruction names no state space (generic addressing).
std::string_view space_of(const PtxInstruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    const std::string_view name = modifier.substr(0, modifier.find(':'));
    if (std::ranges::find(kAddressSpaces, name) != kAddressSpaces.end()) return name;
  }
  return {};
}

std::string_view memory_class(const PtxInstruction& instruction, bool load) {
  const std::string_view space = space_of(instruction);
  if (space == "shared") return load ? "load_shared" : "store_shared";
  if (space == "local") return load ? "load_local" : "store_local";
  if (space == "const" || space == "param") return load ? "load_constant" : "other";
  return load ? "load_global" : "store_global";
}

std::string_view arithmetic_class(const PtxInstruction& instruction) {
  for (const std::string_view type : instruction.modifiers) {
    if (type == "f64") return "fp64";
    if (type == "f32") return "fp32";
    if (type == "f16" || type == "f16x2") return "fp16";
    if (type == "bf16" || type == "bf16x2") return "bf16";
    if (type == "u64" || type == "s64" || type == "b64") return "int64";
    if (type == "u32" || type == "s32" || type == "b32" || type == "u16" || type == "s16" ||
        type == "b16")
      return "int32";
  }
  return "other";
}

void count(const PtxInstruction& instruction, PtxFacts& facts) {
  const std::string_view name = instruction_class(instruction);
  ++facts.instructions.try_emplace(std::string(name), 0).first->second;
  ++facts.total;
  const std::int64_t bytes = access_bytes(instruction);
  if (name == "load_global") facts.global_load_bytes += bytes;
  if (name == "store_global") facts.global_store_bytes += bytes;
  if (name == "load_global" && bytes >= 8) ++facts.vector_loads;
}

void add_variables(const std::vector<PtxVariable>& variables, PtxFacts& facts) {
  for (const PtxVariable& variable : variables) {
    if (variable.space == "shared") facts.static_smem_bytes += variable.size_bytes;
    if (variable.space == "local") facts.local_bytes += variable.size_bytes;
  }
}

}  // namespace

std::string_view instruction_class(const PtxInstruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "ld" || opcode == "ldu") return memory_class(instruction, true);
  if (opcode == "st") return memory_class(instruction, false);
  const auto found = std::ranges::find(kByOpcode, opcode, &OpcodeClass::opcode);
  return found != kByOpcode.end() ? found->name : arithmetic_class(instruction);
}

std::int64_t access_bytes(const PtxInstruction& instruction) {
  std::int64_t lanes = 1;
  std::int64_t bytes = 0;
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier == "v2" || modifier == "v4" || modifier == "v8") lanes = modifier[1] - '0';
    if (const std::int64_t size = ptx_type_bytes(modifier); size > 0) bytes = size;
  }
  return lanes * bytes;
}

PtxFacts ptx_facts(const PtxModule& module, std::string_view entry) {
  PtxFacts facts;
  add_variables(module.variables, facts);
  for (const PtxFunction& function : module.functions) {
    if (!function.has_body || (function.is_entry && function.name != entry)) continue;
    add_variables(function.variables, facts);
    facts.virtual_registers += function.registers;
    for (const PtxInstruction& instruction : function.instructions) count(instruction, facts);
  }
  return facts;
}

}  // namespace warpath::cuda
