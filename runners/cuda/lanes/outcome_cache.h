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
  std::string program;               ///< bytes of the engine's program: its gates and its timing
  std::string options;               ///< of the runner, as text
  std::string spec;                  ///< as text
  std::vector<std::string> devices;  ///< identity and driver of each device of the run
};

/// Outcomes of screening in a folder (FolderCache), by what was measured and with what. Another
/// device, driver, program, spec or option finds nothing. Thread-safe.
class OutcomeCache {
 public:
  OutcomeCache(std::filesystem::path folder, std::uint64_t max_bytes)
      : entries_(std::move(folder), "outcome", max_bytes) {}

  /// Identity of a setup; order of the devices does not count.
  [[nodiscard]] static Hash128 identity(const MeasurementSetup& setup);
  /// `binary_key`: the candidate's (Outcome::binary_key). An entry that is no outcome is dropped.
  [[nodiscard]] std::optional<Outcome> find(const Hash128& setup, std::string_view binary_key);
  /// Keeps what follows from the key: status ok, wrong_result and rejected. A crash or a limit may
  /// be the machine's, and is tried again.
  void store(const Hash128& setup, const Outcome& outcome);
  [[nodiscard]] FolderCacheCounts counts() const { return entries_.counts(); }

 private:
  FolderCache entries_;
};

}  // namespace warpath::cuda
