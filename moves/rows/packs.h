#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "moves/model/facts.h"

namespace warpath {

/// True if element `start` + n * `vector` of the array is aligned to the pack's size for every n,
/// and a pack has 4, 8 or 16 bytes.
[[nodiscard]] bool can_pack(const model::KernelFacts& facts,
                            const model::Array& array,
                            const model::Polynomial& start,
                            std::int64_t vector);

/// One assignment that moves `vector` elements between `local`[k..] and `array`[there..]; a plain
/// subscript for one element.
[[nodiscard]] std::string pack_move(const model::Array& array,
                                    std::int64_t vector,
                                    std::string_view local,
                                    std::string_view k,
                                    std::string_view there,
                                    bool load);

}  // namespace warpath
