#pragma once

#include "experiments/console/document.h"
#include "experiments/report/run_material.h"

namespace warpath {

/// Explains a recorded run: the result, the moves that led to the best kernel and those that gained
/// nothing, other ways to it, the value of each move and its evidence in the code, the bottleneck
/// before and after, the complete difference to the baseline; what was tried, what was refused,
/// where the seconds went, where it took place. An attribution of another kernel is mentioned and
/// ignored.
[[nodiscard]] Document run_report(const RunMaterial& material);
/// The same without the result at its top, which a page shows otherwise.
[[nodiscard]] Document run_sections(const RunMaterial& material);

}  // namespace warpath
