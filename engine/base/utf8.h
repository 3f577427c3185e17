#pragma once

#include <cstddef>
#include <string_view>

namespace warpath {

/// Bytes of the valid UTF-8 sequence at the start of `text`; 0 if there is none (RFC 3629: no
/// surrogates, shortest form).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

}  // namespace warpath
