#include "experiments/console/option_layers.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/options_io.h"
#include "experiments/setup/option_groups.h"

namespace warpath {

namespace {

/// The words of a range of words: "record, replay"; none of any other.
std::vector<std::string> words_of(const OptionRow& row) {
  std::vector<std::string> out;
  if (row.type != "text") return out;
  for (std::size_t begin = 0; begin < row.range.size();) {
    const std::size_t end = std::min(row.range.find(", ", begin), row.range.size());
    out.push_back(row.range.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

}  // namespace

std::vector<Flag> option_flags() {
  std::vector<Flag> flags;
  for (const OptionRow& row : option_rows(default_options())) {
    if (row.flag.empty()) continue;
    const bool is_switch = row.type == "true or false";
    flags.push_back({.name = row.flag,
                     .value = is_switch ? "" : (row.type == "text" ? "NAME" : "N"),
                     .help = row.help + (is_switch ? "" : " (" + row.default_value + ")"),
                     .takes = is_switch ? Flag::Takes::nothing : Flag::Takes::one,
                     .words = words_of(row)});
  }
  flags.push_back(
      {.name = "config", .value = "FILE", .help = "options as JSON, as --print-config shows them"});
  flags.push_back(
      {.name = "set",
       .value = "KEY=VALUE",
       .help =
           "any option of `warpath options`, e.g. search.c_puct=0.5; comes after everything else",
       .takes = Flag::Takes::repeated});
  return flags;
}

Options apply_layers(const Options& base, const Arguments& arguments) {
  Options options = base;
  if (const auto file = arguments.value("config"))
    options = overlay_options(options, read_json_file(*file), *file);
  for (const OptionRow& row : option_rows(base)) {
    if (row.flag.empty() || !arguments.has(row.flag)) continue;
    options = set_option(options, row.group + "." + row.key,
                         arguments.value(row.flag).value_or("true"), "--" + row.flag);
  }
  for (const std::string& assignment : arguments.values("set")) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) throw bad_input("--set", assignment, "GROUP.KEY=VALUE");
    const std::string key = assignment.substr(0, equals);
    options = set_option(options, key, assignment.substr(equals + 1), "--set " + key);
  }
  return options;
}

std::string options_text(const Options& options) {
  return to_json(options).dump(2);
}

}  // namespace warpath
