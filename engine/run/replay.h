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

/// What a log is before anything is made of it.
struct LogSummary {
  RunEvent run;                ///< line 1
  LogPosition end;             ///< after the last whole line
  bool torn = false;           ///< a part of a line follows
  bool snapshot_fits = false;  ///< the snapshot given is of this log and not ahead of it
};
/// Reads the whole log once and checks its sums. Throws Error(bad_input) naming file and line.
[[nodiscard]] LogSummary scan_log(const std::filesystem::path& path, const Snapshot* snapshot);

/// Brings `space`, `campaign` (fresh) and `record` to the state after the log's last whole line:
/// what `snapshot` covers is restored from it, the rest goes through the search again, which must
/// choose what was recorded. Throws Error(bad_input) "FILE:LINE: ..." otherwise.
void replay(const std::filesystem::path& path,
            std::optional<Snapshot> snapshot,
            KernelSpace& space,
            Campaign& campaign,
            RunRecord& record);

}  // namespace warpath
