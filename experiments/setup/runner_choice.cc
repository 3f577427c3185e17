#include "experiments/setup/runner_choice.h"

#include <cstdio>

#include "engine/base/error.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/revision.h"
#include "register_runners.h"
#include "runners/cluster/cluster_runner.h"
#include "runners/cluster/options.h"

namespace warpath {
namespace {

std::string automatic_runner(const RunnerRegistry& registry, const Options& options) {
  std::string best = "auto";
  int best_rank = 0;
  for (const auto& [name, entry] : registry.entries()) {
    const RunnerTraits& traits = *registry.traits(name);
    const int rank = traits.automatic_rank == nullptr ? 0 : traits.automatic_rank(options);
    if (rank > best_rank) best = name, best_rank = rank;
  }
  return best;
}

/// The traits of the runner of a recorded text; null if this build does not have it.
const RunnerTraits* traits_of(std::string_view runner_text) {
  return registered_runners().traits(runner_text.substr(0, runner_text.find(':')));
}

}  // namespace

RunnerChoice choose_runner(std::string_view text,
                           const RunnerRegistry& registry,
                           const Options& options) {
  registry.check_options(options);
  check_priors(options);
  const auto colon = text.find(':');
  RunnerChoice choice{std::string(text.substr(0, colon)),
                      colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1))};
  const auto& machines = options.of<ClusterOptions>();
  cluster::check_placement(machines);
  const bool elsewhere = !machines.members.empty() || !machines.kernels.empty();
  if (text == "auto" && elsewhere)
    throw bad_input("--runner", text,
                    "the name of a runner beside --cluster or --site: what other machines have is "
                    "not seen here");
  if (text == "auto") choice.name = automatic_runner(registry, options);
  const RunnerTraits* const traits = registry.traits(choice.name);
  if (traits == nullptr)
    throw bad_input("--runner", text, "a runner of this build: one of auto, " + registry.names());
  if (traits->require != nullptr && !elsewhere) traits->require(options);
  return choice;
}

std::unique_ptr<Runner> create_runner(const RunnerChoice& choice,
                                      const RunnerRegistry& registry,
                                      const Options& options,
                                      const std::string& program) {
  const auto here = [&] {
    return registry.create("--runner", choice.name,
                           RunnerConfig{.argument = choice.argument,
                                        .seed = options.run.seed,
                                        .options = &options,
                                        .program = program});
  };
  const auto& machines = options.of<ClusterOptions>();
  if (machines.members.empty()) return here();
  const RunnerTraits* const traits = registry.traits(choice.name);
  const bool is_model = traits != nullptr && !traits->evaluates;
  return cluster_runner(
      cluster::Cluster::shared(
          {.options = machines, .program = program, .version = std::string(revision())}),
      choice.name, choice.argument, options, is_model ? here() : nullptr);
}

std::string runner_help() {
  std::string out = "auto: a GPU if one can be used, otherwise the CPU";
  for (const auto& [name, entry] : registered_runners().entries())
    out += "; " + name + ": " + entry.help;
  return out;
}

void show_notice(const RunnerChoice& choice, const RunnerRegistry& registry) {
  const RunnerTraits* const traits = registry.traits(choice.name);
  if (traits == nullptr || traits->notice == nullptr) return;
  const std::string line = traits->notice();
  if (!line.empty()) std::fprintf(stderr, "warpath: %s\n", line.c_str());
}

bool times_a_gpu(std::string_view runner_text) {
  const RunnerTraits* const traits = traits_of(runner_text);
  return traits != nullptr && traits->timings.empty();
}

bool launches_kernels(std::string_view runner_text) {
  const RunnerTraits* const traits = traits_of(runner_text);
  return traits != nullptr && traits->evaluates;
}

std::string_view timing_label(std::string_view runner_text) {
  const RunnerTraits* const traits = traits_of(runner_text);
  return traits == nullptr ? "" : traits->timings;
}

std::string timing_heading(std::string_view runner_text) {
  const std::string_view label = timing_label(runner_text);
  return label.empty() ? ""
                       : std::string(runner_text) + " runner: times are " + std::string(label) +
                             ", not a GPU's\n";
}

}  // namespace warpath
