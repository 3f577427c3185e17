#include "runners/cuda/counters/ncu_fields.h"

#include <algorithm>
#include <charconv>

namespace warpath::cuda {

std::vector<std::string> split_ncu_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

double ncu_unit_scale(std::string_view unit) {
  struct Known {
    std::string_view name;
    double scale;
  };
  constexpr Known kTimes[] = {{"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
                              {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
  for (const Known& known : kTimes) {
    if (unit == known.name) return known.scale;
  }
  constexpr Known kPrefixes[] = {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  for (const Known& prefix : kPrefixes) {
    const std::string_view rest = unit.substr(std::min(unit.size(), std::size_t{1}));
    if (unit.starts_with(prefix.name) && (rest.starts_with("byte") || rest.starts_with("hz")))
      return prefix.scale;
  }
  return 1;
}

std::optional<double> ncu_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return value;
}

}  // namespace warpath::cuda
