#include "engine/plugin/device_io.h"

#include <nlohmann/json.hpp>

#include "engine/plugin/device_fields.h"

namespace warpath {

nlohmann::json to_json(const DeviceFacts& facts) {
  return Codec<DeviceFacts>::write(facts);
}

DeviceFacts device_from_json(const JsonCursor& cursor) {
  DeviceFacts out;
  Codec<DeviceFacts>::read(cursor, out);
  return out;
}

std::optional<DeviceFacts> recorded_device(const std::filesystem::path& run_folder) {
  const std::string file = (run_folder / "device.json").string();
  if (!std::filesystem::exists(file)) return std::nullopt;
  const nlohmann::json document = read_json_file(file);
  return device_from_json(JsonCursor(document, file));
}

}  // namespace warpath
