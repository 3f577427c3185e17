#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Reads and checks (engine/spec/spec_check.h) every spec of a file, or of each *.json of a folder
/// in name order (schema.json excepted). Source files are read. Throws Error(bad_input) on the
/// first problem: "FILE:/json/pointer: got VALUE, expected WHAT"; also if a folder holds no spec or
/// two specs share a name.
[[nodiscard]] std::vector<KernelSpec> load_specs(const std::string& path);

/// Like load_specs over several paths; names must be unique over all of them.
[[nodiscard]] std::vector<KernelSpec> load_specs(const std::vector<std::string>& paths);

/// The files that `path` stands for: itself, or the specs of a folder. Throws Error(bad_input) if
/// there are none.
[[nodiscard]] std::vector<std::string> spec_files(const std::string& path);

/// The same from text. `file` is its name in messages, `folder` what relative source files are
/// relative to. `check` = false leaves out the semantic check.
[[nodiscard]] std::vector<KernelSpec> parse_specs(std::string_view text,
                                                  const std::string& file,
                                                  const std::string& folder,
                                                  bool check = true);

/// The spec as JSON, sources inlined, so that the result stands alone. Loading it gives an equal
/// spec
/// (`origin` aside), and writing that one gives the same text.
[[nodiscard]] nlohmann::json to_json(const KernelSpec& spec);

/// Inverse of to_json, without the semantic check. `place` is the file's name in messages.
[[nodiscard]] KernelSpec spec_from_json(const nlohmann::json& json, const std::string& place);

}  // namespace warpath
