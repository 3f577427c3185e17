#pragma once

#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/ledger/evaluation_ledger.h"

namespace warpath {

/// What a scene says of the options.
[[nodiscard]] std::string evaluation_settings(const Options& options);

/// `inner` under a ledger: outcomes are written to it or served from it, as its mode says. In the
/// mode `replay` there is no inner runner (null): device, lanes and the substituted spec are the
/// recorded ones. `runner_text`: resolved; `spec`: as loaded. Throws as EvaluationLedger::scene;
/// `run` throws Error(bad_input) for what is not on a ledger that is replayed.
[[nodiscard]] std::unique_ptr<Runner> ledger_runner(std::unique_ptr<Runner> inner,
                                                    std::unique_ptr<EvaluationLedger> ledger,
                                                    const std::string& runner_text,
                                                    const KernelSpec& spec,
                                                    const Options& options);

}  // namespace warpath
