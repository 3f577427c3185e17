#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_SUITE_END();
