#pragma once

#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Counts up or down with a variable that lives outside the loop.
[[nodiscard]] bool shares_index(const model::Loop& loop);

/// Adds edits that give the first such loop whose variable nothing reads behind it an index of its
/// own: `for (i = 0; ...)` declares i, `while (i < n) { ...; i += s; }` becomes a for. False if
/// there is none, with one line in `why` if one must keep its variable.
[[nodiscard]] bool own_index(const NormalSite& site, std::vector<Edit>& edits, std::string& why);

}  // namespace warpath
