#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/log/events.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"

namespace warpath {

/// The identity of a run: the files beside its log that define it, and the beginning that its log
/// must have.
class RunIdentity {
 public:
  /// Referenced objects must outlive the identity.
  struct Parts {
    const KernelSpec& spec;
    const Options& options;
    const DeviceFacts& device;
    const std::string& runner_text;
    const RunFolder& folder;
    bool sync = true;  ///< files are synced before a call returns
  };
  explicit RunIdentity(const Parts& parts) : parts_(parts) {}

  /// First event of a new log.
  [[nodiscard]] RunEvent event() const;
  /// All files of a new run; `more`: additional ones, text by name.
  void write(const RunEvent& run,
             const std::string& environment_json,
             const std::map<std::string, std::string>& more) const;
  /// config.json: budgets may change between sessions.
  void write_config(const Hash128& hash) const;
  /// Rewrites files that were damaged or lost; calls `note` for each.
  void mend(const std::function<void(std::string_view)>& note) const;
  /// Throws Error(bad_input) naming the difference if the log at `path` begins with another run.
  void refuse_other(const RunEvent& recorded, const std::filesystem::path& path) const;

 private:
  void write_file(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string changed_option() const;

  const Parts parts_;
};

/// The options that the run in `folder` was started with (config.json), restricted to the groups in
/// `groups`, so that `--resume` needs no flags; nullopt if there is no run. Throws Error(bad_input)
/// naming file and key.
struct RecordedConfig {
  Options options;
  std::string runner_text;
};
[[nodiscard]] std::optional<RecordedConfig> recorded_config(const std::filesystem::path& folder,
                                                            const Options& groups);

/// Hash of every option that affects the graph (OptionsOf, OptionText::shapes).
[[nodiscard]] Hash128 config_hash(const Options& options, std::string_view runner_text);

}  // namespace warpath
