#pragma once

#include <stop_token>
#include <vector>

#include "experiments/console/command.h"
#include "experiments/console/summary_table.h"
#include "experiments/evaluate/batch.h"

namespace warpath {

/// Searches the kernels of a batch on the machines that `--site` names, each with an engine of its
/// own, one kernel at a time, into the common output folder. A kernel whose machine is lost goes on
/// elsewhere from its record. Says on stderr what is done. Returns a report for each kernel begun,
/// in the order of `runs`; once `stop` is requested engines are ended, and what they recorded can
/// be resumed.
[[nodiscard]] std::vector<KernelReport> run_on_site(const std::vector<KernelRun>& runs,
                                                    const Arguments& arguments,
                                                    const Program& program,
                                                    const std::stop_token& stop);

}  // namespace warpath
