#pragma once

#include <filesystem>
#include <functional>
#include <string>

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
  std::string end_place;       ///< "FILE:LINE" of what follows
  bool snapshot_fits = false;  ///< the given position is one of this log's
};
/// Reads the log once and verifies its checksums: those of its lines, or, of segments that end
/// before `snapshot`, those of the files. Throws Error(bad_input) naming file and line.
[[nodiscard]] LogSummary scan_log(const std::filesystem::path& path, const LogPosition* snapshot);

/// Brings `space`, `campaign` and `record` to the state after the log's last whole line by
/// repeating the events through the search, which must make the recorded choices. They are fresh,
/// or, with `from`, as of that position of the log. Throws Error(bad_input) "FILE:LINE: ..."
/// otherwise.
void replay(const std::filesystem::path& path,
            const LogPosition* from,
            KernelSpace& space,
            Campaign& campaign,
            RunRecord& record);

}  // namespace warpath
