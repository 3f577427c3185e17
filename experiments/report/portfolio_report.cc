#include "experiments/report/portfolio_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/run/record.h"
#include "experiments/console/table_text.h"

namespace warpath {

using nlohmann::json;

std::string portfolio_text(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "portfolio.json";
  std::error_code absent;
  if (!std::filesystem::exists(file, absent)) return {};
  const json read = read_json_file(file.string());
  std::string out;
  for (const json& kernel : read.at("kernels"))
    out += kernel.at("decision").get<std::string>() + "  (" +
           (kernel.at("is_spec_kernel").get<bool>()
                ? "the spec's own kernel"
                : kernel.at("key").get<std::string>().substr(0, 12) + ", " +
                      kernel.at("move").get<std::string>()) +
           ")\n";
  std::vector<std::vector<std::string>> rows{
      {"workload", "role", "kernel", "baseline ms", "ms", "speed-up", "loss"}};
  for (const json& size : read.at("sizes")) {
    const bool timed = size.at("time_ms").is_number();
    const auto ms = [&](const char* key) {
      return timed ? ms_text(size.at(key).get<double>()) : std::string("-");
    };
    const auto number = size.at("kernel").get<std::size_t>();
    rows.push_back({size.at("workload").get<std::string>(), size.at("role").get<std::string>(),
                    version_file("kernel", number), ms("baseline_ms"), ms("time_ms"),
                    timed ? ratio_text(size.at("speedup").get<double>()) : "-",
                    timed ? percent_text(size.at("loss").get<double>(), 1) : "-"});
  }
  return out + "\nspeed-up " + ratio_text(read.at("speedup").get<double>()) +
         " over the scored sizes\n" + aligned_text(rows);
}

}  // namespace warpath
