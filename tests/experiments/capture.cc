// `warpath capture` on applications that use a driver without a device (tests/data/capture).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/error.h"
#include "experiments/capture/capture_log.h"
#include "experiments/setup/environment.h"
#include "runners/worker/process.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

/// Where the applications and their driver are; empty in a build without the CUDA headers.
std::string apps() {
  const char* const folder = std::getenv("WARPATH_CAPTURE_APPS");
  return folder == nullptr ? "" : folder;
}

/// `warpath capture` of an application: its form ("linked", "opened", "address") and scenario.
ProgramResult capture(const std::string& folder,
                      const std::string& form,
                      const std::string& scenario,
                      const Words& more = {}) {
  Words words{"capture", "--output", folder};
  words.insert(words.end(), more.begin(), more.end());
  const std::string program = form == "linked" ? "capture_linked" : "capture_opened";
  for (const std::string& word : Words{"--", "env", "LD_LIBRARY_PATH=" + apps(), "FORM=" + form,
                                       apps() + "/" + program, scenario})
    words.push_back(word);
  return run_program(words);
}

json launches_of(const std::string& folder, const std::string& kernel) {
  return json::parse(read_file(folder + "/" + kernel + ".launches.json"));
}

std::uint64_t count(const json& kernel) {
  std::uint64_t sum = 0;
  for (const json& one : kernel["launches"]) sum += one["launches"].get<std::uint64_t>();
  return sum;
}

std::size_t files_in(const fs::path& folder) {
  std::size_t n = 0;
  std::error_code absent;
  for (const auto& one : fs::directory_iterator(folder, absent)) n += one.exists() ? 1 : 0;
  return n;
}

const std::string kSource = R"(
__global__ void scale(float* y, const float* x, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
template <class T>
__global__ void gather(T* y, const T* x, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}
)";

#define NEEDS_APPLICATIONS()                            \
  if (apps().empty()) {                                 \
    MESSAGE("skipped: built without the CUDA headers"); \
    return;                                             \
  }

}  // namespace

TEST_SUITE_BEGIN("capture");

TEST_CASE(
    "an application that is linked to the driver, one that opens it and one that asks it for "
    "addresses are recorded alike") {
  NEEDS_APPLICATIONS();
  for (const std::string form : {"linked", "opened", "address"}) {
    CAPTURE(form);
    const TemporaryFolder scratch;
    const std::string folder = scratch / "capture";
    const ProgramResult made = capture(folder, form, "plain", {"--share", "1"});
    CAPTURE(made.err);
    CAPTURE(made.out);
    CHECK(made.code == 7);
    CHECK(made.err.empty());
    const Words lines = lines_of(made.out);
    REQUIRE(lines.size() == 9);
    CHECK(lines[0] == "application plain");
    CHECK(lines[1] == "kernel  launches        ms   share  shapes");
    CHECK(lines[2] == "scale         25    0.3400  96.3 %       2");
    CHECK(lines[3] == "gather         3   0.01200   3.4 %       1");
    CHECK(lines[5].starts_with("1 launches of CUDA graphs"));

    const json scale = launches_of(folder, "scale");
    CHECK(scale["symbol"] == "_Z5scalePfPKfif");
    CHECK(scale["signature"] == "scale(float*, float const*, int, float)");
    CHECK(scale["device"] == "Fake GPU");
    REQUIRE(scale["launches"].size() == 2);
    const json& first = scale["launches"][0];
    CHECK(first["grid"] == json{16, 1, 1});
    CHECK(first["block"] == json{256, 1, 1});
    CHECK(first["launches"] == 20);
    CHECK(first["weight"].get<double>() == doctest::Approx(320.0 / 340));
    REQUIRE(first["samples_ns"].size() ==
            10);  // of the first ten and the sixteenth, one is dropped
    for (const json& sample : first["samples_ns"])
      CHECK(sample.get<double>() == doctest::Approx(16000).epsilon(0.01));
    const json& parameters = first["parameters"];
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[0]["pointers"] == json{{0, 4096 * 4, 0}});
    CHECK(parameters[1]["pointers"] == json{{0, 4096 * 4 + 64, 64}});
    CHECK(parameters[2]["bytes"] == "00100000");
    CHECK(parameters[2]["offset"] == 16);
    CHECK(parameters[3]["bytes"] == "0000003f");
    CHECK(scale["launches"][1]["launches"] == 5);

    const json gather = launches_of(folder, "gather");
    CHECK(gather["signature"] == "gather<float>(float*, float const*, int const*, int)");
    CHECK(gather["launches"][0]["cluster"] == json{2, 1, 1});
    CHECK(gather["launches"][0]["dynamic_smem_bytes"] == 1024);
    // the parameters of the third came packed in one buffer
    CHECK(launches_of(folder, "plain")["launches"][0]["parameters"][1]["bytes"] == "07000000");
    // three modules of one text
    CHECK(files_in(folder + "/images") == 1);
    CHECK(files_in(folder + "/log") == 1);
  }
}

TEST_CASE("only kernels that make up the share of the time are written") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  const ProgramResult made = capture(scratch / "c", "linked", "plain");
  CHECK(made.out.find("2 kernels more") != std::string::npos);
  CHECK(fs::exists(scratch / "c/scale.launches.json"));
  CHECK_FALSE(fs::exists(scratch / "c/gather.launches.json"));
}

TEST_CASE("what a killed application had launched is in its log") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  const ProgramResult made = capture(scratch / "c", "opened", "killed");
  CAPTURE(made.err);
  CHECK(made.code == 128 + 9);
  const json scale = launches_of(scratch / "c", "scale");
  CHECK(scale["launches"][0]["grid"] == json{8, 1, 1});
  CHECK(count(scale) >= 1);
  CHECK(count(scale) <= 3);
}

TEST_CASE("a program that the application starts is recorded, and its threads are counted") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  const ProgramResult child = capture(scratch / "child", "linked", "child");
  CHECK(child.code == 7);
  CHECK(count(launches_of(scratch / "child", "scale")) == 25);
  const ProgramResult threads = capture(scratch / "threads", "address", "threads");
  CHECK(threads.code == 0);
  const json scale = launches_of(scratch / "threads", "scale");
  REQUIRE(scale["launches"].size() == 2);
  CHECK(scale["launches"][0]["launches"] == 1000);
  CHECK(scale["launches"][1]["launches"] == 1000);
}

TEST_CASE(
    "a scalar that differs in each launch does not fill the log, and refused launches do not "
    "count") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  CHECK(capture(scratch / "many", "linked", "many", {"--share", "1"}).code == 0);
  const json scale = launches_of(scratch / "many", "scale");
  CHECK(count(scale) == 5000);
  CHECK(scale["launches"].size() == 4097);
  const ProgramResult refused = capture(scratch / "refused", "linked", "refused");
  CHECK(refused.code == 0);
  CHECK(refused.err.find("no launch of a CUDA kernel was seen") != std::string::npos);
}

TEST_CASE("an application without CUDA passes through, with one line") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  const ProgramResult made = capture(scratch / "c", "opened", "none");
  CHECK(made.code == 5);
  CHECK(made.out == "application none\n");
  CHECK(lines_of(made.err).size() == 1);
  CHECK(made.err.find("no launch of a CUDA kernel was seen") != std::string::npos);
  CHECK(files_in(scratch / "c") == 0);
}

TEST_CASE("a library that looks for what stands behind it finds what it would find alone") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  const ProgramResult made =
      run_program({"capture", "--output", scratch / "c", "--", apps() + "/capture_next"});
  CHECK(made.code == 0);
  CHECK(made.out == "42\n");
}

TEST_CASE("where the sources are given, the specs have the captured shapes as workloads") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  write_file(scratch / "kernels.cu", kSource);
  const ProgramResult made =
      capture(scratch / "c", "opened", "plain",
              {"--share", "0.99", "--sources", scratch / "kernels.cu", "--contents", "gather:2"});
  CAPTURE(made.out);
  CAPTURE(made.err);
  CHECK(made.code == 7);
  const std::string spec = scratch / "c/scale.json";
  CHECK(made.out.find("\n" + spec + "\n") != std::string::npos);
  const json scale = json::parse(read_file(spec));
  CHECK(scale["objective"] == "weighted");
  CHECK(scale["kernel"]["io"]["launch"]["grid"]["x"] == "ceil_div(n, BLOCK)");
  const json& workloads = scale["kernel"]["workloads"];
  REQUIRE(workloads.size() == 3);
  CHECK(workloads[0] == json{{"name", "captured_1"},
                             {"target", "gpu"},
                             {"weight", 20},
                             {"scalars", {{"n", 4096}, {"factor", 0.5}}}});
  CHECK(workloads[1]["scalars"]["n"] == 1000);
  CHECK(workloads[2]["target"] == "host");
  for (const json& guess : scale["guessed"]) CHECK(guess["path"] == "/tolerance");

  // what the index tensor held
  const json gather = json::parse(read_file(scratch / "c/gather.json"));
  CHECK(gather["kernel"]["metadata"]["name_expressions"] == json{"gather<float>"});
  const json& captured = gather["kernel"]["workloads"][0];
  CHECK(captured["tensors"]["index"]["data"]["shape"] == json{512});
  const json& rows = gather["kernel"]["io"]["args"][4];  // of x: a size of its own
  CHECK(rows["is_size"] == true);
  CHECK(rows["value"] == 4096 + 16);
  CHECK(gather["guessed"].back()["why"] == "as many as the captured buffer has room for");
  CHECK(gather["kernel"]["io"]["launch"]["cluster"]["x"] == 2);
  CHECK(gather["kernel"]["io"]["launch"]["dynamic_smem_bytes"] == 1024);
  for (const std::string name : {"scale", "gather"}) {
    const ProgramResult valid = run_program({"validate", scratch / ("c/" + name + ".json")});
    CAPTURE(valid.err);
    CHECK(valid.code == 0);
  }
}

TEST_CASE("a grid that the kernel's text does not imply stands in its workload") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  write_file(scratch / "kernels.cu", kSource);
  REQUIRE(capture(scratch / "c", "linked", "plain").code == 7);
  json launches = launches_of(scratch / "c", "scale");
  launches["launches"][1]["grid"] = {40, 1, 1};
  write_file(scratch / "edited.json", launches.dump());
  const auto init = [&](const std::string& file, const Words& more = {}) {
    Words words{"init",     scratch / "kernels.cu", "scale", "--launches", file,
                "--output", scratch / "spec.json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const ProgramResult made = init(scratch / "edited.json", {"--share", "1"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  CHECK(made.out.find("launches of ") != std::string::npos);
  const json spec = json::parse(read_file(scratch / "spec.json"));
  const json& workloads = spec["kernel"]["workloads"];
  CHECK(workloads[1]["launch"]["grid"]["x"] == 40);
  CHECK(run_program({"validate", scratch / "spec.json"}).code == 0);

  fs::remove(scratch / "spec.json");
  fs::remove(scratch / "spec.kernel.cu");
  const auto refused = [&](json changed, const std::string& expected) {
    write_file(scratch / "bad.json", changed.dump());
    const ProgramResult result = init(scratch / "bad.json");
    CAPTURE(result.err);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(expected) != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "spec.json"));
  };
  json other = launches, fewer = launches, digits = launches, unknown = launches;
  other["kernel"] = "gather";
  fewer["launches"][0]["parameters"].erase(0);
  digits["launches"][0]["parameters"][2]["bytes"] = "0x";
  unknown["speed"] = 3;
  refused(other, "got gather, expected launches of scale");
  refused(fewer, "expected the 4 of scale");
  refused(digits, "two hexadecimal digits for each of 4 bytes");
  refused(unknown, "a known key");
}

TEST_CASE("NVIDIA's runtime, linked statically, gets the hooks where it asks the driver") {
  NEEDS_APPLICATIONS();
  const std::string nvcc = warpath::find_program("nvcc");
  if (nvcc.empty()) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  const TemporaryFolder scratch;
  const auto run = [&](const Words& argv) {
    warpath::ProcessSpec command;
    command.argv = argv;
    for (const char* const name : {"PATH", "HOME"}) {
      const char* const value = std::getenv(name);
      if (value != nullptr) command.environment.push_back(std::string(name) + "=" + value);
    }
    return warpath::run_process(command, std::chrono::minutes(4), 1 << 20);
  };
  const auto compiled = run({nvcc, "-cudart", "static", "-o", scratch / "runtime",
                             (source_root() / "tests/data/capture/runtime.cu").string()});
  CAPTURE(compiled.output);
  REQUIRE(compiled.code == 0);
  // The runtime refuses a driver without a device only after it has asked for its functions.
  const ProgramResult made =
      run_program({"capture", "--output", scratch / "c", "--", "env", "LD_LIBRARY_PATH=" + apps(),
                   "WARPATH_FAKE_TRACE=1", scratch / "runtime"});
  CAPTURE(made.out);
  for (const std::string name : {"cuLaunchKernel", "cuMemAlloc", "cuLibraryLoadData"}) {
    CAPTURE(name);
    CHECK(made.err.find("asked for " + name + " by libwarpath_capture.so\n") != std::string::npos);
  }
  if (fs::exists("/dev/nvidia0")) {
    const ProgramResult real =
        run_program({"capture", "--output", scratch / "real", "--", scratch / "runtime"});
    CAPTURE(real.err);
    CHECK(real.code == 0);
    CHECK(count(launches_of(scratch / "real", "scale")) == 20);
  } else {
    MESSAGE("skipped: launches of the runtime on a GPU: none here");
  }
}

TEST_CASE(
    "a torn last line of a log is left out, any other that is none is an error with its place") {
  const TemporaryFolder scratch;
  fs::create_directory(scratch / "log");
  const std::string head =
      R"({"type":"process","schema":1,"pid":1,"command":["a"]})"
      "\n"
      R"({"type":"kernel","kernel":0,"name":"k","image":"","parameters":[[0,4]]})"
      "\n"
      R"({"type":"launch","launch":0,"kernel":0,"grid":[1,1,1],"block":[32,1,1],"cluster":[1,1,1],)"
      R"("dynamic_smem_bytes":0,"parameters":[{"bytes":"01000000"}]})"
      "\n";
  const auto read = [&](const std::string& more) {
    write_file(scratch / "log/1.jsonl", head + more);
    return warpath::read_capture(scratch.path());
  };
  const warpath::Capture torn = read(R"({"type":"counts","counts":[[0,)");
  CHECK(torn.unfinished == 1);
  REQUIRE(torn.kernels.size() == 1);
  CHECK(torn.launches == 1);  // it was about to be made
  CHECK_FALSE(torn.timed);
  CHECK(warpath::kernels_in_share(torn, 0.9) == 1);
  CHECK(read(R"({"type":"counts","counts":[[0,9]],"graph_launches":0})"
             "\n")
            .launches == 9);
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {"nonsense", "1.jsonl:4"},
           {R"({"type":"time","launch":7,"nanoseconds":1})", "the number of an earlier launch"},
           {R"({"type":"launch","launch":1,"kernel":5})", "the number of an earlier kernel"}}) {
    const std::string &line = row.first, &expected = row.second;
    CAPTURE(line);
    std::string what;
    try {
      static_cast<void>(read(line + "\n"));
    } catch (const warpath::Error& error) {
      what = error.what();
    }
    CHECK(what.find(expected) != std::string::npos);
  }
}

TEST_CASE("what capture cannot do is one line, and the application is not started") {
  NEEDS_APPLICATIONS();
  const TemporaryFolder scratch;
  write_file(scratch / "file", "x");
  const std::string mark = scratch / "mark";
  const std::vector<std::pair<Words, std::string>> table{
      {{"--", scratch / "absent"}, "a program that can be started"},
      {{"--", "no_such_program"}, "got no_such_program"},
      {{}, "--output DIR"},
      {{"--share", "0", "--", "touch", mark}, "--share: got 0"},
      {{"--share", "1.5", "--", "touch", mark}, "--share: got 1.5"},
      {{"--contents", "gather", "--", "touch", mark}, "KERNEL:PARAMETER"},
      {{"--contents", "gather:x", "--", "touch", mark}, "KERNEL:PARAMETER"},
      {{"--sources", scratch / "absent.cu", "--", "touch", mark}, "absent.cu"}};
  for (const auto& row : table) {
    const Words& words = row.first;
    const std::string& expected = row.second;
    CAPTURE(expected);
    Words all{"capture", "--output", scratch / "c"};
    all.insert(all.end(), words.begin(), words.end());
    const ProgramResult result = run_program(all);
    CAPTURE(result.err);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(expected) != std::string::npos);
  }
  const ProgramResult full =
      run_program({"capture", "--output", scratch.path().string(), "--", "touch", mark});
  CHECK(full.code == 64);
  CHECK_FALSE(fs::exists(mark));
}

TEST_SUITE_END();
