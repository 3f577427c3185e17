#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/prior.h"
#include "engine/plugin/runner.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "engine/spec/spec.h"
#include "experiments/console/command.h"
#include "experiments/setup/llm_setup.h"
#include "experiments/setup/runner_choice.h"
#include "moves/propose/file_proposer.h"
#include "register_moves.h"
#include "register_priors.h"
#include "register_runners.h"

namespace warpath {

/// The moves, priors and runners of this build.
struct Plugins {
  MoveRegistry moves = registered_moves();
  PriorRegistry priors = registered_priors();
  RunnerRegistry runners = registered_runners();
};

/// One spec, ready to search.
struct KernelRun {
  KernelSpec spec;
  Options options;
  RunnerChoice runner;
  std::filesystem::path folder;                 ///< OUT/kernels/<name>
  std::optional<LlmAccess> llm = std::nullopt;  ///< a language model proposes
  std::vector<ForeignProposal> proposals = {};  ///< from a file: tried before anything else
  bool only_proposals = false;                  ///< and nothing else is tried
  std::string teller = "file";                  ///< recorded as their proposer
};

/// True if another machine searches it (`--site`).
[[nodiscard]] bool searched_on_site(const KernelRun& planned);

/// Throws Error(bad_input) if run.without_moves or replay.late_moves names an unknown move.
void check_move_names(const Options& options, const Plugins& plugins);

/// The runs requested by the command line of `warpath run`: one per spec, in order. Rejects
/// everything that can be rejected before the first evaluation: specs, duplicate names, options,
/// runner, prior, folders that already contain a run (without --resume). Writes nothing. Throws
/// Error.
[[nodiscard]] std::vector<KernelRun> plan_batch(const Arguments& arguments,
                                                const Plugins& plugins,
                                                const Program& program);

/// Searches one spec to its end. Throws as run_session.
[[nodiscard]] SessionResult run_kernel(const KernelRun& planned,
                                       bool resume,
                                       const Plugins& plugins,
                                       const Program& program,
                                       SessionObserver& observer,
                                       const std::stop_token& stop,
                                       const std::stop_token& abandon);

}  // namespace warpath
