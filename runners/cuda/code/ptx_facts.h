#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// Facts read from the PTX of one entry and the functions it may call: static instruction counts,
/// not executed ones.
struct PtxFacts {
  /// By class: fp64 fp32 fp16 bf16 int32 int64 sfu tensor convert compare load_global store_global
  /// load_shared store_shared load_local store_local load_constant atomic async_copy barrier
  /// shuffle vote branch fence other.
  std::map<std::string, std::int64_t, std::less<>> instructions;
  std::int64_t total = 0;
  std::int64_t virtual_registers = 0;
  std::int64_t static_smem_bytes = 0;
  std::int64_t local_bytes = 0;        ///< declared arrays; excludes spills, which arise later
  std::int64_t vector_loads = 0;       ///< of 8 bytes or more per thread
  std::int64_t global_load_bytes = 0;  ///< sum over the load instructions
  std::int64_t global_store_bytes = 0;
};

/// Class of an instruction: a key of PtxFacts::instructions.
[[nodiscard]] std::string_view instruction_class(const PtxInstruction& instruction);

/// Bytes moved by one thread in a load or store of registers.
[[nodiscard]] std::int64_t access_bytes(const PtxInstruction& instruction);

/// Facts of all functions with a body, except entries other than `entry`.
[[nodiscard]] PtxFacts ptx_facts(const PtxModule& module, std::string_view entry);

}  // namespace warpath::cuda
