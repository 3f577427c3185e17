#include "experiments/console/command_line.h"

#include <doctest/doctest.h>

#include "engine/base/error.h"

using warpath::Arguments;
using warpath::Flag;
using warpath::parse_arguments;
using Words = std::vector<std::string>;

namespace {

const std::vector<Flag> kFlags{
    {.name = "input", .value = "SPEC...", .help = "", .takes = Flag::Takes::several},
    {.name = "seed", .value = "N", .help = ""},
    {.name = "set", .value = "KEY=VALUE", .help = "", .takes = Flag::Takes::repeated},
    {.name = "resume", .value = "", .help = "", .takes = Flag::Takes::nothing}};

Arguments parse(const Words& words) {
  return parse_arguments("warpath run", kFlags, words);
}

std::string problem(const Words& words) {
  try {
    static_cast<void>(parse(words));
  } catch (const warpath::Error& error) {
    CHECK(error.code() == warpath::ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_SUITE_BEGIN("command_line");

TEST_CASE("a value follows its flag as a word of its own or after an equals sign") {
  CHECK(parse({"--seed", "7"}).value("seed") == "7");
  CHECK(parse({"--seed=7"}).value("seed") == "7");
  CHECK(parse({"--set", "a.b=c=d"}).value("set") == "a.b=c=d");
  CHECK(parse({"--set=a.b=c"}).value("set") == "a.b=c");
  CHECK(parse({"--seed", "-7"}).value("seed") == "-7");
}

TEST_CASE("a flag that takes several words takes all up to the next flag, and may be given again") {
  CHECK(parse({"--input", "a", "b", "--resume", "--input", "c"}).values("input") ==
        Words{"a", "b", "c"});
}

TEST_CASE("words that belong to no flag stay in order, and after two dashes everything is one") {
  CHECK(parse({"a", "--resume", "b"}).words() == Words{"a", "b"});
  CHECK(parse({"a", "--", "--resume", "-x"}).words() == Words{"a", "--resume", "-x"});
}

TEST_CASE("an unknown flag is refused with the nearest one") {
  CHECK(problem({"--seeed", "1"}) ==
        "warpath run: got --seeed, expected a known flag; did you mean --seed?");
  CHECK(problem({"--zzzzzz"}) ==
        "warpath run: got --zzzzzz, expected one of its flags; `warpath run --help` lists them");
  CHECK(problem({"-s", "1"}) == "warpath run: got -s, expected flags with two dashes");
}

TEST_CASE("missing, superfluous and repeated values are refused") {
  CHECK(problem({"--seed"}) == "--seed: expected a value: N");
  CHECK(problem({"--seed", "--resume"}) == "--seed: expected a value: N");
  CHECK(problem({"--seed="}) == "--seed: expected a value: N");
  CHECK(problem({"--input"}) == "--input: expected a value: SPEC...");
  CHECK(problem({"--resume=yes"}) == "--resume: got yes, expected no value");
  CHECK(problem({"--seed", "1", "--seed", "2"}) ==
        "warpath run: got --seed again, expected it once");
  CHECK(problem({"--resume", "--resume"}) == "warpath run: got --resume again, expected it once");
}

TEST_CASE("help is known to every command") {
  CHECK(parse({"--help"}).has("help"));
}

TEST_CASE("nearest finds a typing error and keeps quiet about anything else") {
  const Words names{"run", "validate", "options", "moves"};
  CHECK(warpath::nearest("rnu", names) == "run");
  CHECK(warpath::nearest("optoins", names) == "options");
  CHECK(warpath::nearest("frobnicate", names) == "");
}

TEST_SUITE_END();
