#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "moves/contract/source_contract.h"

namespace warpath {

/// The assumptions as lines of text, without the spec's own; empty if there are none.
[[nodiscard]] std::vector<std::string> contract_lines(const SourceContract& contract);
/// "N = 32768; x, y aligned to 16 bytes and apart; sm_90a": the additional assumptions in one
/// line; empty if there are none.
[[nodiscard]] std::string contract_summary(const SourceContract& contract);
/// "sm_90", "sm_90a" if no other architecture will do; empty if any will.
[[nodiscard]] std::string contract_architecture(const SourceContract& contract);

/// The variant's source for shipping: the measured text unchanged, preceded by the contract as a
/// comment, the macros it is compiled with and a check of the architecture, followed by `const
/// char* NAME_contract(arguments)`, a host function that returns null for arguments within the
/// contract, otherwise what is wrong. The kernel's machine code is the one that was measured.
[[nodiscard]] std::string shipped_source(const KernelSpec& spec,
                                         const Variant& variant,
                                         const SourceContract& contract);

}  // namespace warpath
