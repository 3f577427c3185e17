#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/row_sweeps.h"

namespace warpath {

/// The widest pack of 2, 4 or 8 elements (at most 16 bytes) in which every kept operand can be
/// moved; 1 if none.
[[nodiscard]] std::int64_t widest_pack(const model::KernelModel& model, const RowSweeps& sweeps);

/// Elements per lane to hold in registers; nullopt if the row's length is not a constant of the
/// source.
[[nodiscard]] std::optional<std::int64_t> elements_a_lane(const RowSweeps& sweeps,
                                                          std::int64_t vector);

/// The variant that reads each element of the row once, keeps it in a local array during the
/// sweeps, and writes results once; global memory is accessed in packs of `vector` elements.
/// nullopt with one line in `why`.
[[nodiscard]] std::optional<Variant> keep_in_registers(const MoveContext& context,
                                                       const model::KernelModel& model,
                                                       const RowSweeps& sweeps,
                                                       std::int64_t vector,
                                                       std::string& why);

/// The same with the row in shared memory; sweeps remain loops over j, and the length need not be
/// constant.
[[nodiscard]] std::optional<Variant> keep_in_shared(const MoveContext& context,
                                                    const model::KernelModel& model,
                                                    const RowSweeps& sweeps,
                                                    std::string& why);

}  // namespace warpath
