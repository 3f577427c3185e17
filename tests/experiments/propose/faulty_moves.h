#pragma once

#include "engine/plugin/move.h"

namespace warpath::testing {

/// Adds moves that fail at sites of their own. "fault" lists a site for each way to fail, between
/// two that apply:
///
///   good:1, fault:<way>..., good:2
///
/// with the ways null (a null pointer), check (a failed check), throw, endless, memory, stack,
/// exit; "fault_everywhere" crashes while it enumerates. What applies adds a comment and a variable
/// to the kernel.
void register_faulty_moves(MoveRegistry& registry);

/// A move worker with these and all moves of the program; processor time of an instance: 0.3 s.
[[nodiscard]] int faulty_worker_main();

}  // namespace warpath::testing
