#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/log/event_log.h"

namespace warpath::test {

/// What the log of a run says of the search, an event a line: times, sessions and the run's own
/// number left out.
inline std::vector<std::string> log_story(const std::filesystem::path& folder) {
  EventReader reader(folder / "events.jsonl");
  std::vector<std::string> out;
  while (const auto object = reader.next()) {
    auto json = nlohmann::json::parse(*object);
    for (const char* key : {"at", "seconds", "run_id"}) json.erase(key);
    if (json.contains("outcome")) json["outcome"].erase("run_seconds");
    if (json["type"] != "session") out.push_back(json.dump());
  }
  return out;
}

}  // namespace warpath::test
