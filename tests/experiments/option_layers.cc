#include "experiments/console/option_layers.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/plugin/options_io.h"
#include "experiments/setup/option_groups.h"
#include "tests/experiments/program.h"
#include "tests/support/figure.h"

using warpath::Options;
using namespace warpath::testing;
using Words = std::vector<std::string>;

namespace {

Options layered(const Words& words, const Options& base = warpath::default_options()) {
  const auto flags = warpath::option_flags();
  return warpath::apply_layers(base, warpath::parse_arguments("warpath run", flags, words));
}

std::string problem(const Words& words) {
  try {
    static_cast<void>(layered(words));
  } catch (const warpath::Error& error) {
    CHECK(error.code() == warpath::ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_SUITE_BEGIN("option_layers");

TEST_CASE("without arguments the base stands") {
  Options base;
  base.run.seed = 9;
  CHECK(layered({}) == warpath::default_options());
  CHECK(layered({}) == Options{});
  CHECK(layered({}, base) == base);
}

TEST_CASE("a file overlays the base, flags overlay the file, --set overlays all") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  write_file(
      file, R"({"run": {"seed": 2, "budget_builds": 20, "patience": 5}, "search": {"c_puct": 2}})");
  const Options options = layered(
      {"--seed", "3", "--budget-builds", "30", "--config", file, "--set", "run.budget_builds=40"});
  CHECK(to_json(options)["search"]["c_puct"] == 2);
  CHECK(to_json(options)["run"]["patience"] == 5);
  CHECK(options.run.seed == 3);
  CHECK(options.run.budget_builds == 40);
}

TEST_CASE("an option has one owner") {
  std::set<std::string> keys;
  for (const warpath::OptionRow& row : warpath::option_rows(warpath::default_options())) {
    CAPTURE(row.key);
    CHECK(keys.insert(row.group + "." + row.key).second);
  }
}

TEST_CASE("every flag reaches its option") {
  for (const warpath::OptionRow& row : warpath::option_rows(warpath::default_options())) {
    if (row.flag.empty()) continue;
    CAPTURE(row.flag);
    const bool is_switch = row.type == "true or false";
    const std::string word = row.range.empty() ? "word" : row.range.substr(0, row.range.find(','));
    const std::string value = row.type == "text" ? word : "1";
    const auto words = is_switch ? Words{"--" + row.flag} : Words{"--" + row.flag, value};
    const auto json = warpath::to_json(layered(words));
    const auto& member = json.at(row.group).at(row.key);
    CHECK((is_switch ? member == true : row.type == "text" ? member == word : member == 1));
  }
}

TEST_CASE("the resolved options of --print-config load as --config") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  const Options options =
      layered({"--seed", "77", "--set", "search.selection=other", "--set", "synthetic.noise=0.5"});
  write_file(file, warpath::to_json(options).dump(2));
  CHECK(layered({"--config", file}) == options);
}

TEST_CASE("what no option can take is refused with its flag or file, value and range") {
  const TemporaryFolder folder;
  const std::string broken = folder / "broken.json", wrong = folder / "wrong.json",
                    list = folder / "list.json";
  write_file(broken, "{\"run\": ");
  write_file(wrong, R"({"run": {"seed": "one"}})");
  write_file(list, "[]");
  const std::vector<std::pair<Words, std::string>> table{
      {{"--seed", "-1"}, "-1"},
      {{"--seed", "1.5"}, "1.5"},
      {{"--seed", "one"}, "one"},
      {{"--seed", "99999999999999999999999"}, "integer"},
      {{"--budget-builds", "0"}, "1 to 1000000000"},
      {{"--budget-builds", "ten"}, "ten"},
      {{"--budget-seconds", "-3"}, "0.0 to"},
      {{"--min-gain", "nan"}, "nan"},
      {{"--set", "search.c_puct"}, "GROUP.KEY=VALUE"},
      {{"--set", "c_puct=1"}, "GROUP.KEY=VALUE"},
      {{"--set", "search.c_put=1"}, "search/c_put"},
      {{"--set", "serach.c_puct=1"}, "serach"},
      {{"--set", "search.c_puct=1000"}, "0.0 to 100.0"},
      {{"--set", "search.c_puct="}, "search/c_puct"},
      {{"--set", "search.deterministic=1"}, "true or false"},
      {{"--set", "record.snapshot_every={}"}, "integer"},
      {{"--config", folder / "absent.json"}, "absent.json"},
      {{"--config", folder.path().string()}, folder.path().string()},
      {{"--config", broken}, broken},
      {{"--config", wrong}, wrong + "/run/seed"},
      {{"--config", list}, list}};
  for (const auto& [words, expected] : table) {
    CAPTURE(words.back());
    const std::string message = problem(words);
    CAPTURE(message);
    CHECK(message.find(expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  report_figure("bad_inputs", table.size());
}

TEST_SUITE_END();
