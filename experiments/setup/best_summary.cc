#include "experiments/setup/best_summary.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/log/run_folder.h"
#include "engine/run/session_result_fields.h"
#include "engine/spec/spec_fields_io.h"
#include "moves/contract/contract_fields.h"

namespace warpath {

namespace fs = std::filesystem;

template <>
struct Description<BestSummary::Version>
    : Record<Kept<"when", &BestSummary::Version::when>,
             Kept<"file", &BestSummary::Version::file>,
             Kept<"contract", &BestSummary::Version::contract>> {};
template <>
struct Description<BestSummary::Size>
    : Record<Kept<"workload", &BestSummary::Size::workload>,
             Kept<"role", &BestSummary::Size::role>,
             Kept<"values", &BestSummary::Size::values>,
             Kept<"when", &BestSummary::Size::when>,
             Kept<"version", &BestSummary::Size::version, Natural>,
             Kept<"file", &BestSummary::Size::file>,
             Kept<"baseline_ms", &BestSummary::Size::baseline_ms>,
             Kept<"best_ms", &BestSummary::Size::best_ms>,
             Kept<"speedup", &BestSummary::Size::speedup>> {};
template <>
struct Description<BestSummary> : SessionResultRecord<Added<"contract", &BestSummary::contract>,
                                                      Added<"versions", &BestSummary::versions>,
                                                      Added<"sizes", &BestSummary::sizes>> {};

namespace {

fs::path file_of(const fs::path& folder) {
  return folder / "best_summary.json";
}

}  // namespace

std::optional<BestSummary> read_best_summary(const fs::path& folder) {
  const fs::path file = file_of(folder);
  std::error_code absent;
  if (!fs::exists(file, absent)) return std::nullopt;
  const nlohmann::json document = read_json_file(file.string());
  BestSummary out;
  Codec<BestSummary>::read(JsonCursor(document, file.string()), out);
  return out;
}

nlohmann::json to_json(const BestSummary& summary) {
  return Codec<BestSummary>::write(summary);
}

void write_best_summary(const fs::path& folder, const BestSummary& summary) {
  write_file_atomically(file_of(folder), json_text(to_json(summary), 2) + "\n");
}

}  // namespace warpath
