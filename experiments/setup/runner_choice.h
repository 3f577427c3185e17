#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/options.h"

namespace warpath {

/// What `--runner NAME[:ARGUMENT]` asks for, `auto` resolved.
struct RunnerChoice {
  std::string name;
  std::string argument;
  /// "host", "synthetic:rugged"
  [[nodiscard]] std::string text() const { return argument.empty() ? name : name + ":" + argument; }
};

/// `auto` is the cuda runner where a GPU can be used and is wanted (`--gpus` other than none), else
/// the host runner, which runs everywhere. Throws Error(bad_input) naming what is built in,
/// Error(environment) where a GPU is asked for by `text` or by index and cannot be used.
[[nodiscard]] RunnerChoice choose_runner(std::string_view text,
                                         const RunnerRegistry& registry,
                                         const CudaOptions& cuda);

/// On stderr, once: what of a confinement this kernel does not offer to candidates of the host
/// runner. Starts a process: call it before threads run.
void say_confinement(const RunnerChoice& runner);

/// "CPU timings" where times are not those of a GPU; empty for a GPU's.
[[nodiscard]] std::string_view timing_label(std::string_view runner_text);

}  // namespace warpath
