#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "experiments/setup/best_summary.h"
#include "experiments/setup/portfolio_record.h"
#include "tests/experiments/program.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// y = 2 x over rows, in two scored sizes and one that is only checked.
json two_sizes() {
  const auto workload = [](const char* name, const char* role, int n, int c) {
    return json{{"name", name}, {"role", role}, {"scalars", {{"N", n}, {"C", c}}}};
  };
  const auto tensor = [](const char* name, const char* role) {
    json out{{"name", name},
             {"type", "tensor"},
             {"role", role},
             {"tensor_spec", {{"shape", {"N", "C"}}, {"dtype", "float32"}}}};
    if (std::string_view(role) == "input") out["tensor_spec"]["init"] = {{"kind", "randn"}};
    return out;
  };
  return {
      {"name", "twice"},
      {"kernel",
       {{"source_code",
         "extern \"C\" __global__ void twice(float* __restrict__ y, const float* __restrict__ x,"
         " int N, int C) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= N) return;\n"
         "  for (int c = 0; c < C; ++c) y[i * C + c] = 2.0f * x[i * C + c];\n"
         "}\n"},
        {"metadata", {{"kernel_name", "twice"}}},
        {"io",
         {{"args",
           {tensor("y", "output"),
            tensor("x", "input"),
            {{"name", "N"}, {"type", "int"}, {"value", 64}},
            {{"name", "C"}, {"type", "int"}, {"value", 64}}}},
          {"launch", {{"grid", {{"x", "ceil_div(N, 32)"}}}, {"block", {{"x", 32}}}}}}},
        {"workloads",
         {workload("short", "score", 96, 64), workload("long", "score", 64, 1024),
          workload("odd", "regress", 37, 29)}}}},
      {"reference",
       {{"kernel",
         {{"source_code",
           "extern \"C\" __global__ void reference(float* y, const float* x, int N, int C) {\n"
           "  for (int i = 0; i < N * C; ++i) y[i] = 2.0f * x[i];\n}\n"},
          {"kernel_name", "reference"},
          {"launch", {{"grid", {{"x", 1}}}, {"block", {{"x", 1}}}}}}}}}};
}

/// One line of the list holds for a size, or it is the last.
std::size_t serving(const json& kernels, const json& values) {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    bool holds = true;
    for (const auto& [name, value] : kernels[k]["when"].items())
      holds = holds && values.at(name) == value;
    if (holds) return k;
  }
  return kernels.size();
}

}  // namespace

TEST_SUITE_BEGIN("sizes");

TEST_CASE("a run of several sizes says what runs each of them, and find looks it up") {
  const TemporaryFolder folder;
  const std::string spec = folder / "twice.json", out = folder / "out";
  write_file(spec, two_sizes().dump());
  const ProgramResult ran =
      run_program({"run", "--input", spec, "--runner", "host", "--outdir", out, "--budget-builds",
                   "10", "--finalists", "1", "--seed", "3", "--set", "host.timing_seconds=0.01"});
  INFO(ran.err);
  REQUIRE((ran.code == 0 || ran.code == 2));
  const fs::path run = fs::path(out) / "kernels/twice";
  const json summary = json::parse(read_file(run / "best_summary.json"));
  REQUIRE(summary["sizes"].size() == 3);
  CHECK(summary["sizes"][0]["workload"] == "short");
  CHECK(summary["sizes"][2]["best_ms"].is_null());
  if (!summary["versions"].empty()) {
    CHECK(summary["versions"].back()["when"].empty());
    for (const json& size : summary["sizes"])
      CHECK(serving(summary["versions"], size["values"]) == size["version"]);
    for (const json& version : summary["versions"])
      CHECK(fs::exists(run / version["file"].get<std::string>()));
  }

  const json portfolio = json::parse(read_file(run / "portfolio.json"));
  const json& kernels = portfolio["kernels"];
  REQUIRE(kernels.size() <= 4);
  CHECK(kernels.back()["when"].empty());
  for (const json& kernel : kernels) {
    CHECK(fs::exists(run / kernel["file"].get<std::string>()));
    for (const auto& [name, values] : kernel["contract"]["sizes"].items())
      CHECK(kernel["when"].at(name).dump() == values.at(0).get<std::string>());
  }
  for (const json& size : portfolio["sizes"]) {
    CHECK(serving(kernels, size["values"]) == size["kernel"]);
    if (size["role"] != "score") continue;
    CHECK(size["speedup"].get<double>() >= 0.98);
    CHECK(size["loss"].get<double>() >= 0);
  }

  const ProgramResult shown = run_program({"inspect", run.string()});
  CHECK(shown.out.find("portfolio\n") != std::string::npos);
  CHECK(shown.out.find("else -> portfolio/kernel") != std::string::npos);
  const ProgramResult best = run_program({"inspect", run.string(), "best"});
  CHECK(best.out.find("sizes\n") != std::string::npos);
  const ProgramResult report = run_program({"report", run.string()});
  CHECK(report.out.find("## Portfolio") != std::string::npos);

  // A spec of other sizes is about the same kernel; one of another text is not.
  json other = two_sizes();
  other["name"] = "other";
  other["kernel"]["workloads"].erase(1);
  write_file(spec, other.dump());
  const ProgramResult found =
      run_program({"find", out, "--input", spec, "--sizes", "N=64,C=1024", "--json"});
  REQUIRE(found.code == 0);
  const json one = json::parse(found.out);
  REQUIRE(one.size() == 1);
  CHECK(one[0]["serves"] == "measured");
  CHECK(one[0]["kernel"] == "twice");
  const std::string device = one[0]["device"];
  CHECK(run_program({"find", out, "--device", device.substr(0, device.size() - 1)}).code == 2);
  CHECK(run_program({"find", out, "--device", device}).code == 0);
  const json beyond =
      json::parse(run_program({"find", out, "--sizes", "N=100000,C=1024", "--json"}).out);
  CHECK(beyond[0]["serves"] ==
        (beyond[0]["file"].is_null() ? "the spec's own kernel" : "outside the verified range"));
  other["kernel"]["source_code"] =
      other["kernel"]["source_code"].get<std::string>() + "\nint more;";
  write_file(spec, other.dump());
  CHECK(run_program({"find", out, "--input", spec}).code == 2);

  // What a run wrote reads as the same; damage is passed over, with its file and key.
  const auto typed = warpath::read_best_summary(run);
  REQUIRE(typed);
  CHECK(to_json(*typed) == summary);
  const auto typed_portfolio = warpath::read_portfolio(run);
  REQUIRE(typed_portfolio);
  warpath::write_portfolio(run, *typed_portfolio);
  CHECK(json::parse(read_file(run / "portfolio.json")) == portfolio);
  json wrong = portfolio;
  wrong["sizes"][0]["kernel"] = kernels.size();
  for (const auto& [text, problem] : std::map<std::string, std::string>{
           {"{", "portfolio.json"},
           {wrong.dump(), "portfolio.json:/sizes/0/kernel: got"},
           {"{\"schema\": 2}", "portfolio.json:/schema: got 2, expected 1"}}) {
    CAPTURE(text);
    write_file(run / "portfolio.json", text);
    const ProgramResult damaged = run_program({"find", out});
    CHECK(damaged.code == 2);
    CHECK(damaged.err.find("passed over") != std::string::npos);
    CHECK(damaged.err.find(problem) != std::string::npos);
  }
}

TEST_CASE("sizes that cannot be read are refused with a line") {
  for (const char* const text : {"N", "N=", "=3", "N=x", "N=1,N=2", "N=1,"}) {
    CAPTURE(text);
    const ProgramResult result = run_program({"find", ".", "--sizes", text});
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
  }
  CHECK(run_program({"find", "/nonexistent"}).code == 64);
}

TEST_SUITE_END();
