#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "experiments/ship/export_folder.h"
#include "experiments/ship/expression_code.h"
#include "experiments/ship/template_text.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"
#include "tests/experiments/twice_spec.h"
#include "tests/support/recorded_gpu_run.h"
#include "tests/support/spec_fixtures.h"

using namespace warpath;
using namespace warpath::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// A random expression over n and m, as text.
std::string random_text(Rng& rng, int depth) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(rng.below(n)); };
  if (depth == 0 || below(5) == 0) {
    const std::vector<std::string> leaves{"n", "m",  "0",          "1",
                                          "7", "-3", "4294967296", "9223372036854775807"};
    return leaves[below(leaves.size())];
  }
  const auto operand = [&] { return "(" + random_text(rng, depth - 1) + ")"; };
  const std::vector<std::string> infix{
      "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  switch (below(5)) {
    case 0:
      return operand() + " ? " + operand() + " : " + operand();
    case 1: {
      const std::vector<std::string> functions{"ceil_div", "min", "max", "align_up"};
      return functions[below(4)] + "(" + random_text(rng, depth - 1) + ", " +
             random_text(rng, depth - 1) + ")";
    }
    case 2:
      return std::vector<std::string>{"-", "not ", "abs"}[below(3)] + operand();
    default:
      return operand() + " " + infix[below(infix.size())] + " " + operand();
  }
}

/// The functions of an exported sizes.h, without arguments and tensors.
std::string arithmetic() {
  const std::string text = read_file(source_root() / "experiments/ship/templates/sizes.h.in");
  return fill_template(
      text,
      {{"TITLE", ""}, {"GUARD", "SIZES_H"}, {"FIELDS", "  long long n, m;"}, {"TENSORS", ""}});
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) out.push_back(fs::relative(entry.path(), folder).string());
  std::ranges::sort(out);
  return out;
}

/// A run of the host runner whose search finds what it is told.
const std::string& host_run() {
  static const TemporaryFolder folder;
  static const std::string run = [] {
    const ProgramResult done = run_program(
        {"run", "--input", wasteful_spec(folder), "--runner", "host", "--budget-builds", "1",
         "--finalists", "1", "--proposals", ending_waste(folder), "--outdir", folder / "out",
         "--set", "host.timing_seconds=0.01", "--set", "record.sync=never"});
    REQUIRE_MESSAGE(done.code == 0, done.err);
    return folder / "out/kernels/twice";
  }();
  return run;
}

}  // namespace

TEST_SUITE_BEGIN("export");

TEST_CASE("an expression in C has the value of the expression, or says that there is none") {
  const TemporaryFolder folder;
  Rng rng(5, "expressions");
  std::vector<Expression> expressions;
  std::string code = "#include <stdio.h>\n#include \"sizes.h\"\n";
  for (int i = 0; i < 400; ++i) {
    expressions.push_back(Expression::parse(random_text(rng, 4), "test"));
    code +=
        "static long long f" + std::to_string(i) +
        "(const struct arguments* a, int* out) {\n  int bad = 0;\n  (void)a;\n  const long long "
        "value = " +
        c_expression(expressions.back(), [](const std::string& name) { return "a->" + name; }) +
        ";\n  *out = bad;\n  return value;\n}\n";
  }
  const std::vector<std::pair<std::int64_t, std::int64_t>> points{
      {0, 1}, {12, -5}, {1000000007, 3}, {INT64_MIN, -1}, {INT64_MAX, INT64_MAX}};
  code += "int main(void) {\n  int bad;\n  long long value;\n";
  for (const auto& point : points) {
    code += "  { const struct arguments a = {" +
            (point.first == INT64_MIN ? "-9223372036854775807LL - 1"
                                      : std::to_string(point.first) + "LL") +
            ", " + std::to_string(point.second) + "LL};\n";
    for (int i = 0; i < 400; ++i)
      code += "  value = f" + std::to_string(i) +
              "(&a, &bad); if (bad) puts(\"none\"); else printf(\"%lld\\n\", value);\n";
    code += "  }\n";
  }
  write_file(folder / "sizes.h", arithmetic());
  write_file(folder / "main.c", code + "  return 0;\n}\n");
  const CommandOutput built =
      run_in(folder.path(), {"cc", "-std=c11", "-O0", "-w", "-fsanitize=undefined",
                             "-fno-sanitize-recover", "main.c", "-o", "main"});
  REQUIRE_MESSAGE(built.code == 0, built.text);
  const CommandOutput ran = run_in(folder.path(), {"./main"});
  REQUIRE_MESSAGE(ran.code == 0, ran.text);
  const auto lines = lines_of(ran.text);
  REQUIRE(lines.size() == points.size() * expressions.size());
  std::size_t line = 0, defined = 0;
  for (const auto& [n, m] : points) {
    for (const Expression& expression : expressions) {
      std::string expected = "none";
      try {
        expected = std::to_string(expression.evaluate({{"n", n}, {"m", m}}, ""));
        ++defined;
      } catch (const Error&) {
      }
      CAPTURE(expression.text());
      CAPTURE(n);
      CAPTURE(m);
      CHECK(lines[line++] == expected);
    }
  }
  CHECK(defined > 400);
  CHECK(defined + 200 < lines.size());
}

TEST_CASE("an expression in Python has the value of the expression") {
  const TemporaryFolder folder;
  const std::string launcher = read_file(source_root() / "experiments/ship/templates/python.py.in");
  const std::size_t begin = launcher.find("def _quotient"), end = launcher.find("@FUNCTIONS@");
  REQUIRE(begin < end);
  std::string code = launcher.substr(begin, end - begin);
  std::vector<std::string> expected;
  Rng rng(6, "expressions");
  for (int i = 0; i < 600; ++i) {
    const Expression expression = Expression::parse(random_text(rng, 4), "test");
    for (const auto& [n, m] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 1}, {12, -5}, {-7, 3}, {1000000007, 3}}) {
      try {
        expected.push_back(std::to_string(expression.evaluate({{"n", n}, {"m", m}}, "")));
      } catch (const Error&) {
        continue;
      }
      code += "n, m = " + std::to_string(n) + ", " + std::to_string(m) + "\nprint(int(" +
              python_expression(expression, [](const std::string& name) { return name; }) + "))\n";
    }
  }
  write_file(folder / "values.py", code);
  const CommandOutput ran = run_in(folder.path(), {"python3", "values.py"});
  REQUIRE_MESSAGE(ran.code == 0, ran.text);
  CHECK(lines_of(ran.text) == expected);
  CHECK(expected.size() > 800);
}

TEST_CASE(
    "a host run is exported as a folder that says what it relies on and where it comes from") {
  const TemporaryFolder folder;
  const ProgramResult made =
      run_program({"export", host_run(), folder / "out/twice", "--arch", "none"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  CHECK(made.out.find("CPU timings") != std::string::npos);
  const fs::path out = folder / "out/twice";
  const auto files = files_below(out);
  for (const char* const name :
       {"twice.h", "best_kernel.cu", "original_kernel.cu", "twice_driver.c", "twice_runtime.c",
        "twice_tvm_ffi.cc", "twice_torch.cc", "twice_test.cc", "Makefile", "CMakeLists.txt",
        "README.md", "provenance.json"}) {
    CAPTURE(name);
    CHECK(std::ranges::find(files, name) != files.end());
  }
  // the temporary folder beside it is gone
  CHECK(std::distance(fs::directory_iterator(folder / "out"), fs::directory_iterator()) == 1);
  CHECK(read_file(out / "best_kernel.cu") == read_file(fs::path(host_run()) / "best_kernel.cu"));
  const json summary = json::parse(read_file(fs::path(host_run()) / "best_summary.json"));
  const json provenance = json::parse(read_file(out / "provenance.json"));
  CHECK(provenance["key"] == summary["best_key"]);
  CHECK(provenance["speedup"] == summary["speedup"]);
  CHECK(provenance["verdict"]["passed"] == true);
  CHECK(provenance["runner"] == "host");
  for (const auto& [name, hash] : provenance["files"].items())
    CHECK(hash128(read_file(out / name)).hex() == hash.get<std::string>());
  CHECK(provenance["files"].size() + 1 == files.size());
  for (const std::string& name : files) {
    CAPTURE(name);
    CHECK(read_file(out / name).find(host_run()) == std::string::npos);
  }
  REQUIRE(run_program({"export", host_run(), folder / "again", "--arch", "none"}).code == 0);
  for (const std::string& name : files)
    CHECK(read_file(out / name) == read_file(fs::path(folder / "again") / name));
}

TEST_CASE("what cannot be exported is said in one line, and nothing is written") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& words, int code,
                           const std::string& part) {
    const ProgramResult result = run_program(words);
    CAPTURE(result.err);
    CHECK(result.code == code);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(part) != std::string::npos);
    CHECK_FALSE(fs::exists(folder / "new"));
  };
  refused({"export", folder / "nothing", folder / "new"}, 64, "a run folder");
  fs::create_directory(folder / "taken");
  refused({"export", host_run(), folder / "taken"}, 64, "the name of a new folder");
  CHECK(fs::is_empty(folder / "taken"));
  refused({"export", host_run(), folder / "new", "--arch", "90"}, 64, "sm_90a,sm_80");
  refused({"export", host_run()}, 64, "");
  const std::string synthetic = folder / "syn";
  REQUIRE(run_program({"run", "--input", (source_root() / "specs/softmax_scaled.json").string(),
                       "--runner", "synthetic", "--budget-builds", "10", "--outdir", synthetic})
              .code == 0);
  refused({"export", synthetic + "/kernels/softmax_scaled", folder / "new"}, 64, "synthetic");

  const ManySided kernel = many_sided();
  test::record_gpu_run(folder / "slower", kernel.spec, kernel.best, 0.9);
  refused({"export", folder / "slower", folder / "new", "--arch", "none"}, 2, "not faster");
  test::record_gpu_run(folder / "faster", kernel.spec, kernel.best);
  fs::remove(folder / "faster/best_summary.json");
  refused({"export", folder / "faster", folder / "new", "--arch", "none"}, 64, "finished run");
}

TEST_CASE("what a GPU measured is exported with the device and its driver") {
  const TemporaryFolder folder;
  const ManySided kernel = many_sided();
  test::record_gpu_run(folder / "run", kernel.spec, kernel.best);
  const ProgramResult made =
      run_program({"export", folder / "run", folder / "out", "--arch", "none"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const json provenance = json::parse(read_file(folder / "out/provenance.json"));
  CHECK(provenance["device"] == "NVIDIA H200");
  CHECK(provenance["platform"] == "GPU-1 driver 580");
  CHECK(provenance["revision"] == "abc");
  CHECK(provenance["path"] == json::array({"by_hand@kernel(text=1)"}));
  // read past the parameters for scratch memory
  CHECK(provenance["contract"]["alignment_bytes"] == json{{"x", 16}, {"y", 4}});
  // its launch no longer depends on this argument
  CHECK(provenance["contract"]["sizes"] == json{{"negate", {"true"}}});
  // the spec's name is no name of C
  CHECK(fs::exists(folder / "out/row_sums_v2.h"));
}

TEST_SUITE_END();
