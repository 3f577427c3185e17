#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace warpath::cluster {

/// Writes a new secret, 64 random hexadecimal digits, to a new file that only this user may read,
/// and returns it. Throws Error(environment) if that cannot be done.
[[nodiscard]] std::string create_key(const std::filesystem::path& file);

/// The secret in `file`. Throws Error(bad_input) unless it is a file of this user that nobody else
/// may read or write.
[[nodiscard]] std::string read_key(const std::filesystem::path& file);

/// Takes the same time whichever characters differ.
[[nodiscard]] bool same_key(std::string_view a, std::string_view b);

}  // namespace warpath::cluster
