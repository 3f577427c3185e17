#include "engine/plugin/device_io.h"

#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"

namespace warpath {

nlohmann::json to_json(const DeviceFacts& f) {
  return {{"runner", f.runner},
          {"name", valid_utf8(f.name)},
          {"arch", f.arch},
          {"multiprocessors", f.multiprocessors},
          {"max_threads_per_block", f.max_threads_per_block},
          {"max_smem_per_block_bytes", f.max_smem_per_block_bytes},
          {"is_gpu", f.is_gpu}};
}

DeviceFacts device_from_json(const JsonCursor& c) {
  require_only(c, {"runner", "name", "arch", "multiprocessors", "max_threads_per_block",
                   "max_smem_per_block_bytes", "is_gpu"});
  return {.runner = c.at("runner").text(),
          .name = c.at("name").text(),
          .arch = c.at("arch").text(),
          .multiprocessors = static_cast<int>(c.at("multiprocessors").integer()),
          .max_threads_per_block = static_cast<int>(c.at("max_threads_per_block").integer()),
          .max_smem_per_block_bytes = c.at("max_smem_per_block_bytes").integer(),
          .is_gpu = c.at("is_gpu").boolean()};
}

std::optional<DeviceFacts> recorded_device(const std::filesystem::path& run_folder) {
  const std::string file = (run_folder / "device.json").string();
  if (!std::filesystem::exists(file)) return std::nullopt;
  const nlohmann::json document = read_json_file(file);
  return device_from_json(JsonCursor(document, file));
}

}  // namespace warpath
