#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/spec/spec.h"
#include "moves/contract/source_contract.h"

namespace warpath {

/// portfolio.json of a run folder (docs/run-folder.md): the kernels that serve the sizes of a spec
/// best, in the order in which they are tried.
struct PortfolioRecord {
  struct Kernel {
    Hash128 key;           ///< of the variant
    std::string move;      ///< that made it
    Bindings when;         ///< sizes for which it is launched; empty: any
    std::string decision;  ///< "if N == 512 -> portfolio/kernel.cu"
    std::string file;      ///< within the run's folder
    bool is_spec_kernel = false;
    SourceContract contract;
  };
  struct Size {
    std::string workload;
    WorkloadRole role = WorkloadRole::score;
    double weight = 1;
    Bindings values;
    std::size_t kernel = 0;  ///< that serves it, in `kernels`
    /// absent: it is only checked
    std::optional<double> baseline_ms, time_ms, speedup;
    std::optional<double> best_speedup;  ///< of any measured kernel
    std::optional<double> loss;          ///< share of the time that it would save
  };
  std::string name, runner, device;  ///< of the run
  double floor = 0;                  ///< least speed-up of any size
  double speedup = 1;                ///< by the objective
  std::vector<Kernel> kernels;
  std::vector<Size> sizes;
};

/// nullopt if the run has none. Throws Error(bad_input) naming file and key if it is damaged.
[[nodiscard]] std::optional<PortfolioRecord> read_portfolio(const std::filesystem::path& folder);
/// Written atomically.
void write_portfolio(const std::filesystem::path& folder, const PortfolioRecord& portfolio);

}  // namespace warpath
