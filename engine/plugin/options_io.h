#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/options.h"

namespace warpath {

/// One row of `warpath options`.
struct OptionRow {
  std::string group, key, flag, type, default_value, range, help, source;
};
[[nodiscard]] std::vector<OptionRow> option_rows();

/// {"search": {...}, "run": {...}, ...}, every member present.
[[nodiscard]] nlohmann::json to_json(const Options& options);

/// Overlays `overlay` (same shape, any subset) on `base`. Throws Error(bad_input) as
/// "PLACE/search/c_puct: got ..., expected ..." for a key that is unknown, mistyped, lossy or out
/// of range.
[[nodiscard]] Options overlay_options(const Options& base,
                                      const nlohmann::json& overlay,
                                      std::string_view place);

/// Overlays one "group.key" = `text` as given on the command line; `place` is the flag ("--set
/// search.c_puct", "--seed").
[[nodiscard]] Options set_option(const Options& base,
                                 std::string_view dotted_key,
                                 std::string_view text,
                                 std::string_view place);

}  // namespace warpath
