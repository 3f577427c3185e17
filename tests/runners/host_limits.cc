#include <doctest/doctest.h>

#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "runners/host/options.h"
#include "tests/runners/host_candidates.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("host_limits");

TEST_CASE("kernels that crash, hang or give up cost no more than their own evaluation") {
  Candidates candidates(doubling());
  check_each(
      candidates,
      {
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { float* p = n == 64 ? "
           "nullptr : y; *p = 1; }",
           Status::crashed, "launch", "SIGSEGV"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { volatile int go = 1; "
           "while (go) { } }",
           Status::timed_out, "launch", "host.launch_seconds"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { __syncthreads(); "
           "volatile int go = 1; while (go) { } }",
           Status::timed_out, "launch", "host.launch_seconds"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { if (threadIdx.x < "
           "10) __syncthreads(); y[threadIdx.x] = 2 * x[threadIdx.x]; }",
           Status::rejected, "launch", "divergent barrier"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { if (threadIdx.x % 2) "
           "y[threadIdx.x] = __shfl_sync(~0u, 1.f, 0); else __syncthreads(); }",
           Status::rejected, "launch", "divergent barrier"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = "
           "threadIdx.x < 32 ? __syncthreads_and(1) : __syncthreads_or(1); }",
           Status::rejected, "launch", "divergent barrier"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { volatile float big[1 "
           "<< 20]; for (int i = 0; i < 1 << 20; i += 512) big[i] = n; y[0] = big[1024]; }",
           Status::crashed, "launch", "stack overflow"},
          {"__device__ __noinline__ float deep(const float* x, int n) { volatile float a[64]; a[n "
           "% 64] = x[0]; return n == 0 ? a[0] : deep(x, n - 1) + a[n % 64]; } extern \"C\" "
           "__global__ void k(const float* x, float* y, int n) { __syncthreads(); y[0] = deep(x, 1 "
           "<< 20); }",
           Status::crashed, "launch", "stack overflow"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { __trap(); }",
           Status::crashed, "launch", "trap"},
          {"#include <cassert>\nextern \"C\" __global__ void k(const float* x, float* y, int n) { "
           "assert(n == 65); }",
           Status::crashed, "launch", "assertion failed: n == 65"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[0] = 7 / (n - 64); "
           "}",
           Status::crashed, "launch", "SIGFPE"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { __builtin_trap(); }",
           Status::crashed, "launch", "SIGILL"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { extern __shared__ "
           "float s[]; s[5000] = 1; y[0] = s[0]; }",
           Status::crashed, "launch", "shared memory"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = "
           "__shfl_sync(1u, 1.f, 0); }",
           Status::crashed, "launch", "mask leaves its lane out"},
      });
}

TEST_CASE("a worker that is killed from outside costs its candidate nothing") {
  Candidates candidates(doubling());
  REQUIRE(candidates.sound());
  std::atomic<bool> done = false;
  std::atomic<int> killed = 0;
  // Kills one worker of this program in the middle of an evaluation.
  const std::jthread killer([&] {
    while (!done && killed == 0) {
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream children(entry.path() / "children");
        for (pid_t child = 0; children >> child && killed == 0;) {
          std::ifstream words("/proc/" + std::to_string(child) + "/cmdline", std::ios::binary);
          const std::string command{std::istreambuf_iterator<char>(words), {}};
          if (command.find(std::string("worker\0host", 11)) != std::string::npos &&
              ::kill(child, SIGKILL) == 0)
            ++killed;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const Outcome outcome = candidates.run(body("if (i < n) y[i] = x[i] + x[i];"));
  done = true;
  CAPTURE(outcome.log);
  CHECK(killed == 1);
  CHECK(outcome.status == Status::ok);
}

TEST_CASE("compiling has limits of time and memory") {
  HostOptions options = quick();
  options.compile_seconds = 3;
  options.memory_mib = 512;
  Candidates candidates(doubling(), options);
  const std::string k =
      "extern \"C\" __global__ void k(const float* x, float* y, int n) { y[0] = F<40>::value; }";
  const Outcome slow = candidates.run(
      "template <int N, int M = 0> struct F { static constexpr int value = F<N - 1, 2 * M>::value "
      "+ F<N - 1, 2 * M + 1>::value; }; template <int M> struct F<0, M> { static constexpr int "
      "value = M; };" +
      k);
  CAPTURE(slow.log);
  CHECK((slow.status == Status::timed_out || slow.status == Status::limits_exceeded));
  CHECK(failed_gate(slow) == "compile");
  const Outcome big =
      candidates.run("__device__ int table[1 << 28] = {1};" + body("y[i] = table[i];"));
  CAPTURE(big.log);
  CHECK(big.status != Status::ok);
  const Outcome shared = candidates.run(
      body("__shared__ float s[20000]; s[i] = x[i]; __syncthreads(); y[i] = s[i] * 2;"));
  CHECK(shared.status == Status::limits_exceeded);
  CHECK(shared.log.find("static shared memory of 80") != std::string::npos);
  CHECK(candidates.sound());
}

TEST_CASE(
    "a machine of many cores runs large blocks on as many lanes as have room for their stacks") {
  HostOptions options = quick();
  options.threads = 64;
  options.memory_mib = 2048;  // the stacks of 64 blocks of 1024 threads take 8 GiB
  KernelSpec spec = doubling();
  spec.workloads[0].scalars["n"] = std::int64_t{128 * 1024};
  spec.io.launch.grid[0] = Expression::parse("ceil_div(n, 1024)", "test");
  spec.io.launch.block[0] = Expression(1024);
  Candidates candidates(spec, options);
  const Outcome outcome =
      candidates.run(body("__shared__ float s[1024]; s[1023 - threadIdx.x] = x[i]; "
                          "__syncthreads(); y[i] = 2 * s[1023 - threadIdx.x];"));
  CAPTURE(outcome.log);
  CHECK(name(outcome.status) == name(Status::ok));
}

TEST_CASE("a stop request ends an evaluation early") {
  KernelSpec spec = doubling();
  HostOptions options = quick();
  options.launch_seconds = 60;
  auto runner = make_host_runner(options);
  runner->prepare(spec);
  Variant variant = baseline_variant(spec);
  variant.source = body("volatile int go = 1; while (go) { }");
  std::stop_source source;
  source.request_stop();
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(runner->run(RunRequest{spec, variant, Hash128{}, 1, 0}, source.get_token()));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_SUITE_END();
