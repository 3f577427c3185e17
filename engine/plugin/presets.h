#pragma once

#include <string_view>

#include "engine/plugin/options.h"

namespace warpath {

/// Named search options that imitate earlier systems, on the same graph and budget.
struct SearchPreset {
  std::string_view name;
  std::string_view help;
};
inline constexpr SearchPreset kSearchPresets[] = {
    {"default", "the options as they are"},
    {"hillclimb", "one incumbent, a neighbour of it at a time, never a worse one"},
    {"axis3", "a beam of three, one tunable at a time"},
    {"mcgs", "graph search by PUCT with widening as an arm, values mixed from mean and best"},
    {"pilot", "the best so far is refined, one proposal in five starts elsewhere"},
};

/// `base` with the preset's changes. Throws Error(bad_input) with `place`, naming the known
/// presets, if there is none of that name.
[[nodiscard]] Options with_search_preset(Options base,
                                         std::string_view preset,
                                         std::string_view place);

}  // namespace warpath
