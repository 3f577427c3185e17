#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

/// A JSON value with its location, so that every error message names file, JSON pointer and value.
/// Borrows the value: the document must outlive the cursor.
class JsonCursor {
 public:
  JsonCursor(const nlohmann::json& value, std::string file, std::string pointer = "");

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  /// "FILE:/json/pointer"; "FILE" at the root.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string pointer_to(std::string_view key) const;

  /// The member `key`; nullopt if it is absent or null. The value must be an object.
  [[nodiscard]] std::optional<JsonCursor> find(std::string_view key) const;
  /// Like `find`, but an absent member throws Error(bad_input).
  [[nodiscard]] JsonCursor at(std::string_view key) const;
  [[nodiscard]] JsonCursor element(std::size_t i) const;
  [[nodiscard]] std::size_t size() const;

  // Each throws Error(bad_input) unless the value has exactly this type, without conversions.
  void require_object() const;
  void require_array() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::uint64_t unsigned_integer() const;
  [[nodiscard]] double number() const;  ///< including integers; always finite
  [[nodiscard]] bool boolean() const;

  /// Throws Error(bad_input) "PLACE: got VALUE, expected EXPECTED".
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  const nlohmann::json* value_;  // never null
  std::string file_;
  std::string pointer_;
};

/// `pointer` with "/key" appended, escaped according to RFC 6901.
[[nodiscard]] std::string join_pointer(std::string_view pointer, std::string_view key);

inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxJsonDepth = 64;

/// Parses one document. Throws Error(bad_input) on a syntax error (with line and column), invalid
/// UTF-8, a number out of double's range, a duplicate key, more than kMaxJsonDepth levels or
/// kMaxJsonBytes.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& file);

/// The whole file as text. Throws Error(bad_input) if it cannot be read, is not a regular file or
/// exceeds `max_bytes`; `place` names what refers to it (the path itself, or file and pointer of
/// the key).
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t max_bytes,
                                         std::string_view place);

/// read_text_file and parse_json.
[[nodiscard]] nlohmann::json read_json_file(const std::string& path);

}  // namespace warpath
