// config.json, best_summary.json and the identities of a run (engine/run/session.h).
#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"
#include "engine/plugin/options_io.h"
#include "engine/plugin/outcome_io.h"
#include "engine/run/run_folder.h"
#include "engine/run/session.h"

namespace warpath {

using nlohmann::json;

int SessionResult::exit_code() const {
  if (!baseline_ok || !measured) return static_cast<int>(ErrorCode::environment);
  return improved ? 0 : 2;
}

json to_json(const SessionResult& r) {
  json statuses = json::object();
  for (std::size_t i = 0; i < kStatusNames.size(); ++i) statuses[std::string(kStatusNames[i])] = r.by_status[i];
  json dismissed = json::array();
  for (const Dismissal& d : r.dismissed) {
    dismissed.push_back({{"key", d.key.hex()}, {"move", d.move}, {"status", name(d.status)}, {"gate", d.gate}, {"detail", d.detail}, {"searched_speedup", number_to_json(d.searched_speedup)}});
  }
  return {{"name", r.name},
          {"runner", r.runner},
          {"device", r.device},
          {"baseline_ok", r.baseline_ok},
          {"baseline_ms", number_to_json(r.baseline_ms)},
          {"best_ms", r.measured ? number_to_json(r.best_ms) : json()},
          {"speedup", r.measured ? number_to_json(r.speedup) : json()},
          {"searched_speedup", number_to_json(r.searched_speedup)},
          {"finalists", r.finalists},
          {"measured", r.measured},
          {"dismissed", std::move(dismissed)},
          {"left_out", r.left_out},
          {"improved", r.improved},
          {"best_key", r.best_key.hex()},
          {"builds", r.builds},
          {"by_status", std::move(statuses)},
          {"verdict", {{"passed", r.verdict.passed()}, {"summary", r.verdict.summary()}, {"gates", to_json(r.verdict)}}},
          {"fingerprint", r.fingerprint.hex()},
          {"seed", r.seed},
          {"seconds", number_to_json(r.seconds)},
          {"stop_reason", r.stop_reason},
          {"interrupted", r.interrupted}};
}

Hash128 config_hash(const Options& options, std::string_view runner_text) {
  json shaping = to_json(options);
  shaping.erase("record");
  shaping.erase("llm");
  shaping["run"].erase("budget_builds");
  shaping["run"].erase("budget_seconds");
  shaping["run"].erase("finalists");
  shaping["run"].erase("final_candidates");
  shaping["search"].erase("in_flight");
  shaping["cuda"].erase("no_wait");
  return Hasher().add(shaping.dump()).add(runner_text).digest();
}

std::optional<RecordedConfig> recorded_config(const std::filesystem::path& folder) {
  if (!RunFolder::has_run(folder)) return std::nullopt;
  const std::string place = (folder / "config.json").string();
  const json document = read_json_file(place);
  const JsonCursor cursor(document, place);
  require_only(cursor, {"runner", "options", "hash"});
  const JsonCursor options = cursor.at("options");
  return RecordedConfig{.options = overlay_options({}, options.value(), options.place()), .runner_text = cursor.at("runner").text()};
}

}  // namespace warpath
