#pragma once

#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Adds edits that write barriers, shuffles and thread indices instead of cooperative groups that
/// are the block or a warp of 32. False if there are none, with one line in `why` if the kernel
/// does more with one.
[[nodiscard]] bool write_out_groups(const NormalSite& site,
                                    std::vector<Edit>& edits,
                                    std::string& why);

/// Adds edits that take away the header and the names of cooperative groups if nothing else is left
/// of them.
void drop_group_header(const model::Unit& unit, std::vector<Edit>& edits);

}  // namespace warpath
