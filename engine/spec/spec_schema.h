#pragma once

#include <string>

namespace warpath {

/// JSON Schema (draft 2020-12) of spec files, generated from the loader's descriptions. Two-space
/// indent, final newline: the text of specs/schema.json.
[[nodiscard]] std::string spec_schema_text();

}  // namespace warpath
