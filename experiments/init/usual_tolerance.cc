#include "experiments/init/usual_tolerance.h"

#include <nlohmann/json.hpp>

namespace warpath {

nlohmann::ordered_json usual_tolerance(const std::map<std::string, DType>& written) {
  constexpr double kSingle = 1e-4, kHalf = 2e-2, kDouble = 1e-9;
  const auto within = [](double x) {
    return nlohmann::ordered_json{{"atol", x}, {"norm", x}, {"rtol", x}};
  };
  nlohmann::ordered_json out = {{"default", within(kSingle)}};
  for (const auto& [name, dtype] : written) {
    if (!info(dtype).is_float) out[name] = {{"exact", true}};
    if (dtype == DType::f16 || dtype == DType::bf16) out[name] = within(kHalf);
    if (dtype == DType::f64) out[name] = within(kDouble);
  }
  return out;
}

}  // namespace warpath
