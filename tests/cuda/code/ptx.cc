#include "runners/cuda/code/ptx.h"

#include <doctest/doctest.h>

#include "engine/base/rng.h"
#include "runners/cuda/code/ptx_facts.h"
#include "runners/cuda/code/symbol_use.h"
#include "tests/cuda/support.h"

using warpath::cuda::parse_ptx;
using warpath::cuda::PtxModule;

namespace {

const char* const kText = R"(
.version 9.0 // a comment with .global
.target sm_90a
.address_size 64
.file 1 "a \" .entry b.cu"
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1);
.const .align 4 .b8 weights[16] = {0, 0, 128, 63};
.global .align 4 .u32 counter;
.global .attribute(.managed) .align 4 .u32 shared_with_host;
.extern .shared .align 16 .b8 dynamic[];
.visible .entry evict_last_trap(
  .param .u64 .ptr .global .align 16 k_param_0,
  .param .align 8 .b8 k_param_1[24]
)
.maxntid 256, 1, 1
{
  .reg .pred %p<2>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<4>;
  .shared .align 4 .f32 tile[32][33];
  .loc 1 3 5
  ld.param.u64 %rd1, [k_param_0];
  {.global .u32 z; st.global.u32 [z], 1;}
$L__BB0_1:
  @!%p1 ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];
  mov.u64 %rd2, counter;
  atom.global.add.u32 %f5, [%rd2], 1;
  setp.lt.f32 %p1|%p0, %f1, 0f3F800000;
  @%p1 bra $L__BB0_1;
  .pragma "nounroll";
  ret;
}
)";

PtxModule parsed(const std::string& text) {
  std::string why;
  auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module, why);
  return std::move(*module);
}

}  // namespace

TEST_SUITE_BEGIN("ptx");

TEST_CASE("directives, functions, variables and instructions are told apart") {
  const std::string text = kText;
  const PtxModule module = parsed(text);
  CHECK(module.target == "sm_90a");
  REQUIRE(module.variables.size() == 4);
  CHECK(module.variables[0].space == "const");
  CHECK(module.variables[0].size_bytes == 16);
  CHECK(module.variables[0].initialised);
  CHECK(module.variables[2].is_managed);
  CHECK(module.variables[3].is_extern);
  REQUIRE(module.functions.size() == 2);
  CHECK(module.functions[0].is_extern);
  const auto* entry = module.entry("evict_last_trap");
  REQUIRE(entry != nullptr);
  REQUIRE(entry->parameters.size() == 2);
  CHECK(entry->parameters[0].size_bytes == 8);
  CHECK(entry->parameters[1].size_bytes == 24);
  CHECK(entry->registers == 15);
  REQUIRE(entry->variables.size() == 2);
  CHECK(entry->variables[0].size_bytes == 32 * 33 * 4);
  CHECK(entry->variables[1].name == "z");
  REQUIRE(entry->instructions.size() == 8);
  const auto& load = entry->instructions[2];
  CHECK(load.opcode == "ld");
  CHECK(load.has("L1::no_allocate"));
  CHECK(load.operands == std::vector<std::string_view>{"{%f1, %f2, %f3, %f4}", "[%rd1+16]"});
}

TEST_CASE("uses of module variables are followed through registers") {
  const std::string text = kText;
  const PtxModule module = parsed(text);
  const auto uses = symbol_uses(module);
  CHECK(uses.at("counter").address_taken);
  CHECK(uses.at("counter").stored);
  CHECK(uses.at("z").stored);
  CHECK_FALSE(uses.at("z").address_taken);
  CHECK_FALSE(uses.at("weights").stored);
  CHECK_FALSE(uses.at("shared_with_host").loaded);
}

TEST_CASE("facts count instructions by class and bytes by access") {
  const std::string text = kText;
  const auto facts = ptx_facts(parsed(text), "evict_last_trap");
  CHECK(facts.instructions.at("load_global") == 1);
  CHECK(facts.instructions.at("atomic") == 1);
  CHECK(facts.instructions.at("branch") == 2);
  CHECK(facts.total == 8);
  CHECK(facts.vector_loads == 1);
  CHECK(facts.global_load_bytes == 16);
  CHECK(facts.static_smem_bytes == 32 * 33 * 4);
  CHECK(facts.virtual_registers == 15);
}

TEST_CASE("no text crashes the parser, and every prefix is a module or a complaint") {
  const std::string text = kText;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::string why;
    const auto module = parse_ptx(std::string_view(text).substr(0, size), why);
    CHECK((module.has_value() || !why.empty()));
    if (module) static_cast<void>(symbol_uses(*module));
  }
  warpath::Rng rng(1, "ptx fuzz");
  const std::string alphabet = "{}[]()<>;,.:@!|=\"/*\\ \n%$ra19";
  for (int round = 0; round < 20000; ++round) {
    CAPTURE(round);
    std::string mutated = text;
    const std::uint64_t changes = 1 + rng.below(8);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t at = rng.below(mutated.size());
      switch (rng.below(4)) {
        case 0:
          mutated.erase(at, 1 + rng.below(20));
          break;
        case 1:
          mutated.insert(at, 1, alphabet[rng.below(alphabet.size())]);
          break;
        case 2:
          mutated[at] = static_cast<char>(rng.below(256));
          break;
        default:
          mutated.insert(at, mutated.substr(rng.below(mutated.size()), rng.below(40)));
          break;
      }
      if (mutated.empty()) mutated = " ";
    }
    std::string why;
    if (const auto module = parse_ptx(mutated, why)) {
      static_cast<void>(symbol_uses(*module));
      static_cast<void>(ptx_facts(*module, "evict_last_trap"));
    } else {
      CHECK(why.starts_with("this is no PTX: "));
    }
  }
}

TEST_CASE("a text of megabytes is parsed in time that grows with its length") {
  std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 g;\n.visible .entry "
      "k()\n{\n.reg .b64 %rd<9>;\nmov.u64 %rd0, g;\n";
  for (int i = 0; i < 100000; ++i)
    text += "add.s64 %rd" + std::to_string(i + 1) + ", %rd" + std::to_string(i) + ", 4;\n";
  text += "st.global.u32 [%rd100000], 0;\nret;\n}\n";
  CHECK(symbol_uses(parsed(text)).at("g").stored);
  CHECK(parse_ptx(".version 9.0\n" + std::string(1 << 20, '{'), text) == std::nullopt);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_ptx");

TEST_CASE("what the compiler writes parses, and parameters are as declared") {
  const auto result = cuda_test::compile(
      "struct Big { double a; int b[3]; };\n"
      "extern \"C\" __global__ void k(float* o, Big big, char c, short s, long long l) {\n"
      "  __shared__ double t[64]; float v[64];\n"
      "  for (int i = 0; i < l; ++i) v[i & 63] = sinf(o[i]);\n"
      "  t[threadIdx.x] = v[c & 63]; __syncthreads();\n"
      "  o[threadIdx.x] = (float)t[s] + (float)big.a + big.b[1];\n"
      "}\n");
  REQUIRE_MESSAGE(result.status == warpath::Status::ok, result.log);
  const PtxModule module = parsed(result.ptx);
  const auto* entry = module.entry("k");
  REQUIRE(entry != nullptr);
  std::vector<std::int64_t> sizes;
  for (const auto& parameter : entry->parameters) sizes.push_back(parameter.size_bytes);
  CHECK(sizes == std::vector<std::int64_t>{8, 24, 1, 2, 8});
  const auto facts = ptx_facts(module, "k");
  CHECK(facts.instructions.at("fp64") > 0);
  CHECK(facts.instructions.at("barrier") == 1);
  CHECK(facts.local_bytes >= 256);
}

TEST_SUITE_END();
