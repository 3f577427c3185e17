#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/plugin/runner.h"

namespace warpath {

/// Where and on what evaluations were made. Results from different scenes are not comparable.
struct EvaluationScene {
  std::string runner;  ///< the --runner text, resolved
  /// runner options that differ from their defaults, as JSON; the root seed
  std::string settings;
  /// the spec as loaded, and after Runner::substitute
  Hash128 loaded, searched;
  std::string substitute;  ///< the latter as JSON; empty: unchanged
  DeviceFacts device;
  std::string platform;        ///< Runner::platform()
  int lanes = 1;               ///< not part of the identity
  bool only_tunables = false;  ///< not part of the identity
  [[nodiscard]] Hash128 id() const;
};

/// Evaluations with their outcomes, one JSON object a line under a chained checksum
/// (engine/log/event_log.h); docs/run-folder.md has the format. The key of an evaluation is its
/// scene, the variant's key, the stage, the seed of its inputs and the incumbent's time that it
/// raced. Of two entries with the same key the later one, which the campaign went on with, counts.
/// Thread-safe.
class EvaluationLedger {
 public:
  enum class Mode : std::uint8_t {
    record,  ///< evaluate everything and record it
    replay,  ///< evaluate nothing; a missing entry ends the campaign
    /// serve good outcomes of searches, evaluate and record everything else
    replay_or_live,
  };
  /// Throws Error(bad_input) with `place` if `text` names no mode.
  [[nodiscard]] static Mode parse_mode(std::string_view text, std::string_view place);

  /// Reads `file` and writes nothing. Throws Error(bad_input) naming file and line if it is
  /// damaged, or if it is empty in mode `replay`.
  EvaluationLedger(std::filesystem::path file, Mode mode);
  ~EvaluationLedger();
  EvaluationLedger(const EvaluationLedger&) = delete;
  EvaluationLedger& operator=(const EvaluationLedger&) = delete;

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// The only scene of this spec, as loaded or as searched. An empty runner or `settings` matches
  /// any. Throws Error(bad_input) if there is none or more than one.
  [[nodiscard]] const EvaluationScene& scene(const Hash128& spec,
                                             const std::string& runner,
                                             const std::optional<std::string>& settings) const;
  [[nodiscard]] std::optional<Outcome> find(const Hash128& scene, const RunRequest& request) const;
  /// One line on the closest entry to a missing request.
  [[nodiscard]] std::string nearest(const Hash128& scene, const RunRequest& request) const;
  /// Opens and locks the file for writing for the ledger's lifetime. Throws Error(environment) on
  /// an I/O error, Error(bad_input) if another process writes it or has written it since it was
  /// read.
  void open();
  /// Both require `open` and throw Error(environment) on an I/O error.
  void add(const EvaluationScene& scene, const RunRequest& request, const Outcome& outcome);
  void refuse(const EvaluationScene& scene, const Hash128& variant);
  [[nodiscard]] bool refused(const Hash128& scene, const Hash128& variant) const;

 private:
  struct Entry {
    Hash128 scene, variant;
    Stage stage = Stage::screening;
    std::uint64_t seed = 0;
    double incumbent_ns = 0;
    auto operator<=>(const Entry&) const = default;
  };
  static Entry entry_of(const Hash128& scene, const RunRequest& request);
  void read();
  void read_line(const std::string& object, const std::string& place);
  void append(const EvaluationScene& scene, const nlohmann::json& line);

  std::filesystem::path file_;
  Mode mode_;
  mutable std::mutex mutex_;
  std::vector<EvaluationScene> scenes_;  // guarded by mutex_, as all below
  std::map<Entry, Outcome> outcomes_;
  std::map<std::pair<Hash128, Hash128>, bool> refused_;  // scene, variant
  LogPosition end_;
  std::uintmax_t bytes_ = 0;  // size when read, including a torn last line
  int lock_ = -1;
  std::unique_ptr<EventWriter> out_;
};

}  // namespace warpath
