#pragma once

#include <filesystem>
#include <string>

#include "runners/replay/recorded_space.h"

namespace warpath {

/// Reads a Kernel Tuner cache, T4 results, KTT results or Warpath's own format, gzipped or not; the
/// content determines which. Axes with a single value are left out. Throws Error(bad_input) naming
/// file and key.
[[nodiscard]] RecordedSpace load_space(const std::filesystem::path& file);
/// load_space() of text already in memory; `name` names the space, `place` the file in messages.
[[nodiscard]] RecordedSpace parse_space(const std::string& text,
                                        const std::string& name,
                                        const std::string& place);

/// Warpath's own format as JSON text.
[[nodiscard]] std::string space_text(const RecordedSpace& space);
/// Writes it gzipped, atomically.
void save_space(const RecordedSpace& space, const std::filesystem::path& file);

}  // namespace warpath
