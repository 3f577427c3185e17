#pragma once

#include "moves/syntax/unit.h"

namespace warpath::model {

/// What inline assembly does beyond writing its outputs.
enum class AssemblyEffect : std::uint8_t {
  none,     ///< arithmetic on its operands: the outputs are values of the inputs
  joins,    ///< it also waits for other threads, exchanges values with them, or orders accesses
  unknown,  ///< it reaches memory, jumps, or is not understood
};

/// By the instructions of its text (PTX ISA, "Instruction Set"), the constraints of its operands
/// and its clobbers; what is not known is unknown. `stmt` is an assembly statement of the unit.
[[nodiscard]] AssemblyEffect effect_of_assembly(const Unit& unit, const Stmt& stmt);

}  // namespace warpath::model
