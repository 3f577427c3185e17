#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/runner.h"

namespace warpath {

/// What `--runner NAME[:ARGUMENT]` asks for, `auto` resolved.
struct RunnerChoice {
  std::string name;
  std::string argument;
  /// "host", "synthetic:rugged"
  [[nodiscard]] std::string text() const { return argument.empty() ? name : name + ":" + argument; }
};

/// `auto` is the host runner: it runs everywhere. Throws Error(bad_input) naming what is built in.
[[nodiscard]] RunnerChoice choose_runner(std::string_view text, const RunnerRegistry& registry);

/// "CPU timings" where times are not those of a GPU; empty for a GPU's.
[[nodiscard]] std::string_view timing_label(std::string_view runner_text);

}  // namespace warpath
