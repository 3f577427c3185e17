#include "runners/cuda/compile/triton.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/plugin/move.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "moves/propose/example.h"
#include "priors/evidence/signatures.h"
#include "register_moves.h"
#include "runners/cuda/code/cubin.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/compile/code_cache.h"
#include "runners/cuda/compile/compile_check.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/cuda/options.h"
#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using warpath::baseline_variant;
using warpath::Error;
using warpath::KernelSpec;
using warpath::KernelType;
using warpath::Stage;
using warpath::Status;
using warpath::Variant;
using warpath::Workload;
using namespace warpath::cuda;

namespace {

constexpr const char* kNames[] = {"softmax", "matmul", "lora_expand"};

KernelSpec spec_of(const std::string& name) {
  return warpath::load_specs(
             (fs::path(WARPATH_SOURCE_ROOT) / "specs/triton" / (name + ".json")).string())
      .front();
}

std::string cheat(const std::string& name) {
  return cuda_test::read_file(fs::path(WARPATH_SOURCE_ROOT) / "tests/data/triton" / name);
}

const Triton& triton() {
  static const Triton kFound("");
  return kFound;
}

CompileRequest request(const KernelSpec& spec, const Variant& variant) {
  return request_for(spec, variant, spec.workloads.front(), "sm_90a");
}

CompileResult compile(const CompileRequest& request) {
  return triton().compile(request, CompileLimits{.seconds = 60}, {});
}

CompileResult compile_text(const std::string& text) {
  const KernelSpec spec = spec_of("softmax");
  Variant variant = baseline_variant(spec);
  variant.source = text;
  return compile(request(spec, variant));
}

/// The softmax with `from` replaced.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = spec_of("softmax").source;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

CompileServiceOptions service_options() {
  CompileServiceOptions options;
  options.program = fs::read_symlink("/proc/self/exe").string();
  options.limits = cuda_test::pool_options(1).setup.limits;
  options.limits.seconds = 60;
  return options;
}

Build build(CompileService& service, const KernelSpec& spec, const Variant& variant) {
  const DeviceLimits limits;
  const Builder builder(service, GatePlan(GateTable()), "sm_90a", limits);
  const std::vector<const Workload*> workloads{&spec.workloads.front()};
  const BaselineText text = builder.text_of(spec, baseline_variant(spec), workloads);
  return builder.build(spec, variant, workloads, &text, Stage::screening, {});
}

constexpr const char* kScale = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 scale_o, .param .u64 scale_x, .param .u32 scale_n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [scale_o];
  ld.param.u64 %rd2, [scale_x];
  ld.param.u32 %r1, [scale_n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, BLOCK, %r3;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 bra END;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r4, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  mul.f32 %f2, %f1, 0f40000000;
  add.s64 %rd6, %rd3, %rd5;
  st.global.f32 [%rd6], %f2;
END:
  ret;
}
)";

KernelSpec ptx_spec(std::string text = kScale) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\\n");
  return warpath::parse_specs(
             R"json({"name": "scale", "kernel": {"kernel_type": "ptx", "source_code": ")json" +
                 text + R"json(", "metadata": {"kernel_name": "scale"},
      "io": {"args": [
        {"name": "o", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["n"], "dtype": "float32"}},
        {"name": "x", "type": "tensor", "tensor_spec": {"shape": ["n"], "dtype": "float32", "init": {"kind": "randn"}}},
        {"name": "n", "type": "int", "value": 1000}],
       "launch": {"grid": {"x": "ceil_div(n, BLOCK)"}, "block": {"x": "BLOCK"}}}},
      "tunables": [{"name": "BLOCK", "values": [64, 128], "default": 128}],
      "reference": {"host_op": {"op": "elementwise", "operands": {"x": "x", "out": "o"}}}})json",
             "scale.json", ".")
      .front();
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_languages");

TEST_CASE(
    "parameters that only Triton's launcher passes are taken out of the entry, unless they are "
    "read") {
  const std::string text =
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 1 k_param_0,\n\t.param .u32 "
      "k_param_1,\n"
      "\t.param .u64 k_param_2\n)\n{ ld.param.u32 %r1, [k_param_1]; }\n";
  std::string ptx = text, why;
  REQUIRE(drop_hidden_parameters(ptx, "k", 2, why));
  CHECK(ptx.find("k_param_2") == std::string::npos);
  CHECK(ptx.find("k_param_1\n)") != std::string::npos);
  ptx = text;
  CHECK_FALSE(drop_hidden_parameters(ptx, "k", 1, why));
  CHECK(why == "the code reads k_param_1, which only Triton's launcher passes");
  CHECK_FALSE(drop_hidden_parameters(ptx, "k", 4, why));
  CHECK_FALSE(drop_hidden_parameters(ptx, "other", 2, why));
}

TEST_CASE("element types have Triton's names") {
  CHECK(triton_type(warpath::DType::f16) == "fp16");
  CHECK(triton_type(warpath::DType::bf16) == "bf16");
  CHECK(triton_type(warpath::DType::i32) == "i32");
  CHECK(triton_type(warpath::DType::u8) == "u8");
  CHECK(triton_type(warpath::DType::boolean) == "i1");
}

TEST_CASE(
    "a request names types, multiples of 16, constants and threads; the reference stays CUDA C++") {
  const KernelSpec spec = spec_of("lora_expand");
  const CompileRequest own = request(spec, baseline_variant(spec));
  CHECK(own.language == KernelType::triton);
  CHECK(own.parameters == std::vector<std::string>{"*fp16:16", "*fp32:16", "*fp16:16", "*i32:16",
                                                   "i32:16", "i32:16", "i32"});
  CHECK(own.threads_per_block == 128);
  CHECK(own.options == std::vector<std::string>{"-DR=16", "-DTILE_N=128", "-Dnum_warps=4"});
  const auto reference = reference_variant(spec);
  REQUIRE(reference.has_value());
  CHECK(request(spec, *reference).language == KernelType::cuda);
}

TEST_CASE("the key of compiled code is the same each time, and another for other warps or types") {
  const KernelSpec spec = spec_of("matmul");
  Variant variant = baseline_variant(spec);
  const auto key = [&] { return code_key(request(spec, variant), "triton 3"); };
  const auto first = key();
  CHECK(key() == first);
  variant.tunables["num_warps"] = 8;
  CHECK(key() != first);
  variant = baseline_variant(spec);
  variant.tunables["num_stages"] = 4;
  CHECK(key() != first);
  CompileRequest other = request(spec, baseline_variant(spec));
  other.parameters.back() = "i32";
  CHECK(code_key(other, "triton 3") != first);
}

TEST_CASE("of the moves only those are offered that leave the text alone, or read Triton") {
  const KernelSpec spec = spec_of("softmax");
  const Variant variant = baseline_variant(spec);
  const warpath::DeviceFacts device;
  const warpath::MoveContext context{.spec = spec, .variant = variant, .device = device};
  std::size_t silent = 0;
  for (const auto& [name, entry] : warpath::registered_moves().entries()) {
    CAPTURE(name);
    const auto move = entry.make();
    if (!move->reads_source()) continue;
    ++silent;
    CHECK(move->enumerate(context).empty());
    std::string why;
    CHECK_FALSE(move->apply(context, {.move = name, .site = "", .parameters = {}}, why));
  }
  CHECK(silent > 30);
}

TEST_CASE("white space counts where it has a meaning") {
  const KernelSpec spec = spec_of("softmax");
  Variant variant = baseline_variant(spec);
  const auto key = variant_key(variant);
  variant.source = edited("    tl.store", "  \ttl.store");
  CHECK(variant_key(variant) != key);
}

TEST_CASE("a Python without Triton is said in one line") {
  std::string message;
  try {
    const Triton none("/bin/false");
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message.find("the spec's kernel_type is triton, and /bin/false cannot import it") !=
        std::string::npos);
  CHECK(message.find("cuda.python") != std::string::npos);
}

TEST_CASE("PTX is assembled, its tunables as text, and judged as all PTX") {
  if (toolkit_program("ptxas").empty()) {
    MESSAGE("skipped: no ptxas");
    return;
  }
  CompileService service(service_options());
  const KernelSpec spec = ptx_spec();
  Variant variant = baseline_variant(spec);
  const Build own = build(service, spec, variant);
  REQUIRE_MESSAGE(own.status == Status::ok, own.log);
  CHECK(own.candidate.codes.front().ptx.find("%r2, 128, %r3") != std::string::npos);
  variant.tunables["BLOCK"] = 64;
  const Build other = build(service, spec, variant);
  CHECK(other.candidate.codes.front().ptx.find("%r2, 64, %r3") != std::string::npos);
  CHECK(other.candidate.numbers.front().block[0] == 64);
  variant.source.replace(variant.source.find("mul.f32"), 7, "mul.f99");
  CHECK(build(service, spec, variant).log.find("kernel.ptx(23): error: ") == 0);
  variant.source = "#include \"/etc/passwd\"\n" + spec.source;
  CHECK(build(service, spec, variant).log == "a line of the PTX begins with '#'\n");
  const KernelSpec example =
      warpath::load_specs((fs::path(WARPATH_SOURCE_ROOT) / "specs/ptx/squared_error.json").string())
          .front();
  Variant most = baseline_variant(example);
  most.tunables = {{"BLOCK", 1024}, {"ITEMS", 16}};
  for (const Variant& one : {baseline_variant(example), most}) {
    const Build made = build(service, example, one);
    CHECK_MESSAGE(made.status == Status::ok, made.log);
  }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("triton");  // needs a Python with Triton

TEST_CASE("three kernels compile without a GPU, to the parameters of their contracts") {
  for (const std::string name : kNames) {
    CAPTURE(name);
    const KernelSpec spec = spec_of(name);
    const CompileResult result = compile(request(spec, baseline_variant(spec)));
    REQUIRE_MESSAGE(result.status == Status::ok, result.log);
    CHECK(result.lowered_name == name);
    CHECK(result.usage.registers > 0);
    CHECK(result.dynamic_smem_bytes > 0);
    std::string why;
    const auto ptx = parse_ptx(result.ptx, why);
    REQUIRE_MESSAGE(ptx.has_value(), why);
    CHECK(ptx->entry(name)->parameters.size() ==
          request(spec, baseline_variant(spec)).parameters.size());
    CHECK(read_cubin(result.cubin, name, why).has_value());
    CHECK(compile(request(spec, baseline_variant(spec))).cubin == result.cubin);
  }
}

TEST_CASE(
    "shared memory that Triton lays out is part of the launch, and tunables change code and "
    "launch") {
  CompileService service(service_options());
  const KernelSpec spec = spec_of("matmul");
  Variant variant = baseline_variant(spec);
  const Build own = build(service, spec, variant);
  REQUIRE_MESSAGE(own.status == Status::ok, own.log);
  CHECK(own.candidate.numbers.front().dynamic_smem_bytes > 0);
  CHECK(own.candidate.numbers.front().block[0] == 128);
  variant.tunables["num_stages"] = 4;
  variant.tunables["num_warps"] = 8;
  const Build other = build(service, spec, variant);
  REQUIRE_MESSAGE(other.status == Status::ok, other.log);
  CHECK(other.candidate.numbers.front().block[0] == 256);
  CHECK(other.candidate.numbers.front().dynamic_smem_bytes >
        own.candidate.numbers.front().dynamic_smem_bytes);
  CHECK(other.candidate.key != own.candidate.key);
}

TEST_CASE("what PTX shows is refused without a GPU, by the rules for all PTX") {
  CompileService service(service_options());
  const KernelSpec spec = spec_of("softmax");
  Variant variant = baseline_variant(spec);
  variant.source = cheat("reads_the_clock.py");
  Build found = build(service, spec, variant);
  CHECK(found.log == "%globaltimer: time-dependent");
  CHECK(found.gates.back().gate == "ptx_rules");
  variant.source = cheat("keeps_in_cache.py");
  found = build(service, spec, variant);
  CHECK(found.status == Status::rejected);
  CHECK(found.gates.back().gate == "ptx_rules");
  for (const char* const name : {"skips_zeros.py", "one_row_more.py", "first_half.py"}) {
    variant.source = cheat(name);  // these are seen on a device only
    CHECK_MESSAGE(build(service, spec, variant).status == Status::ok, name);
  }
}

TEST_CASE("an error is one line with the line of Python") {
  const auto log = [](const std::string& text) {
    const CompileResult result = compile_text(text);
    CHECK(result.status == Status::compile_error);
    return result.log;
  };
  const std::string unknown = log(edited("tl.max(values, axis=1)", "tl.maxx(values, axis=1)"));
  CHECK(unknown.find("kernel.py(13): error: ") == 0);
  CHECK(unknown.find("maxx") != std::string::npos);
  CHECK(unknown.find('\n') == unknown.size() - 1);
  CHECK(log(edited("import triton.language as tl", "import nothing_of_this_name as tl"))
            .find("kernel.py(2): error: ModuleNotFoundError") == 0);
  CHECK(log(edited("def softmax(", "def softmax(:")).find("kernel.py(7): error: ") == 0);
  CHECK(log(edited("def softmax(", "def soft(")) ==
        "kernel.py(0): error: there is no @triton.jit function softmax\n");
  CHECK(log(edited("N, C, COLUMNS", "N, COLUMNS"))
            .find("takes 4 arguments besides constexprs (o, "
                  "x, s, N), the spec passes 5") != std::string::npos);
  CHECK(log(edited("ROWS: tl.constexpr", "ROWS: tl.constexpr, MORE: tl.constexpr"))
            .find("constexpr MORE is neither a tunable nor a meta argument") != std::string::npos);
}

TEST_CASE("Python at compile time reads and writes nothing outside its folder") {
  if (!warpath::ProgramSandbox({}).sandbox().blocks_files()) return;
  const warpath::test::TemporaryFolder folder;
  warpath::test::put_text(folder.path() / "secret", "a secret");
  const std::string path = (folder.path() / "secret").string();
  const CompileResult read =
      compile_text(edited("import triton\n", "import triton\nopen('" + path + "').read()\n"));
  CHECK(read.log.find("PermissionError") != std::string::npos);
  const CompileResult write =
      compile_text(edited("import triton\n", "import triton\nopen('" + path + "2', 'w')\n"));
  CHECK(write.status == Status::compile_error);
  CHECK_FALSE(fs::exists(path + "2"));
}

TEST_CASE("every text that a move offers compiles, and no gate on code refuses it") {
  CompileService service(service_options());
  const warpath::DeviceFacts device;
  std::size_t texts = 0;
  for (const std::string name : kNames) {
    const KernelSpec spec = spec_of(name);
    const Variant variant = baseline_variant(spec);
    const warpath::MoveContext context{.spec = spec, .variant = variant, .device = device};
    for (const auto& [move_name, entry] : warpath::registered_moves().entries()) {
      if (!move_name.starts_with("triton_")) continue;
      const auto move = entry.make();
      for (const warpath::MoveInstance& instance : move->enumerate(context)) {
        CAPTURE(name);
        CAPTURE(instance.text());
        std::string why;
        const auto next = move->apply(context, instance, why);
        REQUIRE_MESSAGE(next.has_value(), why);
        const Build made = build(service, spec, *next);
        CHECK_MESSAGE(made.status == Status::ok, made.log);
        ++texts;
      }
    }
  }
  CHECK(texts >= 25);
}

TEST_CASE("options of the compiler reach the assembler of a kernel in Triton") {
  CompileService service(service_options());
  const KernelSpec spec = spec_of("softmax");
  const Variant variant = baseline_variant(spec);
  const warpath::DeviceFacts device = warpath::example_device();
  const warpath::MoveContext context{.spec = spec, .variant = variant, .device = device};
  const auto move = warpath::registered_moves().create("test", "compiler_options");
  const auto listed = move->enumerate(context);
  CHECK(listed.size() >= 5);
  for (const warpath::MoveInstance& instance : listed) {
    CAPTURE(instance.text());
    std::string why;
    const auto next = move->apply(context, instance, why);
    REQUIRE_MESSAGE(next.has_value(), why);
    const Build made = build(service, spec, *next);
    CHECK_MESSAGE(made.status == Status::ok, made.log);
  }
  constexpr std::int64_t kCap = 24;
  std::string why;
  const auto capped =
      move->apply(context, {"compiler_options", "compiler:registers", {{"value", kCap}}}, why);
  REQUIRE_MESSAGE(capped.has_value(), why);
  CHECK(compile(request(spec, variant)).usage.registers > kCap);
  CHECK(compile(request(spec, *capped)).usage.registers <= kCap);
}

TEST_CASE("the example of every move on Triton shows its signature in the code") {
  const warpath::MoveTable moves(warpath::registered_moves());
  for (const warpath::EmbeddedExample& embedded : warpath::embedded_examples()) {
    const warpath::MoveExample example =
        warpath::parse_example(embedded.text, std::string(embedded.move));
    if (example.spec.kernel_type != KernelType::triton) continue;
    CAPTURE(embedded.move);
    const warpath::ExampleResult done = warpath::run_example(example, moves);
    const Disassembler tool;
    warpath::CudaOptions options;
    options.cache_mib = 0;
    options.compile_seconds = 120;
    CompileCheck check(options, "/proc/self/exe", "sm_90a");
    check.prepare(example.spec);
    std::string why;
    const auto before = check.code(done.before, tool, why),
               after = check.code(done.after, tool, why);
    REQUIRE_MESSAGE((before && after), why);
    CHECK(warpath::SignatureTable::built_in().compare(done.instance, *before, *after).realised ==
          true);
  }
}

TEST_CASE("a kernel without its masks compiles for tunables that divide, and for no others") {
  for (const warpath::EmbeddedExample& embedded : warpath::embedded_examples()) {
    if (embedded.move != "triton_mask_off") continue;
    warpath::MoveExample example = warpath::parse_example(embedded.text, "example");
    example.spec.io.args.back().value = std::int64_t{1024 * 1001};
    const warpath::MoveTable moves(warpath::registered_moves());
    Variant variant = warpath::run_example(example, moves).after;
    CHECK(compile(request(example.spec, variant)).ptx.find("setp") == std::string::npos);
    variant.tunables["BLOCK"] = 512;
    CHECK(compile(request(example.spec, variant)).status == Status::ok);
    variant.tunables["BLOCK"] = 2048;
    const CompileResult refused = compile(request(example.spec, variant));
    CHECK(refused.status == Status::compile_error);
    CHECK(refused.log.find("static_assert") != std::string::npos);
  }
}

TEST_SUITE_END();
