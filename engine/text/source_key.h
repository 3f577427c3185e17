#pragma once

#include <string_view>

#include "engine/base/hash.h"
#include "engine/text/local_names.h"

namespace warpath {

struct SourceKeyRules {
  /// never renamed: macros defined outside the source, the kernel's name
  NameSet fixed_names;
  bool rename_locals = true;  ///< false: text from outside the source may use any name
};

/// Identity of a CUDA C++ translation unit: hash of its token stream. Comments, white space, line
/// structure (except where the preprocessor sees it) and the names of parameters and local
/// variables do not count; everything else does, literals by spelling. Equal keys mean equal
/// programs; programs that differ in less than a compiler sees may still have two keys.
///
/// A local name is hashed as its index of first appearance in the function, under a tag that no
/// token has. Names are renamed one-to-one over a whole function and only where every occurrence is
/// bound in it, so equal streams are alpha-equivalent. Where the cut into tokens is disputed or a
/// line number is a value (__LINE__), all bytes count.
[[nodiscard]] Hash128 source_key(std::string_view source, const SourceKeyRules& rules);

}  // namespace warpath
