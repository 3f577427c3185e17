#pragma once

#include <map>
#include <string_view>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// What a module does with a variable in global or constant memory.
struct SymbolUse {
  bool loaded = false;  ///< by name
  bool stored = false;  ///< written by name, or through a register that may hold its address
  bool address_taken = false;
  bool escapes = false;  ///< the address is stored, returned or handed to a function
};

/// Uses of all global and constant variables of `module`, those declared inside functions included.
/// Addresses are followed through registers without regard to order: whatever may hold an address
/// counts as holding it. Linear in the size of the module.
[[nodiscard]] std::map<std::string_view, SymbolUse> symbol_uses(const PtxModule& module);

}  // namespace warpath::cuda
