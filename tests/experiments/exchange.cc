#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/exchange/definition.h"
#include "experiments/exchange/solution_text.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"

using namespace warpath::testing;
using nlohmann::json;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

fs::path data() {
  return source_root() / "tests/data/exchange";
}

/// Modules that Python finds first while it lives.
class PythonModules {
 public:
  explicit PythonModules(const std::string& folder) {
    REQUIRE(::setenv("PYTHONPATH", folder.c_str(), 1) == 0);
  }
  ~PythonModules() { ::unsetenv("PYTHONPATH"); }
};

/// A folder with the problem, and a solution of it whose kernel may be another.
class Problem {
 public:
  explicit Problem(const std::string& scaled = "x * w") {
    for (const char* const file : {"definition.json", "workloads.jsonl"})
      fs::copy_file(data() / file, folder_ / file);
    const json solution{
        {"name", "row_scale_cuda"},
        {"definition", "row_scale_d64"},
        {"author", "tests"},
        {"spec",
         {{"language", "cuda"},
          {"target_hardware", {"NVIDIA_H100"}},
          {"entry_point", "kernel.cu::run"}}},
        {"sources",
         {{{"path", "kernel.cu"}, {"content", read_file(data() / "kernel.cu")}},
          {{"path", "scale.cuh"},
           {"content", "#pragma once\n__device__ inline float scaled(float x, float w) { return " +
                           scaled + "; }\n"}}}}};
    write_file(folder_ / "solution.json", solution.dump());
    json header;
    header["weight"] = {{"dtype", "F32"}, {"shape", {64}}, {"data_offsets", {0, 256}}};
    const std::string described = header.dump();
    std::string tensors(8, '\0');
    tensors[0] = static_cast<char>(described.size());
    tensors += described;
    for (int i = 0; i < 64; ++i) {
      const float value = 0.01F * static_cast<float>(i);
      tensors.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    write_file(folder_ / "weight.safetensors", tensors);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] ProgramResult import(const Words& more = {}) const {
    Words words{
        "init",        folder_ / "solution.json",   "--definition", folder_ / "definition.json",
        "--workloads", folder_ / "workloads.jsonl", "--output",     folder_ / "spec.json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

 private:
  TemporaryFolder folder_;
};

/// A run whose search finds what it is told: the kernels' waste goes.
std::string searched(const std::string& spec, const std::string& out) {
  const TemporaryFolder folder;
  write_file(folder / "moves.jsonl", json{{"move", "no_waste"},
                                          {"blocks",
                                           "<<<<<<< SEARCH\nconstexpr int kRounds = 24;\n=======\n"
                                           "constexpr int kRounds = 1;\n>>>>>>> REPLACE\n"}}
                                             .dump() +
                                         "\n");
  const ProgramResult run =
      run_program({"run", "--input", spec, "--runner", "host", "--budget-builds", "1",
                   "--finalists", "1", "--proposals", folder / "moves.jsonl", "--outdir", out,
                   "--set", "host.timing_seconds=0.01"});
  REQUIRE_MESSAGE(run.code == 0, run.err);
  return out + "/kernels/" + json::parse(read_file(spec)).at("name").get<std::string>();
}

void must_verify(const std::string& spec) {
  const ProgramResult evaluated = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CAPTURE(evaluated.err);
  CHECK(evaluated.code == 0);
  CHECK(evaluated.out.find("baseline  ok") != std::string::npos);
}

/// What the published descriptions require of a solution.
void check_solution(const json& solution, bool sol_execbench) {
  for (const char* const key : {"name", "definition", "author"})
    CHECK(solution.at(key).is_string());
  const json& spec = solution.at("spec");
  CHECK(spec.at("entry_point") == "kernel.cu::run");
  CHECK(spec.at("binding") == "torch");
  CHECK(spec.at("destination_passing_style") == true);
  CHECK(spec.at("target_hardware").size() == 1);
  if (sol_execbench)
    CHECK(spec.at("languages") == json{"cuda_cpp"});
  else
    CHECK(spec.at("language") == "cuda");
  std::set<std::string> paths;
  for (const json& source : solution.at("sources")) {
    CHECK_FALSE(source.at("content").get<std::string>().empty());
    CHECK(paths.insert(source.at("path")).second);
  }
  CHECK(paths.contains("kernel.cu"));
}

/// As much of PyTorch's headers as an exported binding names.
void write_torch_headers(const fs::path& folder) {
  for (const char* const name : {"torch", "ATen/cuda", "c10/cuda"})
    fs::create_directories(folder / name);
  write_file(folder / "torch/library.h", "#pragma once\n");
  write_file(folder / "ATen/cuda/CUDAContext.h", "#pragma once\n#include <torch/extension.h>\n");
  write_file(folder / "c10/cuda/CUDAGuard.h", "#pragma once\n#include <torch/extension.h>\n");
  write_file(folder / "torch/extension.h", R"(#pragma once
#include <cuda_runtime.h>
#include <cstdint>
#include <vector>
namespace at {
enum ScalarType { kFloat };
struct Tensor {
  bool is_cuda() const; bool is_contiguous() const; ScalarType scalar_type() const;
  int64_t nbytes() const; int64_t numel() const; int64_t size(int64_t) const;
  void* data_ptr() const; int device() const;
};
namespace cuda { struct Stream { cudaStream_t stream() const; }; Stream getCurrentCUDAStream(); }
}
namespace c10 { namespace cuda { struct CUDAGuard { explicit CUDAGuard(int); }; } }
struct Module { template <class F> void def(const char*, F) {} };
#define TORCH_CHECK(condition, ...) do { if (!(condition)) throw 1; } while (0)
#define PYBIND11_MODULE(name, m) void entry_of_module(Module& m)
)");
}

}  // namespace

TEST_SUITE_BEGIN("exchange");

TEST_CASE("a published problem and a solution become a spec whose outputs the reference computed") {
  const PythonModules modules((data() / "modules").string());
  const Problem problem;
  const ProgramResult made = problem.import();
  REQUIRE_MESSAGE(made.code == 0, made.err);
  CHECK(made.out.find("guessed /kernel/io/args/1/name = w: by its place it is weight") !=
        std::string::npos);
  const json spec = json::parse(read_file(problem / "spec.json"));
  CHECK(spec["name"] == "row_scale_d64");
  REQUIRE(spec["kernel"]["workloads"].size() == 2);
  CHECK(spec["kernel"]["workloads"][1]["scalars"] == json{{"rows", 130}, {"cols", 64}, {"eps", 2}});
  CHECK(spec["reference"].contains("outputs"));
  must_verify(problem / "spec.json");
  CHECK(problem.import().code == 64);  // it exists
  CHECK(problem.import({"--force"}).code == 0);

  const Problem wrong("x * w + 1.0f");
  REQUIRE(wrong.import().code == 0);
  const ProgramResult refused =
      run_program({"evaluate", "--input", wrong / "spec.json", "--runner", "host"});
  CHECK(refused.code != 0);
  CHECK(refused.err.find("wrong_result") != std::string::npos);
}

TEST_CASE("a result goes back as a solution with traces, and comes in again") {
  const PythonModules modules((data() / "modules").string());
  const Problem problem;
  // One size, which a kernel may be made for.
  write_file(problem / "workloads.jsonl",
             lines_of(read_file(problem / "workloads.jsonl"))[0] + "\n");
  REQUIRE(problem.import().code == 0);
  const std::string run = searched(problem / "spec.json", problem / "out");
  for (const std::string format : {"flashinfer-trace", "sol-execbench"}) {
    CAPTURE(format);
    const std::string to = problem / format;
    const ProgramResult made =
        run_program({"export", run, to, "--as", format, "--definition", problem / "definition.json",
                     "--workloads", problem / "workloads.jsonl", "--author", "somebody"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    const json solution = json::parse(read_file(to + "/solution.json"));
    check_solution(solution, format == "sol-execbench");
    CHECK(solution["author"] == "somebody");
    const auto lines = lines_of(read_file(to + "/traces.jsonl"));
    REQUIRE(lines.size() == 1);
    const json trace = json::parse(lines[0]);
    CHECK(trace["solution"] == solution["name"]);
    CHECK(trace["definition"] == "row_scale_d64");
    CHECK(trace["workload"]["uuid"] == "8c0c7d40-0001");
    CHECK(trace["workload"]["inputs"]["eps"]["value"] == 0.25);
    const json& evaluation = trace["evaluation"];
    CHECK(evaluation["status"] == "PASSED");
    CHECK(evaluation["environment"]["hardware"].get<std::string>().find(' ') == std::string::npos);
    CHECK(evaluation["correctness"]["max_absolute_error"] == "NaN");  // it is not kept
    const json& performance = evaluation["performance"];
    CHECK(performance["speedup_factor"].get<double>() ==
          doctest::Approx(performance["reference_latency_ms"].get<double>() /
                          performance["latency_ms"].get<double>()));
  }
  const ProgramResult again = run_program(
      {"init", problem / "sol-execbench/solution.json", "--definition", problem / "definition.json",
       "--workloads", problem / "workloads.jsonl", "--output", problem / "again.json"});
  REQUIRE_MESSAGE(again.code == 0, again.err);
  must_verify(problem / "again.json");
}

TEST_CASE("the sources of a solution compile with the functions of PyTorch that they name") {
  if (nvcc().empty()) return;
  const PythonModules modules((data() / "modules").string());
  const Problem problem;
  REQUIRE(problem.import().code == 0);
  const std::string run = searched(problem / "spec.json", problem / "out");
  REQUIRE(run_program({"export", run, problem / "to", "--as", "flashinfer-trace", "--definition",
                       problem / "definition.json", "--workloads", problem / "workloads.jsonl"})
              .code == 0);
  const TemporaryFolder folder;
  write_torch_headers(folder.path());
  const json solution = json::parse(read_file(problem / "to/solution.json"));
  for (const json& source : solution.at("sources"))
    write_file(folder / source.at("path").get<std::string>(), source.at("content"));
  for (const json& source : solution.at("sources")) {
    const std::string path = source.at("path");
    if (!path.ends_with(".cu")) continue;
    const CommandOutput built = run_in(
        folder.path(), {nvcc(), "-std=c++17", "-arch=sm_90", "-I.", "-c", path, "-o", path + ".o"});
    CHECK_MESSAGE(built.code == 0, built.text);
  }
}

TEST_CASE("a problem of KernelBench comes in with its own inputs, and goes back as ModelNew") {
  const PythonModules modules((data() / "modules").string());
  const TemporaryFolder folder;
  const Words init{"init", (data() / "problem_solution.py").string(), "--definition",
                   (data() / "problem.py").string()};
  Words words = init;
  words.insert(words.end(), {"--output", folder / "p.json"});
  const ProgramResult made = run_program(words);
  REQUIRE_MESSAGE(made.code == 0, made.err);
  must_verify(folder / "p.json");
  const std::string run = searched(folder / "p.json", folder / "out");
  const ProgramResult back = run_program({"export", run, folder / "to", "--as", "kernelbench",
                                          "--definition", folder / "p.data/definition.json",
                                          "--workloads", folder / "p.data/workloads.jsonl"});
  REQUIRE_MESSAGE(back.code == 0, back.err);
  const std::string text = read_file(folder / "to/problem.py");
  CHECK(text.find("class ModelNew(Model):\n    def forward(self, x):\n") != std::string::npos);
  CHECK(text.find("state[\"weight\"].contiguous(), output)") != std::string::npos);
  const CommandOutput parsed = run_in(
      folder.path(), {"python3", "-c", "import ast; ast.parse(open('to/problem.py').read())"});
  CHECK_MESSAGE(parsed.code == 0, parsed.text);
  const ProgramResult again =
      run_program({"init", folder / "to/problem.py", "--definition",
                   (data() / "problem.py").string(), "--output", folder / "again.json"});
  REQUIRE_MESSAGE(again.code == 0, again.err);
  must_verify(folder / "again.json");
}

TEST_CASE("without PyTorch the solution's own kernel is the reference, which is a guess") {
  const TemporaryFolder empty;
  for (const char* const module : {"torch.py", "numpy.py"})
    write_file(empty / module, "raise ImportError('there is none')\n");
  const PythonModules modules(empty.path());
  const Problem problem;
  const ProgramResult made = problem.import();
  REQUIRE_MESSAGE(made.code == 0, made.err);
  CHECK(made.out.find("since the Python reference gave nothing: ImportError: there is none") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(problem / "spec.data"));
  must_verify(problem / "spec.json");
  const ProgramResult no_problem =
      run_program({"init", (data() / "problem_solution.py").string(), "--definition",
                   (data() / "problem.py").string(), "--output", empty / "p.json"});
  CHECK(no_problem.code == 3);
  CHECK(no_problem.err.find("there is none") != std::string::npos);
}

TEST_CASE("what does not fit is one line, and nothing is written") {
  const PythonModules modules((data() / "modules").string());
  const Problem problem;
  const auto refused = [&](const std::string& part, int code, const Words& more = {}) {
    const ProgramResult result = problem.import(more);
    CAPTURE(result.err);
    CHECK(result.code == code);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(part) != std::string::npos);
    CHECK_FALSE(fs::exists(problem / "spec.json"));
    CHECK_FALSE(fs::exists(problem / "spec.data"));
  };
  const auto changed = [&](const std::string& file, const std::string& from, const std::string& to,
                           const std::string& part) {
    const std::string text = read_file(problem / file);
    REQUIRE(text.find(from) != std::string::npos);
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    write_file(problem / file, other);
    refused(part, 64);
    write_file(problem / file, text);
  };
  refused("did not run", 3, {"--python", "/bin/false"});
  changed("definition.json", "\"var\"", "\"loop\"", "/axes/batch_size/type: got \"loop\"");
  changed("definition.json", "// 2", "// tokens", "half_size");
  changed("definition.json", "\"float32\"}\n  }", "\"float32\"}\n  }, \"axes\": 1", "axes");
  changed("definition.json", "[\"hidden_size\"]", "[\"width\"]", "shape of weight: got width");
  changed("definition.json", "[\"hidden_size\"], \"dtype\": \"float32\"",
          "[\"hidden_size\"], \"dtype\": \"float16\"", "float16, the type of weight");
  changed("workloads.jsonl", "{\"batch_size\": 48}", "{}", "no batch_size");
  changed("workloads.jsonl", "8c0c7d40-0002", "8c0c7d40-0001", "workloads.jsonl:2");
  changed("workloads.jsonl", "\"random\"", "\"dreamt\"", "got \"dreamt\", expected random, scalar");
  changed("workloads.jsonl", "row_scale_d64", "other", "got \"other\", expected the name");
  changed("solution.json", "\"path\":\"kernel.cu\"", "\"path\":\"../kernel.cu\"",
          "a path below the solution's folder");
  changed("solution.json", "__global__", "__device__", "a source with a __global__ function");
  const std::string spec = problem / "spec.json";
  for (const Words& words :
       {Words{"init", problem / "solution.json", "--workloads", "w.jsonl"},
        Words{"export", problem / "run", problem / "to", "--as", "json", "--definition",
              problem / "definition.json"},
        Words{"export", problem / "run", problem / "to", "--as", "kernelbench"},
        Words{"export", problem / "run", problem / "to", "--author", "me"}}) {
    CAPTURE(words.back());
    const ProgramResult result = run_program(words);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
  }
}

TEST_CASE("arguments stand for inputs by their words, then by their places") {
  CHECK(warpath::same_word("d_BatchSize", "batch_size"));
  CHECK(warpath::same_word("weight_ptr", "model.layer.weight"));
  CHECK_FALSE(warpath::same_word("weights", "weight"));
  CHECK(warpath::cuda_literals("# \"__global__ no\"\na = 'x\\'__global__ void k(int)'\n") ==
        "x'__global__ void k(int)\n");
  CHECK(
      warpath::cuda_literals("a = r'''\n__global__ void k() { \"\\n\"; }'''\nb = \"\"\"__global__ "
                             "void k() {}\"\"\"") == "\n__global__ void k() { \"\\n\"; }\n");
}

TEST_SUITE_END();
