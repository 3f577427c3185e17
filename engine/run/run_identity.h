#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/run/events.h"
#include "engine/run/run_folder.h"
#include "engine/spec/spec.h"

namespace warpath {

/// What a run is, whatever happens in it: the files that say so beside its log, and what a log must
/// begin with to be this run's.
class RunIdentity {
 public:
  /// Everything referred to outlives the identity.
  struct Parts {
    const KernelSpec& spec;
    const Options& options;
    const DeviceFacts& device;
    const std::string& runner_text;
    const RunFolder& folder;
    bool sync = true;  ///< files reach the disk before a call returns
  };
  explicit RunIdentity(const Parts& parts) : parts_(parts) {}

  /// First event of a new log.
  [[nodiscard]] RunEvent event() const;
  /// All files of a run that begins; `more`: the texts of others by name.
  void write(const RunEvent& run,
             const std::string& environment_json,
             const std::map<std::string, std::string>& more) const;
  /// config.json: budgets may change from session to session.
  void write_config(const Hash128& hash) const;
  /// Writes anew what a fault damaged or took; `note` is told of each.
  void mend(const std::function<void(std::string_view)>& note) const;
  /// Throws Error(bad_input) naming what differs if the log at `path` begins with another run.
  void refuse_other(const RunEvent& recorded, const std::filesystem::path& path) const;

 private:
  void write_file(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string changed_option() const;

  const Parts parts_;
};

/// The options that the run in `folder` was started with (config.json), for `--resume` without
/// repeating the flags, of the groups that `groups` has; nullopt if there is no run. Throws
/// Error(bad_input) naming file and key.
struct RecordedConfig {
  Options options;
  std::string runner_text;
};
[[nodiscard]] std::optional<RecordedConfig> recorded_config(const std::filesystem::path& folder,
                                                            const Options& groups);

/// Hash of every option that shapes the graph (OptionsOf, OptionText::shapes).
[[nodiscard]] Hash128 config_hash(const Options& options, std::string_view runner_text);

}  // namespace warpath
