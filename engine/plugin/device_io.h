#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/json/json_reader.h"
#include "engine/plugin/device_facts.h"

namespace warpath {

/// JSON of the device facts that moves use. Lossless.
[[nodiscard]] nlohmann::json to_json(const DeviceFacts& facts);
/// Throws Error(bad_input) naming the key.
[[nodiscard]] DeviceFacts device_from_json(const JsonCursor& cursor);
/// device.json of a run folder; nullopt if missing. Throws Error(bad_input).
[[nodiscard]] std::optional<DeviceFacts> recorded_device(const std::filesystem::path& run_folder);

}  // namespace warpath
