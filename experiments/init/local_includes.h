#pragma once

#include <string>

namespace warpath {

/// The text of a source file with the files that it includes by `"name"`, found beside the file
/// that names them, in the place of the first such line; later ones are left out. Lines that
/// include by `<name>`, and names that are found nowhere, stay. Throws Error(bad_input) where a
/// file cannot be read or all of them together exceed the size of a source.
[[nodiscard]] std::string flattened_source(const std::string& path);

}  // namespace warpath
