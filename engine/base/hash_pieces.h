#pragma once

#include <initializer_list>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// hash128() of the pieces one behind the other. A Hasher that was given the same bytes has it as
/// its digest.
[[nodiscard]] Hash128 hash128_of(std::initializer_list<std::string_view> pieces);

}  // namespace warpath
