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

#include "engine/plugin/runner.h"
#include "engine/run/event_log.h"

namespace warpath {

/// Where evaluations took place, and of what: two that differ in any of it have nothing to say to
/// each other.
struct EvaluationScene {
  std::string runner;  ///< as --runner had it, resolved
  /// options of the runner that are not their defaults, as JSON; the root seed
  std::string settings;
  /// the spec as it was loaded, and as the runner substituted it
  Hash128 loaded, searched;
  std::string substitute;  ///< the latter as JSON; empty: they are the same
  DeviceFacts device;
  std::string platform;        ///< Runner::platform()
  int lanes = 1;               ///< does not count
  bool only_tunables = false;  ///< does not count
  [[nodiscard]] Hash128 id() const;
};

/// Evaluations with their outcomes, a JSON object a line under a chained checksum
/// (engine/run/event_log.h); docs/llm.md has the format. An evaluation is known by its scene, the
/// variant's key, the stage, the seed of its inputs and the time that it raced. Written twice, the
/// later one counts: it is the one that a campaign went on with. Any thread.
class EvaluationLedger {
 public:
  enum class Mode : std::uint8_t {
    record,  ///< everything is evaluated and written
    replay,  ///< nothing is evaluated; what is not there ends the campaign
    /// good outcomes of searches are served, everything else is evaluated and written
    replay_or_live,
  };
  /// Throws Error(bad_input) with `place` for another name than those of docs/llm.md.
  [[nodiscard]] static Mode parse_mode(std::string_view text, std::string_view place);

  /// Reads `file`; writes nothing. Throws Error(bad_input) naming file and line where it is
  /// damaged, or if there is nothing to replay.
  EvaluationLedger(std::filesystem::path file, Mode mode);
  ~EvaluationLedger();
  EvaluationLedger(const EvaluationLedger&) = delete;
  EvaluationLedger& operator=(const EvaluationLedger&) = delete;

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// The one scene of this spec, as loaded or as searched. An empty runner or `settings` are any.
  /// Throws Error(bad_input) if there is none, or more than one.
  [[nodiscard]] const EvaluationScene& scene(const Hash128& spec,
                                             const std::string& runner,
                                             const std::optional<std::string>& settings) const;
  [[nodiscard]] std::optional<Outcome> find(const Hash128& scene, const RunRequest& request) const;
  /// What is known of a request that is not there: one line.
  [[nodiscard]] std::string nearest(const Hash128& scene, const RunRequest& request) const;
  /// Takes the file for writing, until the ledger's end. Throws Error(environment) when the disk
  /// does, Error(bad_input) if another process writes it or has since it was read.
  void open();
  /// Throws Error(environment) when the disk does; so does `refuse`. Both want `open` first.
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
  std::uintmax_t bytes_ = 0;  // as read, with a torn last line
  int lock_ = -1;
  std::unique_ptr<EventWriter> out_;
};

}  // namespace warpath
