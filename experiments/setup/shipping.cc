#include "experiments/setup/shipping.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/run/run_folder.h"
#include "experiments/setup/recorded_run.h"
#include "moves/edit/source_contract.h"

namespace warpath {

namespace fs = std::filesystem;
using nlohmann::json;

void ship_best(const fs::path& folder, const Hash128& best) {
  const std::string file = (folder / "best_summary.json").string();
  json summary = read_json_file(file);
  std::error_code absent;
  const RecordedRun run(folder);
  if (run.nodes().front().key == best) {
    summary["contract"] = nullptr;
    fs::remove(folder / "best_kernel.cu", absent);
  } else {
    const Variant kernel = run.variant(run.find(best.hex()));
    const SourceContract contract = source_contract(run.spec(), run.device(), kernel);
    const std::string source = shipped_source(run.spec(), kernel, contract);
    summary["contract"] = to_json(contract);
    write_file_atomically(folder / "best_kernel.cu", source);
    const fs::path kept = folder / "variants" / best.hex() / "source.cu";
    if (fs::exists(kept, absent)) write_file_atomically(kept, source);
  }
  write_file_atomically(file, summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::string narrowed_contract(const fs::path& folder) {
  const fs::path file = folder / "best_summary.json";
  std::error_code absent;
  if (!fs::exists(file, absent)) return {};
  const json summary = read_json_file(file.string());
  const json contract = summary.value("contract", json());
  return contract.is_object() ? contract.value("summary", "") : "";
}

}  // namespace warpath
