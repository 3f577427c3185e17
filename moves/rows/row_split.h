#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_scan.h"

namespace warpath {

/// True if each thread of the kernel processes its own item by x index and at least one of its
/// loops can be shared by several threads, a scan loop if `scan` is given (null: scans are
/// refused); otherwise false with one line in `why`.
[[nodiscard]] bool can_split_rows(const MoveContext& context,
                                  const model::KernelModel& model,
                                  const ScanShape* scan,
                                  std::string& why);

/// The variant in which the lanes of `group` share the work of one thread. Chooses the names of
/// `group`.
[[nodiscard]] std::optional<Variant> split_rows(const MoveContext& context,
                                                const model::KernelModel& model,
                                                LaneGroup group,
                                                const ScanShape* scan,
                                                std::string& why);

/// Iterations of a thread's longest shareable loop in the largest workload; 0 if unknown.
[[nodiscard]] double typical_trips(const MoveContext& context, const model::KernelModel& model);

}  // namespace warpath
