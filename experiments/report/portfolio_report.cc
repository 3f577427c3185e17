#include "experiments/report/portfolio_report.h"

#include <vector>

#include "engine/base/format.h"
#include "engine/run/record.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/portfolio_record.h"
#include "experiments/setup/served_sizes.h"

namespace warpath {

std::string portfolio_text(const std::filesystem::path& folder) {
  const auto portfolio = read_portfolio(folder);
  if (!portfolio) return {};
  std::string out;
  for (const PortfolioRecord::Kernel& kernel : portfolio->kernels)
    out += kernel.decision + "  (" +
           (kernel.is_spec_kernel ? "the spec's own kernel"
                                  : kernel.key.short_hex() + ", " + kernel.move) +
           ")\n";
  std::vector<std::vector<std::string>> rows{
      {"workload", "role", "kernel", "baseline ms", "ms", "speed-up", "loss"}};
  for (const PortfolioRecord::Size& size : portfolio->sizes) {
    const bool timed = size.baseline_ms && size.time_ms && size.speedup && size.loss;
    rows.push_back({size.workload, std::string(role_text(size.role)),
                    version_file("kernel", size.kernel), timed ? ms_text(*size.baseline_ms) : "-",
                    timed ? ms_text(*size.time_ms) : "-", timed ? ratio_text(*size.speedup) : "-",
                    timed ? percent_text(*size.loss, 1) : "-"});
  }
  return out + "\nspeed-up " + ratio_text(portfolio->speedup) + " over the scored sizes\n" +
         aligned_text(rows);
}

}  // namespace warpath
