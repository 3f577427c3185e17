#include "engine/run/session_result.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/run/session_result_fields.h"

namespace warpath {

int SessionResult::exit_code() const {
  if (!baseline_ok || !measured) return static_cast<int>(ErrorCode::environment);
  return improved ? 0 : 2;
}

nlohmann::json to_json(const SessionResult& result) {
  return Codec<SessionResult>::write(result);
}

}  // namespace warpath
