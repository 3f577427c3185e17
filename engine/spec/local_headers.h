#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// What becomes of lines that include by `<name>`.
enum class AngledHeaders { stay, looked_up };

struct FlatSource {
  std::string text;
  std::vector<MissingHeader> missing;  ///< in order, each place once
};

/// `text`, that of `file`, with the files that it includes by `"name"` in the place of those lines;
/// a name is looked up beside the file that has the line, then in `folders`. What a header includes
/// goes the same way; with AngledHeaders::looked_up names of `<name>` that `folders` have, too. A
/// header that protects itself (`#pragma once`, `#ifndef`) and that is certainly there already is
/// left out. Other lines that include by `<name>`, and names that are found nowhere, stay. Throws
/// Error(bad_input) where a file cannot be read, includes itself without end, or all of them
/// together exceed the size of a source.
[[nodiscard]] FlatSource flat_source(const std::string& text,
                                     const std::string& file,
                                     const std::vector<std::string>& folders,
                                     AngledHeaders angled = AngledHeaders::stay);

/// The same of a file.
[[nodiscard]] FlatSource flat_source_file(const std::string& file,
                                          const std::vector<std::string>& folders,
                                          AngledHeaders angled = AngledHeaders::stay);

}  // namespace warpath
