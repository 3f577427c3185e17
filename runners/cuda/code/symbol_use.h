#pragma once

#include <map>
#include <string_view>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// How a module uses a variable in global or constant memory.
struct SymbolUse {
  bool loaded = false;  ///< by name
  bool stored = false;  ///< written by name, or through a register that may hold its address
  bool address_taken = false;
  bool escapes = false;  ///< its address is stored, returned or passed to a function
};

/// Uses of all global and constant variables of `module`, including those declared in functions.
/// Addresses are followed through registers ignoring order: a register that may hold an address
/// counts as holding it. Linear in the size of the module.
[[nodiscard]] std::map<std::string_view, SymbolUse> symbol_uses(const PtxModule& module);

}  // namespace warpath::cuda
