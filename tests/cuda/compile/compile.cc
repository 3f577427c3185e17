#include "runners/cuda/compile/compile.h"

#include <doctest/doctest.h>

#include "runners/cuda/compile/compile_options.h"
#include "runners/cuda/compile/compile_worker.h"
#include "tests/cuda/support.h"

using warpath::Status;
using warpath::cuda::CompileRequest;
using warpath::cuda::CompileResult;

TEST_SUITE_BEGIN("compile");

TEST_CASE("the log keeps lines about the kernel's own text and nothing else") {
  const std::string log =
      "/etc/passwd(1): error: root:x:0:0\n"
      "  root:x:0:0:root\n"
      "kernel.cu(2): error: identifier \"foo\" is undefined\n"
      "  secret kernel.cu(3)\n"
      "kernel.cu(9): warning: \x1b[31mred\n"
      "ptxas application ptx input, line 20; error   : Illegal modifier\n"
      "ptxas info    : Used 32 registers\n"
      "3 errors detected in the compilation of \"kernel.cu\".\n";
  CHECK(warpath::cuda::filter_log(log) ==
        "kernel.cu(2): error: identifier \"foo\" is undefined\nkernel.cu(9): warning: ?[31mred\n"
        "ptxas application ptx input, line 20; error   : Illegal modifier\n");
  std::string flood;
  for (int i = 0; i < 10000; ++i) flood += "kernel.cu(1): error: again\n";
  CHECK(warpath::cuda::filter_log(flood).size() <= warpath::cuda::kMaxLogBytes);
  CHECK(warpath::cuda::filter_log(flood).ends_with("...\n"));
}

TEST_CASE(
    "errors come with the lines of the source that they are about, and nothing else is quoted") {
  const std::string source = "void k() {\n  int a;\n    x = y + 1;\n}\n";
  const std::string log =
      "kernel.cu(2): warning #177-D: variable \"a\" was declared but never referenced\n"
      "    int a;\n        ^\n\n"
      "/etc/passwd(1): error: root:x:0:0\n  root:x:0:0:root\n  ^\n"
      "kernel.cu(3): error: identifier \"y\" is undefined\n"
      "      x = y + 1;\n          ^\n\n"
      "kernel.cu(3): error: expanded from elsewhere\n"
      "  root:x:0:0:root\n  ^\n\n"
      "At end of source: error: expected a \"}\"\n";
  CHECK(warpath::cuda::error_log(log, source) ==
        "kernel.cu(3): error: identifier \"y\" is undefined\n"
        "    x = y + 1;\n"
        "        ^\n"
        "kernel.cu(3): error: expanded from elsewhere\n"
        "    x = y + 1;\n"
        "At end of source: error: expected a \"}\"\n");
  std::string flood;
  for (int i = 0; i < 10000; ++i) flood += "kernel.cu(3): error: again\n";
  const std::string kept = warpath::cuda::error_log(flood, source);
  CHECK(kept.size() <= warpath::cuda::kMaxLogBytes);
  CHECK(kept.ends_with("and 9995 more errors\n"));
}

TEST_CASE("resource usage is that of the entry asked for") {
  const std::string log =
      "ptxas info    : 13 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
      "ptxas info    : Function properties for other\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Used 99 registers, used 1 barriers, 512 bytes smem, 364 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     400 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 2 barriers, 400 bytes cumulative stack size, 372 "
      "bytes cmem[0]\n";
  const auto usage = warpath::cuda::parse_ptxas_info(log, "k");
  CHECK(usage.registers == 32);
  CHECK(usage.barriers == 2);
  CHECK(usage.stack_bytes == 400);
  CHECK(usage.spill_store_bytes == 24);
  CHECK(usage.spill_load_bytes == 28);
  CHECK(usage.constant_bytes == 372);
  CHECK(usage.static_smem_bytes == 0);
  CHECK(warpath::cuda::parse_ptxas_info(log, "absent") == warpath::cuda::ResourceUsage{});
}

TEST_CASE("options that reach files, the linker or the architecture are refused") {
  for (const char* good :
       {"-DTILE=32", "-DNAME", "-UNAME", "--define-macro=A=B", "--use_fast_math",
        "--maxrregcount=64", "-std=c++20", "--fmad=false", "-lineinfo", "--ftz=true",
        "--ptxas-options=--register-usage-level=10", "--ptxas-options=--def-load-cache=cg",
        "--ptxas-options=--opt-level=2"}) {
    CAPTURE(good);
    CHECK(warpath::cuda::option_problem(good).empty());
  }
  for (const char* bad : {"",
                          "-I/",
                          "--include-path=/",
                          "-include",
                          "--pre-include=/etc/passwd",
                          "-rdc=true",
                          "-dlto",
                          "-G",
                          "--gpu-architecture=sm_80",
                          "-arch=sm_80",
                          "-Xptxas=-O0",
                          "--ptxas-options=",
                          "--ptxas-options=--register-usage-level=",
                          "--ptxas-options=--options-file=/etc/passwd",
                          "--ptxas-options=--def-load-cache=cv",
                          "--ptxas-options=--opt-level=2 -o=/x",
                          "-DA B=1",
                          "-DA(x)=x",
                          "-D",
                          "-D=1",
                          "-DA=1\n#include",
                          "--maxrregcount=",
                          "--maxrregcount=9x",
                          "-std=c++99",
                          "--use_fast_math ",
                          "--create-pch",
                          "--time=/x",
                          "--device-debug",
                          "-D1A"}) {
    CAPTURE(bad);
    CHECK_FALSE(warpath::cuda::option_problem(bad).empty());
  }
}

TEST_CASE("a kernel name can be a name or an instantiation and nothing more") {
  const auto problem = [](const std::string& kernel) {
    return compile_problem(
        CompileRequest{.source = "", .kernel = kernel, .arch = "sm_90a", .options = {}});
  };
  for (const char* good : {"k", "ns::k", "row_sum<float, 4>", "f<(int)-1, &g>", "k<'a'>"})
    CHECK(problem(good).empty());
  for (const char* bad :
       {"", "k;", "k)\n#include </etc/passwd>", "#k", "k\"x\"", "1k", "k{}", "k\\"}) {
    CAPTURE(bad);
    CHECK_FALSE(problem(bad).empty());
  }
  CHECK_FALSE(compile_problem(CompileRequest{"", "k", "compute_90", {}}).empty());
  CHECK_FALSE(compile_problem(CompileRequest{"", "k", "sm_90 -x", {}}).empty());
}

TEST_CASE("requests, results, setup and hello cross the wire unchanged; damaged ones are refused") {
  const CompileRequest request{"source\0x", "k<1>", "sm_90a", {"-DA=1", ""}};
  CompileRequest request_back;
  CHECK(decode(encode(request), request_back));
  CHECK(request_back.options == request.options);
  CHECK(request_back.source == request.source);
  CompileResult result;
  result.status = Status::limits_exceeded;
  result.log = "log";
  result.ptx = "ptx";
  result.cubin = std::string("\x7f\0ELF", 5);
  result.seconds = 0.25;
  result.usage = {.registers = 1,
                  .static_smem_bytes = 2,
                  .stack_bytes = 3,
                  .spill_store_bytes = 4,
                  .spill_load_bytes = 5,
                  .constant_bytes = 6,
                  .barriers = 7};
  CompileResult result_back;
  CHECK(decode(encode(result), result_back));
  CHECK(result_back == result);
  const std::string message = encode(result);
  for (std::size_t size = 0; size < message.size(); ++size) {
    CompileResult partial;
    CHECK_FALSE(decode(message.substr(0, size), partial));
  }
  CHECK_FALSE(decode("\xff" + message.substr(1), result_back));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_compile");

TEST_CASE("a kernel compiles to PTX, machine code and its resource usage") {
  const auto result = cuda_test::compile(
      "extern \"C\" __global__ void __launch_bounds__(128) k(const float* x, float* o) {\n"
      "  __shared__ float s[128];\n"
      "  s[threadIdx.x] = x[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  o[threadIdx.x] = s[127 - threadIdx.x];\n"
      "}\n");
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.lowered_name == "k");
  CHECK(result.ptx.find(".visible .entry k(") != std::string::npos);
  CHECK(result.cubin.substr(1, 3) == "ELF");
  CHECK(result.usage.registers > 0);
  CHECK(result.usage.static_smem_bytes == 512);
  CHECK(result.usage.barriers == 1);
  CHECK(result.log.empty());
}

TEST_CASE("options of the assembler and a cap of the registers change the machine code alone") {
  const std::string source =
      "extern \"C\" __global__ void k(const float* x, float* o, int n) {\n"
      "  float a[48];\n"
      "  for (int j = 0; j < 48; ++j) a[j] = x[(threadIdx.x * 48 + j) % n];\n"
      "  for (int r = 0; r < n; ++r)\n"
      "    for (int j = 0; j < 48; ++j) a[j] = a[j] * x[r] + a[(j + 1) % 48];\n"
      "  for (int j = 0; j < 48; ++j) o[threadIdx.x * 48 + j] = a[j];\n"
      "}\n";
  const auto plain = cuda_test::compile(source);
  REQUIRE_MESSAGE(plain.status == Status::ok, plain.log);
  REQUIRE(plain.usage.registers > 40);
  const auto capped = cuda_test::compile(source, "k", {"--maxrregcount=40"});
  REQUIRE_MESSAGE(capped.status == Status::ok, capped.log);
  CHECK(capped.usage.registers <= 40);
  const std::vector<std::string> options{"--ptxas-options=--register-usage-level=10",
                                         "--ptxas-options=--def-load-cache=cg",
                                         "--ptxas-options=--opt-level=2"};
  const auto other = cuda_test::compile(source, "k", options);
  REQUIRE_MESSAGE(other.status == Status::ok, other.log);
  CHECK(other.cubin != plain.cubin);
  CHECK(other.ptx == plain.ptx);
}

TEST_CASE("a template is instantiated by its name") {
  const auto result = cuda_test::compile(
      "template <class T, int N> __global__ void k(T* o) { o[threadIdx.x] = N; }\n", "k<float, 4>");
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.lowered_name == "_Z1kIfLi4EEvPT_");
  CHECK(result.usage.registers > 0);
}

TEST_CASE("half types and fragments come from the headers handed over") {
  const auto result = cuda_test::compile(
      "#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n#include <cuda_fp8.h>\n#include "
      "<mma.h>\n#include <cstdint>\n#include <cuda_runtime.h>\n"
      "extern \"C\" __global__ void k(__half* o, __nv_bfloat16* b, uint32_t n) {\n"
      "  o[n] = __hadd(o[n], __float2half(1.0f)); b[n] = __float2bfloat16(2.0f);\n"
      "}\n");
  CHECK_MESSAGE(result.status == Status::ok, result.log);
}

TEST_CASE("cooperative groups and asynchronous copies come from the toolkit") {
  const auto result = cuda_test::compile(
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "#include <cooperative_groups/scan.h>\n#include <cooperative_groups/memcpy_async.h>\n"
      "#include <cuda_pipeline_primitives.h>\n"
      "namespace cg = cooperative_groups;\n"
      "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) k(float* o, const float* x) {\n"
      "  __shared__ float s[256];\n"
      "  cg::thread_block block = cg::this_thread_block();\n"
      "  cg::memcpy_async(block, s, x + 128 * blockIdx.x, 128 * sizeof(float));\n"
      "  __pipeline_memcpy_async(s + 128 + 4 * threadIdx.x % 128, x, 16);\n"
      "  __pipeline_commit(); __pipeline_wait_prior(0); cg::wait(block);\n"
      "  auto tile = cg::tiled_partition<32>(block);\n"
      "  float v = cg::reduce(tile, s[block.thread_rank()], cg::plus<float>());\n"
      "  v += cg::inclusive_scan(tile, v);\n"
      "  cg::cluster_group cluster = cg::this_cluster(); cluster.sync();\n"
      "  o[block.thread_rank()] = v + *cluster.map_shared_rank(s, cluster.block_rank() ^ 1u);\n"
      "  cluster.sync();\n"
      "}\n");
  CHECK_MESSAGE(result.status == Status::ok, result.log);
  CHECK(result.ptx.find("cp.async") != std::string::npos);
}

TEST_CASE("a header of a library has the name that only the toolkit's own headers include") {
  warpath::cuda::CompileRequest request;
  request.kernel = "k";
  request.arch = "sm_90";
  request.source =
      "#include <cuda_fp16.h>\n#include \"info.h\"\n"
      "extern \"C\" __global__ void k(float* o) { o[0] = kOfLibrary; }\n";
  request.headers = {{"info.h", "constexpr float kOfLibrary = 3;\n"},
                     {"cuda_fp16.h", "#error replaced\n"}};
  const auto result = warpath::cuda::compile(cuda_test::nvrtc(), cuda_test::headers(), request, {});
  CHECK_MESSAGE(result.status == Status::ok, result.log);
}

TEST_CASE("a wrong text, kernel name or option is a compile error with a reason") {
  const auto wrong =
      cuda_test::compile("extern \"C\" __global__ void k(float* o) {\n  o[0] = foo;\n}\n");
  CHECK(wrong.status == Status::compile_error);
  CHECK(wrong.log.find("kernel.cu(2): error: identifier \"foo\" is undefined") !=
        std::string::npos);
  for (const auto& result :
       {cuda_test::compile("extern \"C\" __global__ void k() {}\n", "absent"),
        cuda_test::compile("extern \"C\" __global__ void k() {}\n", "k", {"-I/"}),
        cuda_test::compile("extern \"C\" __global__ void k() {}\n", "k", {}, "sm_12"),
        cuda_test::compile("")}) {
    CHECK(result.status == Status::compile_error);
    CHECK_FALSE(result.log.empty());
    CHECK(result.cubin.empty());
  }
}

TEST_CASE("an error is shown with its line and its place in it") {
  const auto result = cuda_test::compile(
      "extern \"C\" __global__ void k(float* x) {\n  int unused;\n  x[0] = missing + 1;\n}\n");
  CHECK(result.status == Status::compile_error);
  CHECK(result.log ==
        "kernel.cu(3): error: identifier \"missing\" is undefined\n    x[0] = missing + 1;\n       "
        "    ^\n");
  CHECK(cuda_test::compile("extern \"C\" __global__ void other(float* x) {}\n").log ==
        "the source has no kernel k\n");
}

TEST_CASE(
    "bytes that are no UTF-8 do no harm: in a comment they are letters, elsewhere an error with "
    "its line") {
  const std::string kernel = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n";
  for (const std::string comment :
       {"// \xFF\n", "/* caf\xE9 */\n", "// \xC3\xA9\n", "\xEF\xBB\xBF// mark\n"}) {
    const auto result = cuda_test::compile(comment + kernel);
    CHECK_MESSAGE(result.status == Status::ok, result.log);
    CHECK(result.lowered_name == "k");
  }
  const auto wrong = cuda_test::compile(kernel + "__device__ const char* text = \"\xFF\";\n");
  CHECK(wrong.status == Status::compile_error);
  CHECK(wrong.log.find("line 2: byte 0xff outside a comment") != std::string::npos);
}

TEST_CASE("device-side launches and other devices' code do not link in") {
  CHECK(cuda_test::compile(
            "__global__ void c() {}\nextern \"C\" __global__ void k() { c<<<1, 1>>>(); }\n")
            .status == Status::compile_error);
}

TEST_SUITE_END();
