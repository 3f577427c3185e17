#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/plugin/outcome.h"

namespace warpath {

/// `outcome` with invalid UTF-8 in its texts replaced (compilers print anything), which makes it
/// survive a round trip.
[[nodiscard]] Outcome recordable(Outcome outcome);

/// Lossless for recordable outcomes, including non-finite numbers: outcome_from_json(to_json(o)) ==
/// o.
[[nodiscard]] nlohmann::json to_json(const Outcome& outcome);
/// Throws Error(bad_input) "PLACE/timings/0/launch: got ..., expected ...".
[[nodiscard]] Outcome outcome_from_json(const nlohmann::json& json, std::string_view place);

[[nodiscard]] nlohmann::json to_json(const Verdict& verdict);

}  // namespace warpath
