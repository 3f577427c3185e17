#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"

namespace warpath {

/// The runner selected by `--runner NAME[:ARGUMENT]`, with `auto` resolved.
struct RunnerChoice {
  std::string name;
  std::string argument;
  /// "host", "synthetic:rugged"
  [[nodiscard]] std::string text() const { return argument.empty() ? name : name + ":" + argument; }
};

/// The runner of `registry` named by `text`; `auto` is the usable one of the highest rank (a GPU
/// before the CPU). Throws Error(bad_input) naming the available runners, and whatever the chosen
/// runner and its options require, unless it runs on other machines (runners/cluster).
[[nodiscard]] RunnerChoice choose_runner(std::string_view text,
                                         const RunnerRegistry& registry,
                                         const Options& options);

/// Creates it, here or on the cluster that the options name. `options` must outlive the runner;
/// `program`: path of this executable.
[[nodiscard]] std::unique_ptr<Runner> create_runner(const RunnerChoice& choice,
                                                    const RunnerRegistry& registry,
                                                    const Options& options,
                                                    const std::string& program);

/// The help of `--runner`: every runner of this build.
[[nodiscard]] std::string runner_help();

/// Shows on stderr what a person should know before candidates run there. May start a process: call
/// it before threads run.
void show_notice(const RunnerChoice& choice, const RunnerRegistry& registry);

/// True if times of this runner (its text, as in a run folder) are a GPU's; false for a runner that
/// this build does not have.
[[nodiscard]] bool times_a_gpu(std::string_view runner_text);
/// True if outcomes of this runner (its text) come from kernels that were built and launched; false
/// for a model, a recording, or a runner that this build does not have.
[[nodiscard]] bool launches_kernels(std::string_view runner_text);
/// "CPU timings" if times are not a GPU's; otherwise empty.
[[nodiscard]] std::string_view timing_label(std::string_view runner_text);
/// A line above a table of times that are not a GPU's; otherwise empty.
[[nodiscard]] std::string timing_heading(std::string_view runner_text);

}  // namespace warpath
