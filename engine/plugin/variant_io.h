#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "engine/plugin/move.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

/// All of these are lossless, and throw Error(bad_input) "PLACE/key: ..." on reading. A text that
/// is not valid UTF-8 (a source in an old encoding) is written as {"latin1": TEXT}: each of its
/// bytes as the code point of the same number.
[[nodiscard]] nlohmann::json to_json(const VariantPatch& patch);
[[nodiscard]] VariantPatch patch_from_json(const nlohmann::json& json, std::string_view place);
/// A variant without scratch buffers or steps has no keys for them.
[[nodiscard]] nlohmann::json to_json(const Variant& variant);
[[nodiscard]] Variant variant_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const LaunchPlan& plan);
[[nodiscard]] LaunchPlan launch_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const MoveInstance& instance);
[[nodiscard]] MoveInstance instance_from_json(const nlohmann::json& json, std::string_view place);
[[nodiscard]] nlohmann::json to_json(const Proposal& proposal);
[[nodiscard]] Proposal proposal_from_json(const nlohmann::json& json, std::string_view place);

}  // namespace warpath
