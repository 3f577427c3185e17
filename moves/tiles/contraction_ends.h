#pragma once

#include <string>
#include <vector>

#include "moves/tiles/contraction_axes.h"

namespace warpath {

/// Reads what is kept of the statements before the loop, and where the sum starts. Names that only
/// the old launch gives a meaning are added to `dropped`.
[[nodiscard]] bool read_prologue(const ContractionParts& parts,
                                 Contraction& out,
                                 const std::vector<AxisPart>& axes,
                                 const model::Reduction& reduction,
                                 std::vector<std::string>& dropped,
                                 std::string& why);
/// The statements after the loop.
[[nodiscard]] std::string contraction_epilogue(const ContractionParts& parts);
/// Sets output_* if the epilogue is a single store after declarations.
void read_store(const ContractionParts& parts, Contraction& out, const std::vector<AxisPart>& axes);

}  // namespace warpath
