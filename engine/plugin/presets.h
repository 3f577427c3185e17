#pragma once

#include <string_view>

#include "engine/plugin/options.h"

namespace warpath {

/// Named search options that imitate earlier systems, on the same graph and budget.
struct SearchPreset {
  std::string_view name;
  std::string_view help;
  std::string_view options = "{}";  ///< of the group `search`, as JSON
};
inline constexpr SearchPreset kSearchPresets[] = {
    {"default", "the options as they are"},
    {"hillclimb", "one incumbent, a neighbour of it at a time, never a worse one",
     R"({"strategy": "descent", "initial": 1, "escape": 0})"},
    {"axis3", "a beam of three, one tunable at a time", R"({"strategy": "beam", "beam_width": 3})"},
    {"mcgs", "graph search by PUCT, values mixed from mean and best", R"({"strategy": "mcgs"})"},
    {"pilot", "the best so far is refined, one proposal in five starts elsewhere",
     R"({"strategy": "best_first", "epsilon": 0.2})"},
};

/// `base` with the preset's changes. Throws Error(bad_input) with `place`, naming the known
/// presets, if there is none of that name.
[[nodiscard]] Options with_search_preset(const Options& base,
                                         std::string_view preset,
                                         std::string_view place);

}  // namespace warpath
