#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// RFC 4648 base64 with padding, no line breaks.
[[nodiscard]] std::string base64_encode(std::span<const std::byte> bytes);
/// nullopt unless `text` is a possible result of base64_encode.
[[nodiscard]] std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

}  // namespace warpath
