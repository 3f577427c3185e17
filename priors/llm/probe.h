#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "priors/llm/budget.h"
#include "priors/llm/profile.h"
#include "priors/llm/redact.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

/// An observed property of a server.
struct Probed {
  enum class State : std::uint8_t {
    yes,
    no,      ///< absent but not required
    broken,  ///< no questions are possible
    untried,
  };
  std::string what;
  State state = State::untried;
  std::string detail;  ///< one line, redacted
};

struct ProbeReport {
  std::vector<Probed> lines;
  /// of the profile, corrected by what was observed
  std::set<std::string, std::less<>> capabilities;
  bool usable = false;  ///< a question was answered
};

/// Asks small questions to find out whether the server is reachable, accepts the key, answers,
/// counts tokens, follows a schema, streams. One call each if nothing fails, one more for each
/// refused option; nothing is retried. A call that `budget` does not allow is skipped and reported.
/// Blocking, within the profile's limits for each call.
[[nodiscard]] ProbeReport probe(const Profile& profile,
                                const std::string& key,
                                Transport& transport,
                                Budget& budget,
                                const Redactor& redactor);

}  // namespace warpath::llm
