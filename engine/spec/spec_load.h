#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Loads and checks (engine/spec/spec_check.h) every spec of a file, or of each *.json of a folder
/// in name order (except schema.json), including source files and headers. Throws Error(bad_input)
/// on the first problem: "FILE:/json/pointer: got VALUE, expected WHAT"; also if a folder contains
/// no spec or two specs have the same name.
[[nodiscard]] std::vector<KernelSpec> load_specs(const std::string& path);

/// As load_specs for several paths; names must be unique over all of them.
[[nodiscard]] std::vector<KernelSpec> load_specs(const std::vector<std::string>& paths);

/// The files denoted by `path`: itself, or the specs of a folder. Throws Error(bad_input) if there
/// are none.
[[nodiscard]] std::vector<std::string> spec_files(const std::string& path);

/// The same from text. `file`: its name in messages; `folder`: base of relative source paths;
/// `check` = false skips the semantic check.
[[nodiscard]] std::vector<KernelSpec> parse_specs(std::string_view text,
                                                  const std::string& file,
                                                  const std::string& folder,
                                                  bool check = true);

/// The spec as JSON with sources inlined, so that it is self-contained. Loading it gives an equal
/// spec (except `origin`), and writing that one gives the same text.
[[nodiscard]] nlohmann::json to_json(const KernelSpec& spec);

/// Inverse of to_json, without the semantic check. `place`: the file's name in messages.
[[nodiscard]] KernelSpec spec_from_json(const nlohmann::json& json, const std::string& place);

}  // namespace warpath
