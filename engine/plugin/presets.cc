#include "engine/plugin/presets.h"

#include <string>

#include "engine/base/error.h"

namespace warpath {

Options with_search_preset(Options base, std::string_view preset, std::string_view place) {
  SearchOptions& s = base.search;
  if (preset == "default") return base;
  if (preset == "hillclimb") {
    s.strategy = "descent";
    s.initial = 1;
    s.escape = 0;
  } else if (preset == "axis3") {
    s.strategy = "beam";
    s.beam_width = 3;
  } else if (preset == "mcgs") {
    s.strategy = "mcgs";
  } else if (preset == "pilot") {
    s.strategy = "best_first";
    s.epsilon = 0.2;
  } else {
    std::string names;
    for (const SearchPreset& p : kSearchPresets)
      names += (names.empty() ? "" : ", ") + std::string(p.name);
    throw bad_input(place, preset, "a preset: one of " + names);
  }
  return base;
}

}  // namespace warpath
