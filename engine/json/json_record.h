#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/base/hash.h"
#include "engine/json/json_reader.h"

namespace warpath {

// Extensions of JSON needed for records (event log, snapshot, outcomes): non-finite numbers,
// hashes, text in any encoding.

/// Finite numbers stay numbers (shortest text that parses to the same bits); the others become
/// "nan", "inf" and "-inf".
[[nodiscard]] nlohmann::json number_to_json(double x);
[[nodiscard]] double any_number(const JsonCursor& cursor);

/// 32 hexadecimal digits.
[[nodiscard]] Hash128 hash_from_json(const JsonCursor& cursor);

/// Throws Error(bad_input) unless the value is an object with no keys but these.
void require_only(const JsonCursor& cursor, std::initializer_list<std::string_view> keys);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD, as JSON requires.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// `value` as JSON text, on one line or with `indent` blanks a level; as valid_utf8 in its strings.
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent = -1);

/// Lossless: a text that is not valid UTF-8 (a source in an old encoding) becomes {"latin1": TEXT},
/// each byte as the code point of the same number.
[[nodiscard]] nlohmann::json any_text_to_json(std::string_view text);
[[nodiscard]] std::string any_text(const JsonCursor& cursor);

}  // namespace warpath
