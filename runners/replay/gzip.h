#pragma once

#include <filesystem>
#include <string>

namespace warpath {

/// The file's bytes, decompressed if they are gzip. Throws Error(bad_input).
[[nodiscard]] std::string read_maybe_gzip(const std::filesystem::path& file);
[[nodiscard]] std::string gzip(const std::string& text);

}  // namespace warpath
