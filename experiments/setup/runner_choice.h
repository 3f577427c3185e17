#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/options.h"

namespace warpath {

/// The runner selected by `--runner NAME[:ARGUMENT]`, with `auto` resolved.
struct RunnerChoice {
  std::string name;
  std::string argument;
  /// "host", "synthetic:rugged"
  [[nodiscard]] std::string text() const { return argument.empty() ? name : name + ":" + argument; }
};

/// `auto` is the cuda runner if a GPU is usable and wanted (`--gpus` other than none), otherwise
/// the host runner, which runs everywhere. Throws Error(bad_input) naming the available runners,
/// Error(environment) if a GPU is requested by `text` or by index and unusable.
[[nodiscard]] RunnerChoice choose_runner(std::string_view text,
                                         const RunnerRegistry& registry,
                                         const CudaOptions& cuda);

/// Reports on stderr, once, which confinement of the host runner's candidates this kernel does not
/// offer. Starts a process: call it before threads run.
void say_confinement(const RunnerChoice& runner);

/// "CPU timings" if times are not a GPU's; otherwise empty.
[[nodiscard]] std::string_view timing_label(std::string_view runner_text);
/// A line above a table of times that are not a GPU's; else empty.
[[nodiscard]] std::string timing_heading(std::string_view runner_text);

}  // namespace warpath
