#pragma once

#include "engine/plugin/options_io.h"
#include "engine/search/search.h"

namespace warpath::test {

/// The options of the search and of its plug-ins, those of the group `search` as `changed` says.
inline Options search_options(const nlohmann::json& changed = nlohmann::json::object()) {
  Options all;
  add_search_options(all);
  return overlay_options(all, {{"search", changed}}, "test");
}

}  // namespace warpath::test
