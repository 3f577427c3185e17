#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "priors/llm/model_call.h"
#include "priors/llm/redact.h"
#include "priors/llm/transport.h"

namespace warpath::llm {

/// One attempt at a call, as recorded.
struct RecordedAttempt {
  HttpResult result;
  Usage usage;  ///< as charged: the server's, otherwise an estimate
  double cost = 0;
  std::string outcome;  ///< "complete", "retry", ...
};

/// Recorded calls, one JSON object per line; docs/llm.md shows them. The key of a call is the hash
/// of its canonical request (model, messages, schema, sampling) and the number of earlier identical
/// requests. A call is recorded before it is sent, so that one whose end a killed process did not
/// see is known as lost and is not paid for twice. Everything is redacted before it is written. Not
/// thread-safe.
class Cassette {
 public:
  enum class Mode : std::uint8_t {
    live,            ///< no file
    record,          ///< overwritten
    replay,          ///< an unknown call is an error
    replay_or_live,  ///< unknown calls are made, and appended
  };
  /// Throws Error(bad_input) with `place` if `text` names no mode (docs/llm.md).
  [[nodiscard]] static Mode parse_mode(std::string_view text, std::string_view place);

  /// Reads `file` according to `mode`. Drops an incomplete last line. Throws Error(bad_input)
  /// naming file and line for other damage, or if there is nothing to replay; Error(environment) if
  /// the file cannot be written.
  Cassette(std::filesystem::path file, Mode mode, Redactor redactor);

  using Key = std::pair<Hash128, std::uint64_t>;  ///< canonical request, occurrence
  [[nodiscard]] Mode mode() const { return mode_; }
  /// The key under which to look up and record a call: `key`, unless it is unknown, unknown calls
  /// may be made, and the file has an unused call of the same label. A resumed run, whose prompt
  /// may contain more by now, thus uses what it has paid for.
  [[nodiscard]] Key resolve(const Key& key, const std::string& label);
  /// Recorded attempts of a call, in order; empty if there are none.
  [[nodiscard]] const std::vector<RecordedAttempt>& attempts(const Key& key) const;
  /// True if an earlier process sent an attempt and did not see its end.
  [[nodiscard]] bool lost(const Key& key) const;
  /// Total cost according to the file, and the worst case of lost calls.
  struct Past {
    Usage usage;
    double cost = 0;
  };
  [[nodiscard]] std::vector<Past> past() const;

  /// Call before an attempt is sent. `worst`: its maximum cost.
  void begin(const Key& key,
             int attempt,
             const std::string& label,
             const nlohmann::json& request,
             const Usage& worst,
             double worst_cost);
  void end(const Key& key, int attempt, const RecordedAttempt& recorded);

 private:
  struct Call {
    std::vector<RecordedAttempt> attempts;
    std::map<int, Past> begun;  // unfinished, by attempt
  };
  void read();
  void append(const nlohmann::json& line);

  std::filesystem::path file_;
  Mode mode_;
  Redactor redactor_;
  std::map<Key, Call> calls_;
  std::map<std::string, Key> labels_;  // of earlier processes, unused
  std::ofstream out_;
};

}  // namespace warpath::llm
