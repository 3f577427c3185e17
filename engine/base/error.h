#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpath {

/// Why the program cannot continue; the value is the process exit code.
enum class ErrorCode {
  environment = 3,  ///< missing tool, unwritable folder, device trouble, broken infrastructure
  /// a spec, option, state file, event log or environment value provided by a user
  bad_input = 64,
};

/// Bad input or environment. Thrown anywhere, caught only in `main` and at task boundaries.
/// `what()` is one line: the place (file, JSON pointer or flag), the value, what was expected. The
/// failure of a candidate kernel is never an Error, but an `Outcome`.
class Error : public std::runtime_error {
 public:
  /// Line breaks in `message` become spaces; other control characters are escaped.
  Error(ErrorCode code, std::string message);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Builds the one-line message "PLACE: got VALUE, expected EXPECTED" (`value` may be empty).
/// Escapes control characters in `value` and truncates it to 120 characters.
[[nodiscard]] Error bad_input(std::string_view place,
                              std::string_view value,
                              std::string_view expected);
[[nodiscard]] Error environment_error(std::string_view message);

/// One line that tells a user of any exception. A standard file operation's becomes its path and
/// reason; "unexpected: " marks one that nobody foresaw.
[[nodiscard]] std::string message_of(const std::exception& error);

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace warpath

/// Checks an invariant in release builds too. A failure is a bug: aborts with file and line.
#define WARPATH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::warpath::check_failed(#condition, __FILE__, __LINE__))
