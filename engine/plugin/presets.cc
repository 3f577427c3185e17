#include "engine/plugin/presets.h"

#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/error.h"
#include "engine/plugin/options_io.h"

namespace warpath {

Options with_search_preset(const Options& base, std::string_view preset, std::string_view place) {
  std::string names;
  for (const SearchPreset& p : kSearchPresets) {
    if (p.name == preset)
      return overlay_options(base, {{"search", nlohmann::json::parse(p.options)}}, place);
    names += (names.empty() ? "" : ", ") + std::string(p.name);
  }
  throw bad_input(place, preset, "a preset: one of " + names);
}

}  // namespace warpath
