#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runners/cluster/placement.h"

namespace warpath::cluster {

struct SlurmWish {
  std::string flag;  ///< that named the partition
  std::string partition;
  std::optional<int> members;          ///< absent: one for each node of the partition
  std::vector<std::string> arguments;  ///< further ones of sbatch
  MemberCommand command;
  std::filesystem::path folder;  ///< for the logs
};

/// Members as jobs of one task each, which Slurm starts again after the failure of a node. They are
/// cancelled at the end, however this process ends. Throws Error(environment) if Slurm does not
/// answer or knows no such partition.
[[nodiscard]] std::unique_ptr<Placement> slurm_placement(SlurmWish wish);

}  // namespace warpath::cluster
