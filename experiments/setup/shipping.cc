#include "experiments/setup/shipping.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/versions.h"
#include "engine/run/record.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/portfolio_file.h"
#include "experiments/setup/served_sizes.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

std::vector<BestSummary::Size> summary_sizes(const std::vector<ServedSize>& sizes,
                                             const std::vector<const Variant*>& kernels) {
  std::vector<BestSummary::Size> out;
  for (const ServedSize& one : sizes) {
    BestSummary::Size& size = out.emplace_back();
    size.workload = one.workload;
    size.role = one.role;
    size.values = one.values;
    size.when = kernels[one.version]->when;
    size.version = one.version;
    size.file = version_file("best_kernel", one.version);
    if (!(one.time_ns > 0)) continue;
    size.baseline_ms = one.baseline_ns * 1e-6;
    size.best_ms = one.time_ns * 1e-6;
    size.speedup = one.speedup();
  }
  return out;
}

}  // namespace

void ship_best(const fs::path& folder, const SessionResult& result) {
  std::error_code absent;
  const std::string spec_file = (folder / "input_spec.json").string();
  const KernelSpec spec = spec_from_json(read_json_file(spec_file), spec_file);
  const DeviceFacts device = recorded_device(folder).value_or(DeviceFacts{});
  for (std::size_t i = 0; i <= kMostVersions; ++i)
    fs::remove(folder / version_file("best_kernel", i), absent);
  BestSummary summary{result, {}, {}, {}};
  const Variant& variant = *result.best;
  const std::vector<const Variant*> kernels = kernels_of(variant);
  if (result.best_key != variant_key(baseline_variant(spec))) {
    const auto contracts = source_contracts(spec, device, variant);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::string source = shipped_source(spec, *kernels[i], contracts[i]);
      const std::string shipped = version_file("best_kernel", i);
      write_file_atomically(folder / shipped, source);
      const fs::path kept = folder / "variants" / result.best_key.hex() / version_file("source", i);
      if (fs::exists(kept, absent)) write_file_atomically(kept, source);
      if (kernels.size() > 1) summary.versions.push_back({kernels[i]->when, shipped, contracts[i]});
    }
    summary.contract = contracts.front();
  }
  const std::vector<ServedSize> sizes =
      served_sizes(spec, device, variant, result.best_outcome.get(), result.baseline_outcome.get());
  if (sizes.size() > 1) summary.sizes = summary_sizes(sizes, kernels);
  write_best_summary(folder, summary);
  ship_portfolio(folder, spec, device);
}

std::string narrowed_contract(const fs::path& folder) {
  const auto summary = read_best_summary(folder);
  if (!summary || !summary->versions.empty() || !summary->contract) return {};
  return contract_summary(*summary->contract);
}

std::vector<std::string> size_lines(const fs::path& folder) {
  std::vector<std::string> out;
  const auto summary = read_best_summary(folder);
  if (!summary || !summary->contract) return out;
  for (const BestSummary::Size& size : summary->sizes) {
    const bool timed = size.baseline_ms && size.best_ms && size.speedup;
    std::string line = size.workload + ": " +
                       (timed ? ms_text(*size.baseline_ms) + " ms -> " + ms_text(*size.best_ms) +
                                    " ms, " + ratio_text(*size.speedup)
                              : "verified");
    if (!summary->versions.empty())
      line += ", by " + size.file + " for " + condition_text(size.when);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace warpath
