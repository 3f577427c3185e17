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

/// What a server was seen to do, or not.
struct Probed {
  enum class State : std::uint8_t {
    yes,
    no,      ///< it can be done without
    broken,  ///< nothing can be asked
    untried,
  };
  std::string what;
  State state = State::untried;
  std::string detail;  ///< one line, redacted
};

struct ProbeReport {
  std::vector<Probed> lines;
  /// of the profile, as they were seen to be where they were tried
  std::set<std::string, std::less<>> capabilities;
  bool usable = false;  ///< a question was answered
};

/// Asks small questions: is the server there, does it take the key, does it answer, count tokens,
/// keep to a schema, stream? One call each where nothing goes wrong, one more for an option that it
/// refuses; nothing is tried twice. A call that `budget` does not allow is not made, and said so.
/// Blocks, by the profile's limits for each call.
[[nodiscard]] ProbeReport probe(const Profile& profile,
                                const std::string& key,
                                Transport& transport,
                                Budget& budget,
                                const Redactor& redactor);

}  // namespace warpath::llm
