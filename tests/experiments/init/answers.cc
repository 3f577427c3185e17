#include "experiments/init/answers.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/init/guesses.h"
#include "moves/syntax/unit.h"
#include "tests/experiments/program.h"

using namespace warpath;
using namespace warpath::testing;
using json = nlohmann::ordered_json;

namespace {

const std::string kSpec = R"({"kernel": {
  "metadata": {"kernel_name": "k", "name_expressions": ["k<float, 4>"]},
  "io": {"args": [
    {"name": "x", "type": "tensor", "role": "inout",
     "tensor_spec": {"shape": ["n"], "dtype": "float32"}},
    {"name": "at", "type": "tensor", "role": "input",
     "tensor_spec": {"shape": ["n"], "dtype": "int32",
                     "init": {"kind": "randint", "low": 0, "high": "n", "seed": 7}}},
    {"name": "n", "type": "int", "value": 256}],
   "launch": {"grid": {"x": "n"}, "block": {"x": "BLOCK"}}}},
  "tunables": [{"name": "BLOCK", "values": [64, 128], "default": 128}],
  "tolerance": {"default": {"atol": 1}},
  "guessed": [
    {"path": "/kernel/metadata/name_expressions/0", "why": "t"},
    {"path": "/kernel/io/args/0/role", "why": "r"},
    {"path": "/kernel/io/args/1/tensor_spec/init", "why": "i"},
    {"path": "/kernel/io/args/2/value", "why": "v"},
    {"path": "/kernel/source_file", "why": "a name is taken"},
    {"path": "/tunables/0/default", "why": "b"},
    {"path": "/tolerance", "why": "c"}]}})";

/// A kernel with a template parameter `T`.
const model::Unit& unit() {
  static const model::Unit parsed = model::parse(
      "template <typename T, int L> __global__ void k(T* x, const int* at, int n) { x[n] = L; }");
  return parsed;
}

json answered(const std::vector<std::string>& words) {
  json whole = json::parse(kSpec.substr(0, kSpec.size() - 1));
  return json::parse(with_answers(whole.dump(), parse_answers(words), *unit().functions()[0]));
}

std::string first_error(const std::vector<std::string>& words) {
  try {
    (void)answered(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("init_answers");

TEST_CASE("every guess has a name that answers it") {
  const json spec = json::parse(kSpec.substr(0, kSpec.size() - 1));
  std::string lines;
  for (const json& guess : spec["guessed"]) lines += guess_line(spec, guess) + "\n";
  CHECK(
      lines ==
      "template_arguments = float, 4: t\nx = inout: r\nat = 0..n: i\nn = 256: v\n"
      "the text: a name is taken\nblock.x = 128: b\n/tolerance = {\"default\":{\"atol\":1}}: c\n");
}

TEST_CASE("an answer takes the place of a guess, which it is no more") {
  const json spec = answered({"n=64", "x=output", "x=[n, 2 * n]", "at=1..n + 1"});
  const json& args = spec["kernel"]["io"]["args"];
  CHECK(args[2]["value"] == 64);
  CHECK(args[0]["role"] == "output");
  CHECK(args[0]["tensor_spec"]["shape"] == json::parse(R"(["n", "2 * n"])"));
  CHECK(args[1]["tensor_spec"]["init"] ==
        json::parse(R"({"kind": "randint", "low": 1, "high": "n + 1", "seed": 7})"));
  CHECK(spec["guessed"].size() == 4);
  CHECK(answered({"at={\"kind\": \"permutation\"}"})["kernel"]["io"]["args"][1]["tensor_spec"]
                                                    ["init"]["kind"] == "permutation");
  CHECK(answered({"x=zeros"})["kernel"]["io"]["args"][0]["tensor_spec"]["init"]["kind"] == "zeros");
  CHECK(answered({"x=0..1"})["kernel"]["io"]["args"][0]["tensor_spec"]["init"]["kind"] ==
        "uniform");
  CHECK(answered({"BLOCK=64"})["tunables"][0]["default"] == 64);
  CHECK(answered({"/tolerance/default/atol=2"})["tolerance"]["default"]["atol"] == 2);
}

TEST_CASE("an answer that the spec has no place for names what it could be") {
  CHECK(first_error({"rows"}).find("NAME=VALUE") != std::string::npos);
  CHECK(first_error({"rows=4"}).find("x, at, n, template parameters") != std::string::npos);
  CHECK(first_error({"n=many"}).find("a number") != std::string::npos);
  CHECK(first_error({"at=sorted"}).find("LOW..HIGH") != std::string::npos);
}

TEST_CASE("template parameters and launches are answered before the draft") {
  std::vector<TemplateArgument> arguments{
      {.name = "T", .value = "float", .is_type = true, .why = "t"},
      {.name = "L", .value = "4", .is_type = false, .why = "t"}};
  take_answers(parse_answers({"L=8"}), arguments);
  CHECK((arguments[0].value == "float" && !arguments[0].why.empty()));
  CHECK((arguments[1].value == "8" && arguments[1].why.empty()));
  take_answers(parse_answers({"template_arguments=double, 2"}), arguments);
  CHECK((arguments[0].value == "double" && arguments[1].value == "2"));
  const model::Function& kernel = *unit().functions()[0];
  const auto launch =
      answered_launch(parse_answers({"n=64", "grid.x=n / 2", "block.y=n"}), kernel, std::nullopt);
  REQUIRE(launch);
  CHECK(launch->grid[0]->text() == "n / 2");
  CHECK_FALSE(launch->grid[1]);
  CHECK(launch->threads(1) == 64);
  CHECK_FALSE(launch->threads(0));
  CHECK_FALSE(answered_launch({}, kernel, std::nullopt));
  CHECK_THROWS_AS((void)answered_launch(parse_answers({"grid.x=rows"}), kernel, std::nullopt),
                  Error);
  const HostLaunch said = launch_in_words("k<float, 8><<<dim3(n, 2), 128, 64>>>(a, b, n)", kernel);
  CHECK(said.grid[0]->text() == "n");
  CHECK(said.block[0]->constant() == 128);
  CHECK(said.dynamic_smem_bytes->constant() == 64);
  CHECK(said.template_arguments == std::vector<std::string>{"float", "8"});
  CHECK_THROWS_AS((void)launch_in_words("other<<<1, 2>>>(a, b, 1)", kernel), Error);
}

TEST_CASE("a type that templates elsewhere make is float; a class of the text is none") {
  const model::Unit unit = model::parse(
      "template <typename T> using acc = typename traits<T>::type;\n"
      "template <typename T> struct own { T x; };\n"
      "__global__ void k(acc<float>* a, other<float, true>* b, plain* c) { a[0] = 1; }\n"
      "__global__ void l(own<float>* a) { a[0].x = 1; }\n");
  std::string why;
  std::set<std::string> foreign;
  const auto parameters = kernel_parameters(unit, *unit.find_function("k"), {}, why, &foreign);
  REQUIRE(parameters);
  for (const KernelParameter& one : *parameters) CHECK(one.dtype == DType::f32);
  CHECK(foreign == std::set<std::string>{"acc<float>", "other<float, true>", "plain"});
  CHECK(declaration_as_float(unit, "plain") == "using plain = float;\n");
  CHECK(declaration_as_float(unit, "other<float, true>") ==
        "template <typename, auto>\nusing other = float;\n");
  CHECK(declaration_as_float(unit, "acc<float>").empty());
  CHECK_FALSE(kernel_parameters(unit, *unit.find_function("l"), {}, why, &foreign));
}

TEST_CASE("questions: an empty line keeps a guess, a wrong answer is asked again") {
  const auto drafted = [](const Answers& answers) {
    for (const auto& [name, value] : answers)
      if (value == "0") throw bad_input("answer", name, "no 0");
    json guesses = json::array();
    if (!answers.contains("n"))
      guesses.push_back({{"path", "/kernel/io/args/0/value"}, {"why", "a"}});
    // what follows from n is guessed only as long as n is
    if (!answers.contains("n")) guesses.push_back({{"path", "/m"}, {"why", "by n"}});
    guesses.push_back({{"path", "/kernel/source_file"}, {"why", "told"}});
    guesses.push_back({{"path", "/p"}, {"why", "c"}});
    return json{{"kernel", {{"io", {{"args", {{{"name", "n"}, {"value", 4}}}}}}}},
                {"m", 1},
                {"p", "q"},
                {"guessed", guesses}}
        .dump();
  };
  Answers answers;
  std::istringstream in("0\n8\n\n");
  std::ostringstream out;
  ask_guesses(answers, in, out, drafted);
  CHECK(answers == Answers{{"n", "8"}});
  CHECK(out.str() ==
        "n = 4: a\n> answer: got n, expected no 0\nn = 4: a\n> the text: told\n/p = q: c\n> ");
  Answers none;
  std::istringstream ended("");
  ask_guesses(none, ended, out, drafted);
  CHECK(none.empty());
}

TEST_CASE("a kernel whose block is what host code knows verifies with an answer") {
  const TemporaryFolder folder;
  write_file(folder / "k.cu", R"(
__global__ void rows(float* y, const float* x, const int* lengths, int width) {
  int row = blockIdx.x;
  y[row] = x[row * width + lengths[row] - 1];
}
)");
  const std::string spec = folder / "k.json";
  const auto made =
      run_program({"init", folder / "k.cu", "--output", spec, "--answer", "width=32", "--answer",
                   "lengths=1..width + 1", "--launch", "rows<<<n, 1>>>(y, x, lengths, w)"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  CHECK(made.out.find("guessed width") == std::string::npos);
  CHECK(made.out.find("guessed lengths = ") == std::string::npos);
  const KernelSpec read = load_specs(spec).front();
  CHECK(read.io.args[3].name == "width");
  CHECK(run_program({"evaluate", "--input", spec, "--runner", "host"}).code == 0);
}

TEST_SUITE_END();
