#pragma once

#include <string>

#include "experiments/console/document.h"
#include "experiments/study/study_tables.h"

namespace warpath {

/// Tables over all spaces and of each, and as HTML bars and curves.
[[nodiscard]] Document study_page(const Study& study, const StudyTable& table);
[[nodiscard]] std::string curves_csv(const StudyTable& table);
/// One JSON row per strategy and space.
[[nodiscard]] std::string score_json(const Study& study, const StudyTable& table);

}  // namespace warpath
