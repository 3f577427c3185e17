#include "experiments/setup/portfolio_record.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/json/record_codec.h"
#include "engine/log/run_folder.h"
#include "engine/spec/spec_fields_io.h"
#include "moves/contract/contract_fields.h"

namespace warpath {

namespace fs = std::filesystem;

template <>
struct Description<PortfolioRecord::Kernel>
    : Record<Kept<"key", &PortfolioRecord::Kernel::key>,
             Kept<"move", &PortfolioRecord::Kernel::move>,
             Kept<"when", &PortfolioRecord::Kernel::when>,
             Kept<"decision", &PortfolioRecord::Kernel::decision>,
             Kept<"file", &PortfolioRecord::Kernel::file>,
             Kept<"is_spec_kernel", &PortfolioRecord::Kernel::is_spec_kernel>,
             Kept<"contract", &PortfolioRecord::Kernel::contract>> {};
template <>
struct Description<PortfolioRecord::Size>
    : Record<Kept<"workload", &PortfolioRecord::Size::workload>,
             Kept<"role", &PortfolioRecord::Size::role>,
             Kept<"weight", &PortfolioRecord::Size::weight>,
             Kept<"values", &PortfolioRecord::Size::values>,
             Kept<"kernel", &PortfolioRecord::Size::kernel, Natural>,
             Kept<"baseline_ms", &PortfolioRecord::Size::baseline_ms>,
             Kept<"time_ms", &PortfolioRecord::Size::time_ms>,
             Kept<"speedup", &PortfolioRecord::Size::speedup>,
             Kept<"best_speedup", &PortfolioRecord::Size::best_speedup>,
             Kept<"loss", &PortfolioRecord::Size::loss>> {};
template <>
struct Description<PortfolioRecord> : Record<AlwaysNumber<"schema", 1>,
                                             Kept<"name", &PortfolioRecord::name>,
                                             Kept<"runner", &PortfolioRecord::runner>,
                                             Kept<"device", &PortfolioRecord::device>,
                                             Kept<"floor", &PortfolioRecord::floor>,
                                             Kept<"speedup", &PortfolioRecord::speedup, AnyNumber>,
                                             Kept<"kernels", &PortfolioRecord::kernels>,
                                             Kept<"sizes", &PortfolioRecord::sizes>> {};

std::optional<PortfolioRecord> read_portfolio(const fs::path& folder) {
  const fs::path file = folder / "portfolio.json";
  std::error_code absent;
  if (!fs::exists(file, absent)) return std::nullopt;
  const nlohmann::json document = read_json_file(file.string());
  PortfolioRecord out;
  Codec<PortfolioRecord>::read(JsonCursor(document, file.string()), out);
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    if (out.sizes[i].kernel >= out.kernels.size())
      JsonCursor(document, file.string())
          .at("sizes")
          .element(i)
          .at("kernel")
          .fail("the number of a kernel");
  }
  return out;
}

void write_portfolio(const fs::path& folder, const PortfolioRecord& portfolio) {
  const nlohmann::json document = Codec<PortfolioRecord>::write(portfolio);
  write_file_atomically(folder / "portfolio.json", json_text(document, 2) + "\n");
}

}  // namespace warpath
