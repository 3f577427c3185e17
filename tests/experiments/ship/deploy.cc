#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/rng.h"
#include "experiments/ship/deployment.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath;
using namespace warpath::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kKernel = R"cuda(// y[i] = mean of count copies of x[i].
extern "C" __global__ void smooth(float* y, const float* x, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < count; k++) sum += x[i];
  y[i] = sum / count;
}
)cuda";

/// Faster, but where SLOW_HERE is defined slower, and wrong where WRONG_HERE is.
constexpr const char* kBetter = R"(<<<<<<< SEARCH
  for (int k = 0; k < count; k++) sum += x[i];
  y[i] = sum / count;
=======
#ifdef SLOW_HERE
  volatile float wait = 0;
  for (int k = 0; k < 3 * count; k++) wait = wait + x[i];
#endif
  sum = x[i];
#ifdef WRONG_HERE
  sum += 1;
#endif
  y[i] = sum;
>>>>>>> REPLACE
)";

constexpr const char* kMain =
    R"cpp(#include "launch.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>
          extern "C" void smooth(float* y, const float* x, int n, int count);
          static void launch(float* y, const float* x, int n, int count) {
            blockDim = {256};
            for (blockIdx.x = 0; blockIdx.x < (n + 255) / 256; ++blockIdx.x)
              for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) smooth(y, x, n, count);
          }
          int main(int argc, char** argv) {
            const int n = 20000, count = 64;
            std::vector<float> x(n, 2), y(n);
            const auto begin = std::chrono::steady_clock::now();
            launch(y.data(), x.data(), n, count);
            const auto end = std::chrono::steady_clock::now();
            if (argc > 1 && std::strcmp(argv[1], "test") == 0) {
              for (float v : y)
                if (v != 2) return std::printf("not the mean\n"), 1;
              return 0;
            }
            std::printf("took %.6f ms\n", std::chrono::duration<double, std::milli>(end - begin).count());
          }
    )cpp";

/// A run of the host runner with a faster kernel, made once.
const std::string& smooth_run() {
  static const TemporaryFolder folder;
  static const std::string run = [] {
    const auto tensor = [](const char* name, const char* role) {
      return json{{"name", name},
                  {"type", "tensor"},
                  {"role", role},
                  {"tensor_spec",
                   {{"shape", {"n"}},
                    {"dtype", "float32"},
                    {"init", {{"kind", "randint"}, {"low", -8}, {"high", 8}}}}}};
    };
    json written = tensor("y", "output");
    written["tensor_spec"].erase("init");
    const json launch{{"grid", {{"x", "ceil_div(n, 256)"}}}, {"block", {{"x", 256}}}};
    const json spec{
        {"name", "smooth"},
        {"kernel",
         {{"source_file", "smooth.cu"},
          {"metadata", {{"kernel_name", "smooth"}}},
          {"io",
           {{"args",
             {written,
              tensor("x", "input"),
              {{"name", "n"}, {"type", "int"}, {"value", 4000}},
              {{"name", "count"}, {"type", "int"}, {"value", 64}}}},
            {"launch", launch}}}}},
        {"reference",
         {{"kernel",
           {{"source_file", "smooth.cu"}, {"kernel_name", "smooth"}, {"launch", launch}}}}}};
    write_file(folder / "smooth.cu", kKernel);
    write_file(folder / "spec.json", spec.dump());
    write_file(folder / "better.jsonl", json{{"move", "once"}, {"blocks", kBetter}}.dump() + "\n");
    const ProgramResult done = run_program(
        {"run", "--input", folder / "spec.json", "--runner", "host", "--budget-builds", "1",
         "--finalists", "1", "--proposals", folder / "better.jsonl", "--outdir", folder / "out",
         "--set", "host.timing_seconds=0.01", "--set", "record.sync=never"});
    REQUIRE_MESSAGE(done.code == 0, done.err);
    return folder / "out/kernels/smooth";
  }();
  return run;
}

/// An application of two files that calls the kernel, with its project file.
class App {
 public:
  /// `more`: replaces members of the project file.
  App() : App(json::object()) {}
  explicit App(const json& more, const std::string& flags = "") {
    fs::create_directory(folder_ / "app");
    write_file(folder_ / "app/launch.h",
               "#pragma once\n#define __global__\nstruct Index { int x; };\n"
               "inline Index blockIdx, threadIdx, blockDim;\n");
    write_file(folder_ / "app/main.cpp", kMain);
    write_file(target(), kKernel);
    ::chmod(target().c_str(), 0640);
    json project{{"root", "app"},
                 {"target_file", "smooth.cu"},
                 {"context_files", {"main.cpp", "launch.h"}},
                 {"build_command", "c++ -std=c++17 -O1 " + flags +
                                       " -include launch.h -x c++ smooth.cu main.cpp -o app"},
                 {"test_command", "./app test"},
                 {"benchmark_command", "./app"},
                 {"timing_mode", "printed"},
                 {"timing_pattern", "took ([0-9.]+) ms"},
                 {"timeout_seconds", 100},
                 {"pairs", 5},
                 {"accept_contract", true}};
    project.update(more);
    write_file(file(), project.dump());
  }
  [[nodiscard]] std::string file() const { return folder_ / "project.json"; }
  [[nodiscard]] std::string target() const { return folder_ / "app/smooth.cu"; }
  [[nodiscard]] fs::path root() const { return folder_ / "app"; }
  [[nodiscard]] std::vector<std::string> words() const {
    return {"deploy", smooth_run(), "--project", file()};
  }
  [[nodiscard]] ProgramResult deploy() const { return run_program(words()); }
  [[nodiscard]] ProgramResult revert() const {
    return run_program({"deploy", "--revert", "--project", file()});
  }
  /// The target is as it was, with its permissions, and nothing else is left.
  void must_be_as_before() const {
    CHECK(read_file(target()) == kKernel);
    CHECK(fs::status(target()).permissions() == fs::perms(0640));
    CHECK_FALSE(fs::exists(root() / ".warpath-deploy"));
  }
  [[nodiscard]] bool is_changed() const { return read_file(target()) != kKernel; }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_SUITE_BEGIN("deploy");

TEST_CASE("a kernel that makes the application faster stays, and can be taken back") {
  const App app;
  const ProgramResult done = app.deploy();
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  CHECK(done.out.find("over 5 pairs: deployed") != std::string::npos);
  CHECK(app.is_changed());
  CHECK(fs::status(app.target()).permissions() == fs::perms(0640));
  const json journal = json::parse(read_file(app.root() / ".warpath-deploy/journal.json"));
  CHECK(journal["deployed"]["original"].size() == 5);
  CHECK(journal["deployed"]["speedup"] > 1.02);
  CHECK(journal["deployed"]["kernel"]["verdict"]["passed"] == true);
  // what was built is of what lies there
  CHECK(run_in(app.root().string(), {"/bin/sh", "-c", "./app test"}).code == 0);

  const ProgramResult again = app.deploy();
  CHECK(again.code == 64);
  CHECK(again.err.find("--revert") != std::string::npos);

  write_file(app.target(), read_file(app.target()) + "// mine\n");
  const ProgramResult edited = app.revert();
  CHECK(edited.code == 64);
  CHECK(edited.err.find("edited since") != std::string::npos);
  CHECK(app.is_changed());
  const std::string text = read_file(app.target());
  write_file(app.target(), text.substr(0, text.size() - 8));
  const ProgramResult reverted = app.revert();
  CAPTURE(reverted.err);
  CHECK(reverted.code == 0);
  app.must_be_as_before();
  CHECK(app.revert().code == 64);
}

TEST_CASE("a kernel that makes the application slower is rolled back") {
  const App app(json::object(), "-DSLOW_HERE");
  const ProgramResult done = app.deploy();
  CAPTURE(done.err);
  CHECK(done.code == 1);
  CHECK(done.out.find("rolled back") != std::string::npos);
  CHECK(done.err.find("not faster by 2.0 %") != std::string::npos);
  app.must_be_as_before();
}

TEST_CASE("a kernel with which the application fails its test, or does not build, is rolled back") {
  const App wrong(json::object(), "-DWRONG_HERE");
  ProgramResult done = wrong.deploy();
  CHECK(done.code == 1);
  CHECK(done.err.find("test_command (./app test) ended with 1") != std::string::npos);
  CHECK(done.err.find("not the mean") != std::string::npos);
  wrong.must_be_as_before();

  // the build fails once the kernel is another one
  const App broken(json{{"build_command",
                         "grep -q 'sum += x' smooth.cu && echo '#!/bin/sh' > app && "
                         "echo 'echo took 1 ms' >> app && chmod +x app"}});
  done = broken.deploy();
  CHECK(done.code == 1);
  CHECK(done.err.find("build_command") != std::string::npos);
  broken.must_be_as_before();

  // and so is one with which a command takes too long
  const App slow(json{{"timeout_seconds", 1},
                      {"build_command", "true"},
                      {"test_command", "grep -q 'sum += x' smooth.cu || sleep 60"},
                      {"benchmark_command", "echo took 1 ms"}});
  done = slow.deploy();
  CHECK(done.code == 1);
  CHECK(done.err.find("took longer than 1 s") != std::string::npos);
  slow.must_be_as_before();
}

TEST_CASE("an application that fails without the kernel is left alone: exit code 3") {
  for (const json& more :
       {json{{"build_command", "false"}}, json{{"test_command", "exit 7"}},
        json{{"benchmark_command", "echo nothing"}}, json{{"build_command", "c++ nothing.cpp"}}}) {
    CAPTURE(more.dump());
    const App app(more);
    const ProgramResult done = app.deploy();
    CHECK(done.code == 3);
    CHECK(done.err.find("the original application: ") != std::string::npos);
    app.must_be_as_before();
  }
}

TEST_CASE("Ctrl-C restores the tree; a kill leaves it to --revert") {
  const json more{{"benchmark_command", "sleep 0.2; ./app"}, {"pairs", 1000}};
  {
    const App app(more);
    RunningProgram running(app.words());
    REQUIRE(running.wait_until([&] { return app.is_changed(); }));
    running.signal(SIGINT);
    const ProgramResult done = running.finish();
    CHECK(done.code == 3);
    CHECK(done.err.find("interrupted") != std::string::npos);
    app.must_be_as_before();
  }
  const App app(more);
  {
    RunningProgram running(app.words());
    REQUIRE(running.wait_until([&] { return app.is_changed(); }));
    running.signal(SIGKILL);
    CHECK(running.finish().code == 128 + SIGKILL);
  }
  CHECK(fs::exists(app.root() / ".warpath-deploy/backup"));
  CHECK(app.deploy().code == 64);
  const ProgramResult reverted = app.revert();
  CAPTURE(reverted.err);
  CHECK(reverted.code == 0);
  app.must_be_as_before();
  CHECK(run_in(app.root().string(), {"/bin/sh", "-c", "./app test"}).code == 0);
}

TEST_CASE("--revert builds whatever a build prints and leaves running") {
  const App app(json{{"timeout_seconds", 20},
                     {"build_command",
                      "seq 1 40000; setsid sleep 30 & "
                      "c++ -std=c++17 -O1 -include launch.h -x c++ smooth.cu "
                      "main.cpp -o app"}});
  CHECK(app.deploy().code == 0);
  const auto begin = std::chrono::steady_clock::now();
  const ProgramResult reverted = app.revert();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(15));
  CAPTURE(reverted.err);
  CHECK(reverted.code == 0);
  app.must_be_as_before();
}

TEST_CASE("--revert waits for what a killed deployment left running") {
  const App app(json{{"test_command",
                      "(grep -q 'sum += x' smooth.cu || { touch begun; sleep 1; "
                      "grep -q 'sum += x' smooth.cu || touch first; }); ./app test"}});
  RunningProgram running(app.words());
  REQUIRE(running.wait_until([&] { return fs::exists(app.root() / "begun"); }));
  running.signal(SIGKILL);
  CHECK(running.finish().code == 128 + SIGKILL);
  CHECK_FALSE(fs::exists(app.root() / "first"));
  CHECK(app.revert().code == 0);
  app.must_be_as_before();
  CHECK(fs::exists(app.root() / "first"));  // it ended before the tree was touched
}

TEST_CASE("a patch and an exported folder come and go together") {
  const App app(json{{"patch", "use.patch"},
                     {"export_folder", "kernels/smooth"},
                     {"target_file", "main.cpp"},
                     {"context_files", {"smooth.cu"}},
                     {"build_command",
                      "if [ -e kernels/smooth/smooth.h ]; then echo fast > mode; else "
                      "echo slow > mode; fi"},
                     {"test_command", "grep -q smooth_launch main.cpp || grep -q slow mode"},
                     {"benchmark_command",
                      "if grep -q fast mode; then echo took 1 ms; else echo took 2 "
                      "ms; fi"}});
  write_file(app.root() / "use.patch",
             "@@ -1 +1,2 @@\n #include \"launch.h\"\n+#include \"kernels/smooth/smooth.h\"  // "
             "smooth_launch\n");
  const std::string before = read_file(app.root() / "main.cpp");
  std::vector<std::string> words = app.words();
  for (const char* const word : {"--arch", "none"}) words.emplace_back(word);
  const ProgramResult done = run_program(words);
  CAPTURE(done.err);
  REQUIRE(done.code == 0);
  CHECK(done.out.find("2.000x [2.000, 2.000]") != std::string::npos);
  CHECK(fs::exists(app.root() / "kernels/smooth/smooth_driver.c"));
  CHECK(read_file(app.root() / "main.cpp").find("smooth_launch") != std::string::npos);
  CHECK(app.revert().code == 0);
  CHECK(read_file(app.root() / "main.cpp") == before);
  CHECK_FALSE(fs::exists(app.root() / "kernels/smooth"));
}

TEST_CASE("a kernel that cannot be launched as the original was needs a patch") {
  const TemporaryFolder folder;
  const ManySided kernel = many_sided();
  test::record_gpu_run(folder / "run", kernel.spec, kernel.best);
  const App app;
  write_file(app.target(), kernel.spec.source);
  const ProgramResult done = run_program({"deploy", folder / "run", "--project", app.file()});
  CHECK(done.code == 64);
  CHECK(done.err.find("a launch of its own") != std::string::npos);
  CHECK(lines_of(done.err).size() == 1);
  CHECK_FALSE(fs::exists(app.root() / ".warpath-deploy"));

  test::record_gpu_run(folder / "slower", kernel.spec, kernel.best, 0.9);
  CHECK(run_program({"deploy", folder / "slower", "--project", app.file()}).code == 2);

  Variant narrow = baseline_variant(kernel.spec);
  for (const std::string size : {"j < cols", "i * cols"})
    narrow.source.replace(narrow.source.find(size) + 4, 4, "64");
  test::record_gpu_run(folder / "narrow", kernel.spec, narrow);
  const App careful(json{{"accept_contract", false}});
  write_file(careful.target(), kernel.spec.source);
  const ProgramResult narrowed =
      run_program({"deploy", folder / "narrow", "--project", careful.file()});
  CHECK(narrowed.code == 64);
  CHECK(narrowed.err.find("accept_contract") != std::string::npos);
}

TEST_CASE("a wrong project file is refused with its place") {
  const auto refused = [](const json& more, const std::string& part) {
    const App app(more);
    const ProgramResult done = app.deploy();
    CAPTURE(done.err);
    CHECK(done.code == 64);
    CHECK(lines_of(done.err).size() == 1);
    CHECK(done.err.find(part) != std::string::npos);
    CHECK_FALSE(fs::exists(app.root() / ".warpath-deploy"));
  };
  refused({{"target_file", "../project.json"}}, ":/target_file: got ");
  refused({{"target_file", "none.cu"}}, "a file below");
  refused({{"target_file", "main.cpp"}}, "the kernel as the run began with it");
  refused({{"context_files", {"main.cpp", "gone.h"}}}, ":/context_files/1: got ");
  refused({{"timing_mode", "cpu"}}, "wall, printed or printed_rate");
  refused({{"timing_pattern", "took [0-9]"}}, "with one group");
  refused({{"timing_pattern", "took ("}}, "a regular expression");
  refused({{"timing_mode", "wall"}}, "none beside timing_mode wall");
  refused({{"pairs", 4}}, "from 5 to 1000");
  refused({{"timeout_seconds", 0}}, ":/timeout_seconds: got 0");
  refused({{"build_command", ""}}, "a command of the shell");
  refused({{"speed", 1}}, "a known key");
  CHECK(run_program({"deploy", smooth_run()}).code == 64);
}

TEST_CASE("times that only vary are no gain, and a gain of 5 % is one") {
  int kept_equal = 0, kept_faster = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "times");
    Deployment equal, faster;
    for (int i = 0; i < 10; ++i) {
      const double original = 100 + rng.uniform(), best = 100 + rng.uniform();
      equal.original.push_back(original), equal.best.push_back(best);
      faster.original.push_back(original), faster.best.push_back(best / 1.05);
    }
    kept_equal += is_faster(equal, 0) ? 1 : 0;
    kept_faster += is_faster(faster, 0.02) ? 1 : 0;
    CHECK(faster.interval->low < faster.speedup);
    CHECK_FALSE(is_faster(equal, 0.02));
  }
  CHECK(kept_equal <= 6);
  CHECK(kept_faster == 100);
}

TEST_SUITE_END();
