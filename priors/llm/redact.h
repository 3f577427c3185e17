#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::llm {

/// Removes secrets, by their values, from what is written or shown: a server may echo a key
/// anywhere.
class Redactor {
 public:
  /// `secret` is also replaced in its JSON-escaped, percent-encoded and Base64 forms (as in Basic
  /// authentication). Ignores secrets of less than four bytes, which would match anything.
  void add(std::string_view secret);
  /// `text` with every secret replaced by "[redacted]".
  [[nodiscard]] std::string operator()(std::string_view text) const;
  /// The same for every string and key of `value`.
  [[nodiscard]] nlohmann::json within(const nlohmann::json& value) const;

 private:
  std::vector<std::string> forms_;  // longest first
};

/// A key from the environment variable `variable` or, failing that, from `file`; empty if neither
/// is set. Throws Error(bad_input) if the file cannot be read, is readable by others than its
/// owner, or the key contains blanks or control characters.
[[nodiscard]] std::string read_key(const std::string& variable, const std::string& file);

/// Removes `variable` from this process's environment, and its value from the memory shown in
/// /proc, and makes this process's memory unreadable to other processes of the same user. Call
/// after the last `read_key`, before threads and other processes are started.
void forget_key(const std::string& variable);

}  // namespace warpath::llm
