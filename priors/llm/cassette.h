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

/// One attempt at a call, as it went.
struct RecordedAttempt {
  HttpResult result;
  Usage usage;  ///< that was charged: the server's, else an estimate
  double cost = 0;
  std::string outcome;  ///< "complete", "retry", ...
};

/// Recorded calls, one JSON object a line; docs/llm.md shows them. A call is known by the hash of
/// its canonical request (model, messages, schema, sampling) and by how often that request was made
/// before. What is about to be sent is written down first, so that a call that a killed process did
/// not see the end of is known as lost and is not paid for twice. Everything is redacted on its way
/// to the file. One thread only.
class Cassette {
 public:
  enum class Mode : std::uint8_t {
    live,            ///< neither read nor written
    record,          ///< written afresh
    replay,          ///< read; an unknown call is an error
    replay_or_live,  ///< read; unknown calls are made, and appended
  };
  /// Throws Error(bad_input) with `place` for another name than those of docs/llm.md.
  [[nodiscard]] static Mode parse_mode(std::string_view text, std::string_view place);

  /// Reads `file` as `mode` asks. A last line that was cut short is dropped. Throws
  /// Error(bad_input) naming file and line for other damage, or if there is nothing to replay;
  /// Error(environment) if it cannot be written.
  Cassette(std::filesystem::path file, Mode mode, Redactor redactor);

  using Key = std::pair<Hash128, std::uint64_t>;  ///< canonical request, occurrence
  [[nodiscard]] Mode mode() const { return mode_; }
  /// What a call is to be looked up and recorded under: `key`, unless it is unknown, unknown calls
  /// may be made, and the file has a call of the same label that was not taken yet. So a resumed
  /// run, whose prompt may tell more by now, takes what it has paid for.
  [[nodiscard]] Key resolve(const Key& key, const std::string& label);
  /// Attempts recorded for a call, in order; empty if there are none.
  [[nodiscard]] const std::vector<RecordedAttempt>& attempts(const Key& key) const;
  /// True if an attempt of an earlier process was sent and its end never seen.
  [[nodiscard]] bool lost(const Key& key) const;
  /// Everything that the file says was spent, and the worst case of what was lost.
  struct Past {
    Usage usage;
    double cost = 0;
  };
  [[nodiscard]] std::vector<Past> past() const;

  /// Before an attempt is sent. `worst`: what it may take.
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
    std::map<int, Past> begun;  // without an end, by attempt
  };
  void read();
  void append(const nlohmann::json& line);

  std::filesystem::path file_;
  Mode mode_;
  Redactor redactor_;
  std::map<Key, Call> calls_;
  std::map<std::string, Key> labels_;  // of earlier processes, not taken yet
  std::ofstream out_;
};

}  // namespace warpath::llm
