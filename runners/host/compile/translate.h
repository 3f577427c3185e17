#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace warpath::host {

using MacroValues = std::map<std::string, std::int64_t, std::less<>>;

/// A candidate's text prepared for the system compiler, or why it was refused.
struct Translation {
  enum class End : std::uint8_t {
    done,
    refused,        ///< it reaches outside itself (file names, reserved names): Status::rejected
    not_supported,  ///< a construct the host runner cannot run, named: Status::not_applicable
  };
  End end = End::done;
  std::string why;   ///< one line with the line number and the name
  std::string text;  ///< line numbers are those of the source; #include lines are blanked
};

/// Lexical gate and translation: splices lines and strips comments as a compiler would, checks
/// every directive and identifier, blanks the allowed #include lines (the shim provides their
/// contents), converts `#pragma unroll N` to the system compiler's form and `extern __shared__ T
/// name[]` to a pointer into the dynamic arena. `macros`: values of the tunables, for pragmas that
/// name them.
[[nodiscard]] Translation translate(std::string_view source, const MacroValues& macros = {});

/// True for a header that kernels may include.
[[nodiscard]] bool is_allowed_header(std::string_view name);

}  // namespace warpath::host
