#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/plugin/options_io.h"
#include "experiments/setup/option_groups.h"
#include "register_commands.h"

namespace warpath {
namespace {

void print_json(const std::vector<OptionRow>& rows) {
  nlohmann::json out = nlohmann::json::array();
  for (const OptionRow& row : rows) {
    out.push_back({{"key", row.group + "." + row.key},
                   {"flag", row.flag.empty() ? "" : "--" + row.flag},
                   {"type", row.type},
                   {"default", nlohmann::json::parse(row.default_value)},
                   {"range", row.range},
                   {"help", row.help},
                   {"source", row.source}});
  }
  std::printf("%s\n", out.dump(2).c_str());
}

int print_options(const Arguments& arguments, const Program&) {
  const std::vector<OptionRow> rows = option_rows(default_options());
  if (arguments.has("json")) {
    print_json(rows);
    return 0;
  }
  std::vector<std::array<std::string, 7>> cells{
      {"key", "flag", "type", "default", "range", "help", "source"}};
  for (const OptionRow& row : rows) {
    cells.push_back({row.group + "." + row.key, row.flag.empty() ? "" : "--" + row.flag, row.type,
                     row.default_value, row.range, row.help, row.source});
  }
  std::array<std::size_t, 7> widths{};
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
      text += line[i] + std::string(widths[i] + 2 - line[i].size(), ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    std::printf("%s\n", text.c_str());
  }
  return 0;
}

}  // namespace

void register_command_options(CommandRegistry& registry) {
  registry.push_back(
      {.name = "options",
       .usage = "[--json]",
       .help = "every option: key, flag, type, default, range, help, source",
       .flags = {{.name = "json", .value = "", .help = "as JSON", .takes = Flag::Takes::nothing}},
       .run = print_options});
}

}  // namespace warpath
