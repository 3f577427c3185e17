#pragma once

#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Adds an edit that writes out the first use of a macro with arguments that the facts do not look
/// into. False if there is none, with one line in `why` if one cannot be written out.
[[nodiscard]] bool expand_macro(const NormalSite& site, std::vector<Edit>& edits, std::string& why);

}  // namespace warpath
