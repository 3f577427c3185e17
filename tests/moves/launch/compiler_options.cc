#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/moves/triton/triton_case.h"
#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

KernelSpec twice() {
  return test::kernel_under_test(
      "extern \"C\" __global__ void twice(float* y, const float* x) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  y[i] = 2.0f * x[i];\n}\n",
      "twice", {{"y", "output", "float32", "1024"}, {"x", "input", "float32", "1024"}}, "4", "256");
}

}  // namespace

TEST_SUITE_BEGIN("compiler_options");

TEST_CASE("options of the compiler stand behind the spec's, in one order, each once") {
  MovePath path(twice());
  CHECK(path.tried("compiler_options@compiler:registers(value=64)") ==
        "the option is one of a GPU's compiler");
  path.on_gpu();
  const auto options = [&] { return path.variant().compiler_options; };
  const auto before = options();
  path.step("compiler_options@compiler:l1(value=0)");
  path.step("compiler_options@compiler:usage(value=10)");
  path.step("compiler_options@compiler:registers(value=64)");
  path.step("compiler_options@compiler:registers(value=32)");
  CHECK(options() == std::vector<std::string>{"--maxrregcount=32",
                                              "--ptxas-options=--register-usage-level=10",
                                              "--ptxas-options=--def-load-cache=cg"});
  CHECK(path.tried("compiler_options@compiler:usage(value=10)") ==
        "compiler:usage has this value already");
  CHECK(path.tried("compiler_options@compiler:usage(value=11)") ==
        "11 is no value of compiler:usage");
  CHECK(path.tried("compiler_options@compiler:fast(value=1)") == "there is no compiler:fast");
  path.step("compiler_options@compiler:registers(value=0)");
  path.step("compiler_options@compiler:l1(value=1)");
  path.step("compiler_options@compiler:usage(value=5)");
  CHECK(options() == before);
  path.step("launch_bounds@launch(min_blocks=1)");
  CHECK(path.tried("compiler_options@compiler:registers(value=64)") ==
        "the bounds of the launch cap the registers");
  KernelSpec of_caller = twice();
  of_caller.launch_owner = LaunchOwner::caller;
  MovePath elsewhere(std::move(of_caller));
  CHECK(elsewhere.on_gpu().tried("compiler_options@compiler:registers(value=64)") ==
        "the caller compiles the kernel");
}

TEST_CASE("a kernel in Triton gets options of the assembler, and one cap of its registers") {
  const std::string body = "(y, n, T: tl.constexpr):\n    tl.store(y + tl.arange(0, T), 1.0)\n",
                    head =
                        "output: float32 y[n]\nscalar: int32 n = 64\ngrid: 1\nblock: 128\n"
                        "tunable: T = 64 of 64\n";
  const test::TritonCase one(head, body);
  CHECK(one.offered("compiler_options").starts_with("@compiler:registers(value="));
  CHECK(one.offered("compiler_options").find("@compiler:usage(value=10)") != std::string::npos);
  CHECK(one.offered("compiler_options").find("vectorise") == std::string::npos);
  const test::TritonCase capped(head + "tunable: maxnreg = 64 of 64, 128\n", body);
  CHECK(capped.offered("compiler_options").find("registers") == std::string::npos);
}

TEST_SUITE_END();
