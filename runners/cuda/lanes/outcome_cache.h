#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "runners/cuda/compile/folder_cache.h"

namespace warpath::cuda {

/// What a measurement depends on besides the candidate's machine code and launch numbers.
struct MeasurementSetup {
  std::string program;               ///< the program's bytes: its gates and its timing
  std::string options;               ///< of the runner, as text
  std::string spec;                  ///< as text
  std::vector<std::string> devices;  ///< identity and driver of each device of the run
};

/// Screening outcomes in a folder (FolderCache), keyed by what was measured and with what: a
/// different device, driver, program, spec or option misses. Thread-safe.
class OutcomeCache {
 public:
  OutcomeCache(std::filesystem::path folder, std::uint64_t max_bytes)
      : entries_(std::move(folder), "outcome", max_bytes) {}

  /// Identity of a setup, independent of the order of devices.
  [[nodiscard]] static Hash128 identity(const MeasurementSetup& setup);
  /// `binary_key`: the candidate's (Outcome::binary_key). Drops an entry that cannot be parsed.
  [[nodiscard]] std::optional<Outcome> find(const Hash128& setup, std::string_view binary_key);
  /// Stores outcomes that follow from the key: ok, wrong_result and rejected. Crashes and exceeded
  /// limits may be due to the machine and are tried again.
  void store(const Hash128& setup, const Outcome& outcome);
  [[nodiscard]] FolderCacheCounts counts() const { return entries_.counts(); }

 private:
  FolderCache entries_;
};

}  // namespace warpath::cuda
