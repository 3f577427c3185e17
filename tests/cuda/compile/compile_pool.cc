#include "runners/cuda/compile/compile_pool.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "engine/base/temporary_folder.h"
#include "tests/cuda/support.h"

using namespace std::chrono_literals;
using warpath::Status;
using warpath::cuda::CompileLimits;
using warpath::cuda::CompilePool;
using warpath::cuda::CompileRequest;
using warpath::cuda::CompileResult;

namespace {

CompileRequest request(std::string source) {
  return {.source = std::move(source), .kernel = "k", .arch = "sm_90a", .options = {}};
}

CompileRequest good(int i) {
  return request(
      "extern \"C\" __global__ void k(float* o, const float* x) { o[threadIdx.x] = x[threadIdx.x] "
      "* " +
      std::to_string(i) + ".0f; }\n");
}

/// Templates that multiply until time or memory ends.
const char* const kEndless =
    "template <unsigned long long A, unsigned long long B> struct T { static const unsigned v = "
    "T<A * 2, B - 1>::v + T<A * 2 + 1, B - 1>::v; };\n"
    "template <unsigned long long A> struct T<A, 0> { static const unsigned v = 1; };\n"
    "extern \"C\" __global__ void k(float* o) { o[0] = T<1, 40>::v; }\n";

std::map<std::uint64_t, CompileResult> collect(CompilePool& pool,
                                               std::size_t count,
                                               std::chrono::seconds limit = 120s) {
  std::map<std::uint64_t, CompileResult> results;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (results.size() < count && std::chrono::steady_clock::now() < deadline) {
    if (auto done = pool.wait(100ms)) {
      CHECK_FALSE(results.contains(done->id));
      results.emplace(done->id, std::move(done->result));
    }
  }
  CHECK(results.size() == count);
  return results;
}

void signal_children(int number) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(entry.path() / "children");
    for (pid_t child = 0; children >> child;) ::kill(child, number);
  }
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_pool");

TEST_CASE("every request comes back once, equal to a compilation in this process") {
  CompilePool pool(cuda_test::pool_options(2));
  constexpr int kCount = 12;
  for (int i = 0; i < kCount; ++i) pool.submit(static_cast<std::uint64_t>(i), good(i));
  const auto results = collect(pool, kCount);
  for (const auto& [id, result] : results) CHECK_MESSAGE(result.status == Status::ok, result.log);
  const CompileResult here = cuda_test::compile(good(3).source);
  CHECK(results.at(3).ptx == here.ptx);
  CHECK(results.at(3).cubin == here.cubin);
  CHECK(results.at(3).usage == here.usage);
  CHECK(pool.hello()->nvrtc_version == cuda_test::nvrtc().version());
  MESSAGE("workers are held by: " << pool.hello()->sandbox);
  CHECK(pool.counts().restarts == 0);
}

TEST_CASE("a text without end costs its worker and nothing else") {
  CompilePool pool(cuda_test::pool_options(2, {.seconds = 2}));
  pool.submit(0, good(0));
  static_cast<void>(collect(pool, 1));
  const auto start = std::chrono::steady_clock::now();
  pool.submit(1, request(kEndless));
  for (std::uint64_t id = 2; id < 8; ++id) pool.submit(id, good(static_cast<int>(id)));
  const auto results = collect(pool, 7);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK((results.at(1).status == Status::timed_out ||
         results.at(1).status == Status::limits_exceeded));
  CHECK_FALSE(results.at(1).log.empty());
  for (std::uint64_t id = 2; id < 8; ++id) CHECK(results.at(id).status == Status::ok);
  CHECK(pool.counts().restarts == 1);
  CHECK(took.count() < 60);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a text that eats memory exceeds its limit") {
  CompilePool pool(
      cuda_test::pool_options(1, {.seconds = 60, .memory_bytes = std::uint64_t{400} << 20U}));
  pool.submit(1, request(kEndless));
  pool.submit(2, good(2));
  const auto results = collect(pool, 2);
  CHECK_MESSAGE(results.at(1).status == Status::limits_exceeded, results.at(1).log);
  CHECK(results.at(2).status == Status::ok);
}
#endif

TEST_CASE("output beyond the limit is refused") {
  CompilePool pool(cuda_test::pool_options(1, {.output_bytes = 1000}));
  pool.submit(1, good(1));
  CHECK(collect(pool, 1).at(1).status == Status::limits_exceeded);
}

TEST_CASE("no spelling of an include shows a file of this machine") {
  const std::string secret = "warpath_secret_" + std::to_string(::getpid());
  const warpath::TemporaryFolder folder;
  const std::filesystem::path file = folder / (secret + ".h");
  std::ofstream(file) << "int " << secret << "_text = unknown_" << secret << ";\n";
  ::setenv("WARPATH_TEST_KEY", secret.c_str(), 1);
  const std::string kernel = "\nextern \"C\" __global__ void k(float* o) { o[0] = 1; }\n";
  std::vector<std::string> tricks;
  for (const std::string& path : {file.string(), std::string("/proc/self/environ"),
                                  std::string("/proc/self/cmdline"), std::string("/etc/passwd")}) {
    for (const char* form :
         {"#include \"@\"", "#include <@>", "%:include \"@\"", "#inc\\\nlude \"@\"",
          "#define F \"@\"\n#include F", "#/**/include/**/\"@\"", "#include_next <@>",
          "#include \"../../../../../../..@\"",
          "#if __has_include(\"@\")\n#error found_the_file\n#endif",
          "#define H(x) __has_include(x)\n#if H(\"@\")\n#error found_the_file\n#endif",
          "#embed \"@\"", "#import \"@\"", "?\?=include \"@\"",
          "#line 1 \"kernel.cu\"\n#include \"@\"",
          "#define S(x) #x\n#define X(x) S(x)\n__device__ const char* s = X(\n#include "
          "\"@\"\n);"}) {
      std::string text = form;
      text.replace(text.find('@'), 1, path);
      tricks.push_back(text + kernel);
    }
  }
  CompilePool pool(cuda_test::pool_options(2));
  for (std::size_t i = 0; i < tricks.size(); ++i) pool.submit(i, request(tricks[i]));
  const auto results = collect(pool, tricks.size());
  REQUIRE(pool.hello());
  for (const auto& [id, result] : results) {
    CAPTURE(tricks[id]);
    CAPTURE(result.log);
    for (const std::string& text : {result.log, result.ptx, result.cubin}) {
      CHECK(text.find("unknown_" + secret) == std::string::npos);
      CHECK(text.find("WARPATH_TEST_KEY") == std::string::npos);
      CHECK(text.find("root:") == std::string::npos);
      if (pool.hello()->blocks_files) CHECK(text.find("error found_the_file") == std::string::npos);
    }
  }
  CHECK(pool.counts().restarts == 0);
}

TEST_CASE(
    "a worker that is killed from outside costs its request nothing; a request over which two were "
    "killed is given up") {
  CompilePool pool(cuda_test::pool_options(1, {.seconds = 60}));
  pool.submit(0, good(0));
  static_cast<void>(collect(pool, 1));
  signal_children(SIGSTOP);  // the worker has the request and cannot answer
  pool.submit(1, good(1));
  std::this_thread::sleep_for(200ms);
  signal_children(SIGKILL);
  CHECK(collect(pool, 1).at(1).status == Status::ok);
  pool.submit(2, request(kEndless));
  for (std::uint64_t id = 3; id < 6; ++id) pool.submit(id, good(static_cast<int>(id)));
  std::optional<CompileResult> given_up;
  for (int killed = 0; killed < 20 && !given_up; ++killed) {
    std::this_thread::sleep_for(3s);  // until the next one is at it
    signal_children(SIGKILL);
    if (auto done = pool.wait(500ms)) {
      CHECK(done->id == 2);
      given_up = std::move(done->result);
    }
  }
  REQUIRE(given_up);
  CHECK((given_up->status == Status::crashed || given_up->status == Status::limits_exceeded));
  for (const auto& [id, result] : collect(pool, 3)) CHECK(result.status == Status::ok);
}

TEST_CASE("a program that is no worker gives every request back with the reason") {
  for (const auto& argv : {std::vector<std::string>{"/bin/true"},
                           std::vector<std::string>{"/nonexistent/warpath", "worker", "compile"}}) {
    auto options = cuda_test::pool_options(2);
    options.worker_argv = argv;
    CompilePool pool(options);
    for (std::uint64_t id = 0; id < 5; ++id) pool.submit(id, good(1));
    const auto results = collect(pool, 5, 20s);
    for (const auto& [id, result] : results) {
      CHECK(result.status == Status::crashed);
      CHECK(result.log.find(argv.front()) != std::string::npos);
    }
    CHECK_FALSE(pool.problem().empty());
  }
}

TEST_SUITE_END();
