#pragma once

#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Adds edits that put the body of the called helper where the call is evaluated. False with one
/// line in `why`.
[[nodiscard]] bool inline_call(const NormalSite& site,
                               const model::Expr& call,
                               std::vector<Edit>& edits,
                               std::string& why);

}  // namespace warpath
