#pragma once

#include <string_view>

#include "engine/base/hash.h"
#include "engine/text/function_text.h"

namespace warpath {

struct SourceKeyRules {
  /// never treated as local: macros defined outside the source, the kernel's name
  NameSet fixed_names;
  bool rename_locals = true;  ///< false: text outside the source may refer to any name
};

/// Identity of a CUDA C++ translation unit: hash of its token stream. Ignores comments, white
/// space, line structure (except where it matters to the preprocessor) and the names of parameters
/// and local variables; literals count by spelling. Equal keys mean equal programs; equivalent
/// programs may have different keys.
///
/// A local name is hashed as its index of first appearance in the function, under a tag that no
/// token has. Renaming is one-to-one over a whole function and only if every occurrence is bound in
/// it, so equal streams are alpha-equivalent. If tokenisation is ambiguous or a line number is used
/// as a value (__LINE__), all bytes count.
[[nodiscard]] Hash128 source_key(std::string_view source, const SourceKeyRules& rules);

}  // namespace warpath
