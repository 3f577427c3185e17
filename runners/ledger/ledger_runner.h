#pragma once

#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/ledger/evaluation_ledger.h"

namespace warpath {

/// The options of the runner as EvaluationScene::settings.
[[nodiscard]] std::string evaluation_settings(const Options& options);

/// `inner` under a ledger, which records or serves outcomes as its mode says. In mode `replay`
/// `inner` is null; device, lanes and the substituted spec are the recorded ones. `runner_text`:
/// resolved; `spec`: as loaded. Throws as EvaluationLedger::scene; `run` throws Error(bad_input)
/// for a request that a replayed ledger does not hold.
[[nodiscard]] std::unique_ptr<Runner> ledger_runner(std::unique_ptr<Runner> inner,
                                                    std::unique_ptr<EvaluationLedger> ledger,
                                                    const std::string& runner_text,
                                                    const KernelSpec& spec,
                                                    const Options& options);

}  // namespace warpath
