#include "runners/cuda/compile/nvcc.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stop_token>
#include <string>

#include "engine/base/error.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/worker/sandbox.h"
#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::DeviceCompiler;
using warpath::Error;
using warpath::Status;
using warpath::cuda::CompileRequest;
using warpath::cuda::CompileResult;
using warpath::cuda::CompileService;
using warpath::cuda::CompileServiceOptions;
using warpath::cuda::Nvcc;
using warpath::test::put_text;
using warpath::test::TemporaryFolder;

namespace {

/// A program in the place of nvcc, with the code that NVRTC makes of kernel `k` in the place of its
/// output. Its PTX ends with what it was given: the words, and the text, each line a comment.
class StandIn {
 public:
  /// `first`, `second`: lines of its shell that come before it writes PTX, machine code.
  explicit StandIn(const std::string& first = "", const std::string& second = "") {
    fs::create_directories(folder_.path() / "bin");
    const CompileResult code =
        cuda_test::compile("extern \"C\" __global__ void k(float* o) { o[threadIdx.x] = 1; }", "k");
    REQUIRE_MESSAGE(code.status == Status::ok, code.log);
    put_text(folder_.path() / "k.ptx", code.ptx);
    put_text(folder_.path() / "k.cubin", code.cubin);
    put_text(program(),
             "#!/bin/sh\n"
             "here=" +
                 folder_.path().string() + R"(
case "$1" in
--version)
  echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
--ptx)
  )" + first + R"(
  test -e kernel.cu || exit 1
  { cat $here/k.ptx
    echo '.visible .global .align 8 .u64 warpath_entry_of_the_kernel = k;'
    echo "// $*"
    sed 's|^|// |' kernel.cu
    if test -e headers; then find headers -type f | sed 's|^|// |'; fi
  } > kernel.ptx ;;
-cubin)
  )" + second + R"(
  if grep -q '^.visible .global' entry.ptx; then exit 1; fi
  cp $here/k.cubin kernel.cubin
  echo "ptxas info    : Compiling entry function 'k' for 'sm_90a'" >&2
  echo "ptxas info    : Used 17 registers, used 0 barriers, 64 bytes smem" >&2 ;;
*)
  exit 1 ;;
esac
)");
    fs::permissions(program(), fs::perms::owner_all);
  }
  [[nodiscard]] std::string program() const { return folder_.path() / "bin" / "nvcc"; }

 private:
  TemporaryFolder folder_;
};

CompileRequest request() {
  return {.source = "#include <vector>\n__global__ void k(float* o) { o[threadIdx.x] = VALUE; }\n",
          .kernel = "k",
          .arch = "sm_90a",
          .options = {"--use_fast_math", "-DVALUE=1;rm -f kernel.ptx", "-UDEBUG"},
          .compiler = DeviceCompiler::nvcc};
}

std::string message_of(const std::string& program) {
  try {
    const Nvcc nvcc(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_nvcc");

TEST_CASE("nvcc makes PTX and from it machine code, and says what the entry uses") {
  const StandIn stand_in;
  const Nvcc nvcc(stand_in.program());
  const CompileResult result = nvcc.compile(request(), {});
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.lowered_name == "k");
  CHECK(result.usage.registers == 17);
  CHECK(result.usage.static_smem_bytes == 64);
  CHECK(result.cubin ==
        cuda_test::compile("extern \"C\" __global__ void k(float* o) { o[threadIdx.x] = 1; }", "k")
            .cubin);
  CHECK(result.seconds > 0);
  CHECK(result.ptx.find(".global .align 8 .u64 warpath_entry") == std::string::npos);
  CHECK(result.ptx.find("// --ptx -std=c++17 -DNDEBUG -arch=sm_90a --use_fast_math -o kernel.ptx "
                        "kernel.cu\n") != std::string::npos);
}

TEST_CASE("macros are text: what they hold reaches no shell") {
  const StandIn stand_in;
  const CompileResult result = Nvcc(stand_in.program()).compile(request(), {});
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.ptx.find("// #define VALUE 1;rm -f kernel.ptx\n// #undef DEBUG\n"
                        "// #line 1 \"kernel.cu\"\n// #include <vector>\n") != std::string::npos);
}

TEST_CASE("an instance of a template is named as in the spec") {
  CompileRequest instance = request();
  instance.kernel = "row_sum<float, 4>";
  CHECK(warpath::cuda::nvcc_text(instance, "text")
            .ends_with("text\n#line 1 \"entry\"\n__device__ const void* "
                       "warpath_entry_of_the_kernel = (const void*)&row_sum<float, 4>;\n"));
  std::string ptx =
      ".visible .entry _Z1kIfEvPT_()\n;\n"
      ".visible .global .align 8 .u64 warpath_entry_of_the_kernel = _Z1kIfEvPT_;\n\nrest\n";
  CHECK(warpath::cuda::take_entry_name(ptx) == "_Z1kIfEvPT_");
  CHECK(ptx == ".visible .entry _Z1kIfEvPT_()\n;\n\nrest\n");
  CHECK(warpath::cuda::take_entry_name(ptx).empty());
}

TEST_CASE("headers of libraries become files, and none leads out of their folder") {
  const StandIn stand_in;
  const Nvcc nvcc(stand_in.program());
  CompileRequest one = request();
  one.headers = {{"cub/cub.cuh", "// cub"}};
  const CompileResult result = nvcc.compile(one, {});
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.ptx.find("-Iheaders") != std::string::npos);
  CHECK(result.ptx.find("// headers/cub/cub.cuh") != std::string::npos);
  for (const char* const name : {"../x.h", "/tmp/x.h", "a/../../x.h"}) {
    one.headers = {{name, ""}};
    CHECK(nvcc.compile(one, {}).status == Status::compile_error);
  }
}

TEST_CASE("an error is told with the kernel's own line, also the host preprocessor's") {
  const auto log_of = [](const std::string& message) {
    // The first compilation is the constructor's, of a kernel that passes.
    const StandIn stand_in("grep -q VALUE kernel.cu && { " + message + "; exit 2; }");
    const CompileResult result = Nvcc(stand_in.program()).compile(request(), {});
    CHECK(result.status == Status::compile_error);
    return result.log;
  };
  CHECK(log_of("echo 'kernel.cu(2): error: identifier \"x\" is undefined'") ==
        "kernel.cu(2): error: identifier \"x\" is undefined\n"
        "    __global__ void k(float* o) { o[threadIdx.x] = VALUE; }\n");
  CHECK(log_of("echo 'kernel.cu:1:10: fatal error: vector: No such file or directory'") ==
        "kernel.cu(1): error: vector: No such file or directory\n    #include <vector>\n");
  CHECK(log_of("echo '/etc/secret(1): error: what that file holds'") ==
        "the compiler gives no reason within the kernel's own text\n");
  CHECK(log_of("echo 'entry(1): error: warpath_entry_of_the_kernel'") ==
        "the source has no kernel k\n");
}

TEST_CASE("where processes can be confined, it reads no file but the toolkit's and the system's") {
  const TemporaryFolder elsewhere;
  put_text(elsewhere.path() / "secret", "kernel.cu(1): error: secret\n");
  const StandIn stand_in("grep -q VALUE kernel.cu && { cat " +
                         (elsewhere.path() / "secret").string() + "; exit 2; }");
  const Nvcc nvcc(stand_in.program());
  const bool told = nvcc.compile(request(), {}).log.find("secret\n") != std::string::npos;
  CHECK(told == !nvcc.confined());
  if (warpath::probe_sandbox().landlock > 0) CHECK(nvcc.confined());
}

TEST_CASE("time and output are limited, and a request to stop ends it") {
  const StandIn slow("grep -q VALUE kernel.cu && sleep 60");
  const Nvcc nvcc(slow.program());
  CHECK(nvcc.compile(request(), {.seconds = 0.3}).status == Status::timed_out);
  std::stop_source stop;
  stop.request_stop();
  CHECK(nvcc.compile(request(), {}, stop.get_token()).log == "stopped");
  const StandIn large(
      "", "grep -q VALUE entry.ptx && { head -c 3000000 /dev/zero > kernel.cubin; exit 0; }");
  const CompileResult result = Nvcc(large.program()).compile(request(), {.output_bytes = 1 << 20});
  CHECK(result.status != Status::ok);
}

TEST_CASE("what a candidate may not give is refused before nvcc is started") {
  const StandIn stand_in;
  const Nvcc nvcc(stand_in.program());
  CompileRequest bad = request();
  bad.options = {"-Xcompiler=-fplugin=x.so"};
  CHECK(nvcc.compile(bad, {}).status == Status::compile_error);
  bad.options = {"-default-device"};
  CHECK(nvcc.compile(bad, {}).log.find("NVRTC's alone") != std::string::npos);
  bad = request();
  bad.kernel = "k; int evil";
  CHECK(nvcc.compile(bad, {}).status == Status::compile_error);
}

TEST_CASE("a compiler that is not there, or does not work, is one line") {
  CHECK(message_of("/nowhere/nvcc").find("/nowhere/nvcc") != std::string::npos);
  CHECK(message_of("/bin/true").find("cuda.nvcc /bin/true cannot compile a kernel: ") == 0);
  CHECK(message_of("/bin/false").find("cuda.nvcc /bin/false does not work: ") == 0);
  for (const char* const program : {"/nowhere/nvcc", "/bin/true", "/bin/false"})
    CHECK(message_of(program).find('\n') == std::string::npos);
}

TEST_CASE("the service compiles with nvcc what asks for it, under a key of its own") {
  const StandIn stand_in;
  const TemporaryFolder cache;
  CompileServiceOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.limits = cuda_test::pool_options(1).setup.limits;
  options.cache_folder = cache.path();
  options.nvcc = stand_in.program();
  CompileRequest one = request();
  one.source = "extern \"C\" __global__ void k(float* o) { o[threadIdx.x] = 1; }\n";
  one.options.clear();
  CompileService service(options);
  const auto by_nvcc = service.compile(one);
  REQUIRE_MESSAGE(by_nvcc->status == Status::ok, by_nvcc->log);
  CHECK(by_nvcc->usage.registers == 17);
  one.compiler = DeviceCompiler::nvrtc;
  const auto by_nvrtc = service.compile(one);
  REQUIRE(by_nvrtc->status == Status::ok);
  CHECK(by_nvrtc->usage.registers != 17);
  one.compiler = DeviceCompiler::nvcc;
  CHECK(service.compile(one) == by_nvcc);
  CompileService later(options);
  CHECK(*later.compile(one) == *by_nvcc);
  CHECK(later.counts().disk_hits == 1);

  options.nvcc = "/nowhere/nvcc";
  CompileService without(options);
  CHECK_THROWS_AS((void)without.compile(one), Error);
}

TEST_CASE("the real nvcc gives an instance of a template that includes headers of the host") {
  if (warpath::cuda::toolkit_program("nvcc").empty() ||
      warpath::cuda::toolkit_program("ptxas").empty()) {
    MESSAGE("skipped: no nvcc with its assembler here");
    return;
  }
  const Nvcc nvcc("");
  const CompileRequest one{
      .source =
          "#include <vector>\n#include <cstdio>\n"
          "template <class T, int N> __global__ void row_sum(const T* x, T* o) {\n"
          "  __shared__ T part[64];\n  part[threadIdx.x] = x[threadIdx.x] * N * SCALE;\n"
          "  __syncthreads();\n  o[threadIdx.x] = part[63 - threadIdx.x];\n}\n"
          "std::vector<int> of_the_host() { std::printf(\"host\"); return {1}; }\n",
      .kernel = "row_sum<float, 4>",
      .arch = "sm_90a",
      .options = {"-DSCALE=3", "--fmad=false"},
      .compiler = DeviceCompiler::nvcc};
  const CompileResult result = nvcc.compile(one, {});
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.lowered_name == "_Z7row_sumIfLi4EEvPKT_PS0_");
  CHECK(result.usage.registers > 0);
  CHECK(result.usage.static_smem_bytes == 256);
  CHECK(
      result.cubin.starts_with("\x7f"
                               "ELF"));
  CHECK(result.ptx.find("warpath_entry") == std::string::npos);
  if (warpath::probe_sandbox().landlock > 0) CHECK(nvcc.confined());
}

TEST_SUITE_END();
