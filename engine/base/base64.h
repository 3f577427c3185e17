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

/// Decompresses a zlib stream (RFC 1950). nullopt unless it is complete, intact and of exactly
/// `size_bytes`; never allocates more than that.
[[nodiscard]] std::optional<std::vector<std::byte>> zlib_inflate(std::span<const std::byte> bytes,
                                                                 std::size_t size_bytes);
[[nodiscard]] std::vector<std::byte> zlib_deflate(std::span<const std::byte> bytes);

}  // namespace warpath
