#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::llm {

/// Takes secrets out of what is written or shown, by their values: a server may echo a key
/// anywhere.
class Redactor {
 public:
  /// `secret` also as a JSON text, percent-encoded and in Base64 (as Basic authentication has it)
  /// will be replaced. Secrets of less than four bytes are not: they would match anything.
  void add(std::string_view secret);
  /// `text` with every secret replaced by "[redacted]".
  [[nodiscard]] std::string operator()(std::string_view text) const;
  /// The same for every text and key of `value`.
  [[nodiscard]] nlohmann::json within(const nlohmann::json& value) const;

 private:
  std::vector<std::string> forms_;  // longest first
};

/// A key from the environment variable `variable`, else from `file`; empty if neither is set.
/// Throws Error(bad_input) if the file cannot be read, may be read by others than its owner, or if
/// the key has blanks or control characters in it.
[[nodiscard]] std::string read_key(const std::string& variable, const std::string& file);

/// Takes `variable` out of this process's environment, and its value out of the memory that /proc
/// shows of it; from then on no other process of the same user may read this one's memory. After
/// the last `read_key`, before threads and other processes are started.
void forget_key(const std::string& variable);

}  // namespace warpath::llm
