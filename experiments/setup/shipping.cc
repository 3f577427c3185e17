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
#include "experiments/setup/portfolio_file.h"
#include "experiments/setup/served_sizes.h"
#include "moves/edit/contract_text.h"
#include "moves/edit/source_contract.h"

namespace warpath {

namespace fs = std::filesystem;
using nlohmann::json;

void ship_best(const fs::path& folder, const SessionResult& result) {
  const std::string file = (folder / "best_summary.json").string();
  json summary = read_json_file(file);
  std::error_code absent;
  const std::string spec_file = (folder / "input_spec.json").string();
  const KernelSpec spec = spec_from_json(read_json_file(spec_file), spec_file);
  const DeviceFacts device = recorded_device(folder).value_or(DeviceFacts{});
  for (std::size_t i = 0; i <= kMostVersions; ++i)
    fs::remove(folder / version_file("best_kernel", i), absent);
  summary["contract"] = nullptr;
  summary["versions"] = json::array();
  const Variant& variant = *result.best;
  if (result.best_key != variant_key(baseline_variant(spec))) {
    const std::vector<const Variant*> kernels = kernels_of(variant);
    const auto contracts = source_contracts(spec, device, variant);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::string source = shipped_source(spec, *kernels[i], contracts[i]);
      const std::string shipped = version_file("best_kernel", i);
      write_file_atomically(folder / shipped, source);
      const fs::path kept = folder / "variants" / result.best_key.hex() / version_file("source", i);
      if (fs::exists(kept, absent)) write_file_atomically(kept, source);
      if (kernels.size() > 1)
        summary["versions"].push_back(
            {{"when", kernels[i]->when}, {"file", shipped}, {"contract", to_json(contracts[i])}});
    }
    summary["contract"] = to_json(contracts.front());
  }
  const std::vector<ServedSize> sizes =
      served_sizes(spec, device, variant, result.best_outcome.get(), result.baseline_outcome.get());
  summary["sizes"] = sizes.size() > 1 ? to_json(sizes, variant) : json::array();
  write_file_atomically(file, summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  ship_portfolio(folder, spec, device);
}

std::string narrowed_contract(const fs::path& folder) {
  const fs::path file = folder / "best_summary.json";
  std::error_code absent;
  if (!fs::exists(file, absent)) return {};
  const json summary = read_json_file(file.string());
  if (!summary.value("versions", json::array()).empty()) return {};
  const json contract = summary.value("contract", json());
  return contract.is_object() ? contract.value("summary", "") : "";
}

std::vector<std::string> size_lines(const fs::path& folder) {
  std::vector<std::string> out;
  const fs::path file = folder / "best_summary.json";
  std::error_code absent;
  if (!fs::exists(file, absent)) return out;
  const json summary = read_json_file(file.string());
  if (summary.value("contract", json()).is_null()) return out;
  const bool versions = !summary.value("versions", json::array()).empty();
  for (const json& size : summary.value("sizes", json::array())) {
    std::string line = size.at("workload").get<std::string>() + ": ";
    line += size.at("best_ms").is_number()
                ? ms_text(size.at("baseline_ms").get<double>()) + " ms -> " +
                      ms_text(size.at("best_ms").get<double>()) + " ms, " +
                      ratio_text(size.at("speedup").get<double>())
                : "verified";
    if (versions)
      line += ", by " + size.at("file").get<std::string>() + " for " +
              condition_text(size.at("when").get<Bindings>());
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace warpath
