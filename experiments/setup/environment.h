#pragma once

#include <cstdint>
#include <string>

namespace warpath {

/// Where a run takes place. The contents of environment.json in a run folder.
struct Environment {
  std::string revision;        ///< commit the program was built from, with a + if the tree differed
  std::string build_compiler;  ///< that built the program
  std::string cpu;             ///< model name
  int cores = 0;               ///< available to this process
  std::int64_t memory_mib = 0;
  std::string kernel;   ///< "Linux 6.1.0 x86_64"
  std::string started;  ///< UTC, ISO 8601
};
[[nodiscard]] Environment probe_environment();

/// JSON object.
[[nodiscard]] std::string to_json_text(const Environment& environment);

/// First executable file named `name` on PATH (or `name` itself if it contains a slash); empty if
/// there is none.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace warpath
