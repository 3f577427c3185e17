#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/plugin/proposal.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

/// All conversions are lossless; reading throws Error(bad_input) "PLACE/key: ...". A text that is
/// not valid UTF-8 (a source in an old encoding) is written as {"latin1": TEXT}, each byte as the
/// code point of the same number.
[[nodiscard]] nlohmann::json to_json(const VariantPatch& patch);
[[nodiscard]] VariantPatch patch_from_json(const nlohmann::json& json, std::string_view place);
/// Scratch buffers and steps have no keys if there are none.
[[nodiscard]] nlohmann::json to_json(const Variant& variant);
[[nodiscard]] Variant variant_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const LaunchPlan& plan);
[[nodiscard]] LaunchPlan launch_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const MoveInstance& instance);
[[nodiscard]] MoveInstance instance_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const Proposal& proposal);
[[nodiscard]] Proposal proposal_from_json(const nlohmann::json& json, std::string_view place);

}  // namespace warpath
