#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace warpath::host {

using MacroValues = std::map<std::string, std::int64_t, std::less<>>;

/// A candidate's text made ready for the system compiler, or why that is refused.
struct Translation {
  enum class End : std::uint8_t {
    done,
    refused,        ///< it reaches outside itself (file names, reserved names): Status::rejected
    not_supported,  ///< a construct the host runner cannot run, named: Status::not_applicable
  };
  End end = End::done;
  std::string why;   ///< one line with the line number and the name
  std::string text;  ///< line numbers are those of the source; no #include is left
};

/// Lexical gate and translation: splices lines and strips comments as a compiler would, checks
/// every directive and identifier, blanks the allowed #include lines (the shim holds them all),
/// turns `#pragma unroll N` into the system compiler's form and `extern __shared__ T name[]` into a
/// pointer to the dynamic arena. `macros`: values of the tunables, for pragmas that name them.
[[nodiscard]] Translation translate(std::string_view source, const MacroValues& macros = {});

/// True for a header that kernels may name.
[[nodiscard]] bool is_allowed_header(std::string_view name);

}  // namespace warpath::host
