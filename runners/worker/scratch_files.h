#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace warpath {

/// Writes a file in a compiler's scratch folder, as it is. Throws Error(environment) if it cannot.
void write_scratch(const std::filesystem::path& path, std::string_view text);
/// What a compiler left there; empty if it left nothing.
[[nodiscard]] std::string read_scratch(const std::filesystem::path& path);

}  // namespace warpath
