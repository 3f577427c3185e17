#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/run/campaign.h"
#include "engine/run/kernel_space.h"
#include "engine/run/record.h"
#include "engine/run/snapshot.h"

namespace warpath {

/// Summary of a log before it is replayed.
struct LogSummary {
  RunEvent run;                ///< line 1
  LogPosition end;             ///< after the last whole line
  bool torn = false;           ///< an incomplete line follows
  bool snapshot_fits = false;  ///< the given snapshot belongs to this log and is not ahead of it
};
/// Reads the whole log once and verifies its checksums. Throws Error(bad_input) naming file and
/// line.
[[nodiscard]] LogSummary scan_log(const std::filesystem::path& path, const Snapshot* snapshot);

/// Brings `space`, `campaign` (fresh) and `record` to the state after the log's last whole line:
/// restores what `snapshot` covers and repeats the rest through the search, which must make the
/// recorded choices. Throws Error(bad_input) "FILE:LINE: ..." otherwise.
void replay(const std::filesystem::path& path,
            std::optional<Snapshot> snapshot,
            KernelSpace& space,
            Campaign& campaign,
            RunRecord& record);

}  // namespace warpath
