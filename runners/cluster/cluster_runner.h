#pragma once

#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cluster/cluster.h"

namespace warpath {

/// The runner `name` with its argument, on the members of a cluster: each has one of its own, and
/// each evaluation goes to the member with most room. Members whose device or platform is of
/// another kind than the first one's are refused. `model`: for runners that evaluate nothing
/// (RunnerTraits::evaluates), one of this process, which answers what needs no evaluation; else
/// null. Each member confirms candidates against the best that it confirmed itself.
[[nodiscard]] std::unique_ptr<Runner> cluster_runner(std::shared_ptr<cluster::Cluster> members,
                                                     const std::string& name,
                                                     const std::string& argument,
                                                     const Options& options,
                                                     std::unique_ptr<Runner> model);

}  // namespace warpath
