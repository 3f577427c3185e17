#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plugin/outcome.h"

namespace warpath {

/// The diagnosis of an outcome as text: a line for the gaps and their budget if known, then one for
/// each fired rule with its numbers and the moves it raises, strongest first, at most `most`. Every
/// line begins with `lead`. Empty without a diagnosis or findings.
[[nodiscard]] std::string findings_text(const Outcome& outcome,
                                        const std::string& lead = "- ",
                                        std::size_t most = 5);

/// The same as JSON: an array of {"rule", "set", "severity", "strength"}, strongest first; null
/// without a diagnosis.
[[nodiscard]] nlohmann::json findings_json(const Outcome& outcome);

/// Rules that could not be judged, one line per missing fact with the rules that need it; empty
/// without a diagnosis.
[[nodiscard]] std::string unjudged_text(const Outcome& outcome, const std::string& lead);

}  // namespace warpath
