#pragma once

#include <string_view>

#include "engine/text/function_text.h"

namespace warpath {

/// Names that a file uses non-locally: `outside` holds all identifiers outside function
/// definitions, in preprocessor lines and in compiler options; `macros` is the subset from the last
/// two.
struct SharedNames {
  NameSet macros;
  NameSet outside;
};

/// Names that are provably used only as parameters and local variables of `function`: each
/// occurrence except as a member is a declaration or in the scope of one, and none could have
/// another meaning (a callee, a type, a label, a macro, a linkage name). In doubt a name is
/// excluded. Time n log n in the function's length.
[[nodiscard]] NameSet local_names(const CodeText& code,
                                  const FunctionText& function,
                                  const SharedNames& shared);

}  // namespace warpath
