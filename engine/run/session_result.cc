#include "engine/run/session_result.h"

#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {

using nlohmann::json;

int SessionResult::exit_code() const {
  if (!baseline_ok || !measured) return static_cast<int>(ErrorCode::environment);
  return improved ? 0 : 2;
}

json to_json(const SessionResult& r) {
  json statuses = json::object();
  for (std::size_t i = 0; i < kStatusNames.size(); ++i)
    statuses[std::string(kStatusNames[i])] = r.by_status[i];
  json dismissed = json::array();
  for (const Dismissal& d : r.dismissed) {
    dismissed.push_back({{"key", d.key.hex()},
                         {"move", d.move},
                         {"status", name(d.status)},
                         {"gate", d.gate},
                         {"detail", d.detail},
                         {"searched_speedup", number_to_json(d.searched_speedup)}});
  }
  return {{"name", r.name},
          {"runner", r.runner},
          {"device", r.device},
          {"baseline_ok", r.baseline_ok},
          {"baseline_ms", number_to_json(r.baseline_ms)},
          {"best_ms", r.measured ? number_to_json(r.best_ms) : json()},
          {"speedup", r.measured ? number_to_json(r.speedup) : json()},
          {"speedup_interval", r.measured && r.speedup_interval
                                   ? json{number_to_json(r.speedup_interval->low),
                                          number_to_json(r.speedup_interval->high)}
                                   : json()},
          {"searched_speedup", number_to_json(r.searched_speedup)},
          {"finalists", r.finalists},
          {"measured", r.measured},
          {"dismissed", std::move(dismissed)},
          {"left_out", r.left_out},
          {"improved", r.improved},
          {"best_key", r.best_key.hex()},
          {"builds", r.builds},
          {"by_status", std::move(statuses)},
          {"verdict",
           {{"passed", r.verdict.passed()},
            {"summary", r.verdict.summary()},
            {"gates", to_json(r.verdict)}}},
          {"fingerprint", r.fingerprint.hex()},
          {"seed", r.seed},
          {"seconds", number_to_json(r.seconds)},
          {"stop_reason", r.stop_reason},
          {"interrupted", r.interrupted}};
}

}  // namespace warpath
