#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/options.h"

namespace warpath {

/// Every option of the groups in `groups`, with its default.
[[nodiscard]] std::vector<OptionRow> option_rows(const Options& groups);

/// {"search": {...}, "run": {...}, ...}, every member present.
[[nodiscard]] nlohmann::json to_json(const Options& options);

/// Overlays `overlay`, {"key": value, ...}, on a group given by its parts. Throws Error(bad_input)
/// as overlay_options().
void overlay_group(const std::vector<OptionGroupRef>& parts,
                   const nlohmann::json& overlay,
                   const std::string& place);

/// One group: {"key": value, ...}, and back. Throws Error(bad_input) as overlay_options().
template <class Group>
[[nodiscard]] nlohmann::json group_to_json(const Group& group) {
  return Group::kind().to_json(&group);
}
template <class Group>
[[nodiscard]] Group group_from_json(const nlohmann::json& j, const std::string& place) {
  Group group;
  overlay_group({{&Group::kind(), &group}}, j, place);
  return group;
}

/// Overlays `overlay` (same shape, any subset) on `base`. Throws Error(bad_input) as
/// "PLACE/search/c_puct: got ..., expected ..." for a key that is unknown, mistyped, lossy or out
/// of range.
[[nodiscard]] Options overlay_options(const Options& base,
                                      const nlohmann::json& overlay,
                                      std::string_view place);

/// Sets one option "group.key" to `text` from the command line; `place`: the flag ("--set
/// search.c_puct", "--seed").
[[nodiscard]] Options set_option(const Options& base,
                                 std::string_view dotted_key,
                                 std::string_view text,
                                 std::string_view place);

}  // namespace warpath
