#include "runners/cuda/code/ptx_values.h"

#include <doctest/doctest.h>

#include <string>

#include "runners/cuda/code/access_facts.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

/// An entry with a pointer and an integer around `body`. The text must outlive the module.
std::string entry(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, "
         ".param .u32 k_param_1)\n{\n"
         ".reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n.reg .pred %p<9>;\n.reg .f32 %f<9>;\n.shared "
         ".align 16 .b8 tile[65536];\n"
         "ld.param.u64 %rd1, [k_param_0];\nld.param.u32 %r1, [k_param_1];\nmov.u32 %r2, %tid.x;\n" +
         body + "\nret;\n}\n";
}

PtxModule parsed(const std::string& text) {
  std::string why;
  auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module.has_value(), why);
  return std::move(*module);
}

/// `name` at the end of `body`.
std::optional<LaneValues> at_end(const std::string& body,
                                 const std::string& name,
                                 const PtxLaunch& launch = {.block = {256, 1, 1}}) {
  const std::string text = entry(body);
  const PtxModule module = parsed(text);
  const PtxFunction& function = module.functions.front();
  return PtxValues(function, launch).lanes(name, function.instructions.size());
}

Diagnosis access(const std::string& body, const PtxLaunch& launch = {.block = {256, 1, 1}}) {
  const std::string text = entry(body);
  const PtxModule module = parsed(text);
  const PtxFunction& function = module.functions.front();
  Diagnosis diagnosis;
  add_access_facts(function, region_graph(function, launch), launch, diagnosis);
  return diagnosis;
}

/// Sector excess of a 4-byte load at pointer + index * bytes, `index` in %r9.
double excess(const std::string& index, const PtxLaunch& launch = {.block = {256, 1, 1}}) {
  const Diagnosis d = access(
      index +
          "\nmul.wide.s32 %rd2, %r9, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3+8];",
      launch);
  return d.facts.contains("static_sector_excess") ? d.facts.at("static_sector_excess").value : -1;
}

double ways(const std::string& type, const std::string& scale) {
  const Diagnosis d = access("mov.u32 %r3, tile;\nmad.lo.s32 %r4, %r2, " + scale +
                             ", %r3;\nld.shared." + type + ", [%r4];");
  return d.facts.contains("static_bank_ways") ? d.facts.at("static_bank_ways").value : -1;
}

}  // namespace

TEST_SUITE_BEGIN("ptx_values");

TEST_CASE("integers follow from lane, launch and parameters through arithmetic") {
  const PtxLaunch launch{.parameters = {{1, 10}}, .block = {8, 4, 2}, .grid = {5, 6, 7}};
  const auto lane = [&](const std::string& body, std::size_t i) {
    const auto value = at_end(body, "%r9", launch);
    REQUIRE(value);
    CHECK_FALSE(value->shifted);
    return value->at[i];
  };
  CHECK(lane("mov.u32 %r9, %tid.x;", 13) == 5);
  CHECK(lane("mov.u32 %r9, %tid.y;", 13) == 1);
  CHECK(lane("mov.u32 %r3, %tid.z;\nadd.s32 %r9, %r3, 1;", 31) == 1);
  CHECK(lane("mov.u32 %r3, %tid.y;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r9, %r3, %r4, %r2;", 29) ==
        29);
  CHECK(lane("mov.u32 %r3, %nctaid.y;\nsub.s32 %r9, %r3, %r1;", 0) == -4);
  CHECK(lane("shl.b32 %r9, %r2, 3;", 6) == 48);
  CHECK(lane("and.b32 %r9, %r2, 3;", 7) == 3);
  CHECK(lane("xor.b32 %r9, %r2, 5;", 3) == 6);
  CHECK(lane("rem.s32 %r9, %r1, 4;", 3) == 2);
  CHECK(lane("mov.u32 %r9, %laneid;", 31) == 31);
}

TEST_CASE("an unknown that all lanes share leaves the differences between lanes known") {
  const auto stride = [](const std::string& body) -> std::int64_t {
    const auto value = at_end(body, "%r9");
    if (!value) return -1;
    CHECK(value->shifted);
    return value->at[1] - value->at[0];
  };
  CHECK(stride("add.s32 %r9, %r1, %r2;") == 1);
  CHECK(stride("add.s32 %r3, %r1, %r2;\nmul.lo.s32 %r9, %r3, 12;") == 12);
  CHECK(stride("mul.lo.s32 %r3, %r1, %r1;\nmad.lo.s32 %r9, %r2, 4, %r3;") == 4);
  CHECK(stride("ld.global.u32 %r3, [%rd1];\nadd.s32 %r9, %r3, %r2;") == 1);
  CHECK(stride("div.s32 %r9, %r1, 7;") == 0);
  CHECK(stride("mul.lo.s32 %r9, %r1, %r2;") == -1);  // a stride of n
  CHECK(stride("add.s32 %r3, %r1, %r2;\nand.b32 %r9, %r3, 7;") == -1);
  CHECK(
      stride("mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r9, [%rd3];") ==
      -1);
  CHECK_FALSE(at_end("cvt.rn.f32.u32 %f1, %r2;\ncvt.rzi.s32.f32 %r9, %f1;", "%r9"));
  CHECK_FALSE(at_end("setp.eq.s32 %p1, %r2, 0;\nmov.u32 %r9, 1;\n@%p1 mov.u32 %r9, 2;", "%r9"));
  CHECK_FALSE(at_end("ld.global.v2.u32 {%r8, %r9}, [%rd1];", "%r9"));
}

TEST_CASE("a chain that doubles a thousand times costs a thousand steps and overflows to nothing") {
  std::string body = "mov.u64 %rd9, 1;";
  for (int i = 0; i < 1000; ++i) body += "\nadd.s64 %rd9, %rd9, %rd9;";
  CHECK_FALSE(at_end(body, "%rd9"));
}

TEST_CASE("sectors of a warp-wide load against contiguous lanes") {
  CHECK(excess("mov.u32 %r9, %r2;") == doctest::Approx(5.0 / 4));  // 8 bytes past a sector's start
  CHECK(excess("shl.b32 %r9, %r2, 1;") == doctest::Approx(9.0 / 4));
  CHECK(excess("mul.lo.s32 %r9, %r2, 1000;") == doctest::Approx(8));
  CHECK(excess("mul.lo.s32 %r9, %r2, %r1;") == -1);
  CHECK(excess("mul.lo.s32 %r9, %r2, %r1;", {.parameters = {{1, 512}}, .block = {256, 1, 1}}) ==
        doctest::Approx(8));
  CHECK(excess("mov.u32 %r9, %r1;") == doctest::Approx(1.0 / 4));
  CHECK(excess("mov.u32 %r3, %tid.y;\nmad.lo.s32 %r9, %r3, 4096, %r2;", {.block = {8, 8, 1}}) ==
        doctest::Approx(2));
}

TEST_CASE("passes over the banks against accesses without a conflict") {
  CHECK(ways("f32 %f1", "4") == doctest::Approx(1));
  CHECK(ways("f32 %f1", "8") == doctest::Approx(2));
  CHECK(ways("f32 %f1", "128") == doctest::Approx(32));
  CHECK(ways("f32 %f1", "132") == doctest::Approx(1));
  CHECK(ways("f32 %f1", "0") == doctest::Approx(1));
  CHECK(ways("v4.f32 {%f1, %f2, %f3, %f4}", "16") == doctest::Approx(1));
  CHECK(ways("v4.f32 {%f1, %f2, %f3, %f4}", "32") == doctest::Approx(2));
  CHECK(ways("f32 %f1", "%r1") == -1);
}

TEST_CASE(
    "what is unknown of some accesses makes the fact of the others assumed, and loops weigh") {
  const std::string known =
      "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r9, [%rd3];";
  CHECK(access(known).facts.at("static_sector_excess").source == FactSource::static_analysis);
  const Diagnosis gather =
      access(known +
             "\nmul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f1, [%rd5];");
  CHECK(gather.facts.at("static_sector_excess").source == FactSource::assumed);
  CHECK(gather.facts.at("static_sector_excess").value == doctest::Approx(1));
  const Diagnosis loop = access(known +
                                "\nmul.wide.u32 %rd4, %r2, 4096;\nadd.s64 %rd5, %rd1, "
                                "%rd4;\nmov.u32 %r5, 0;\n$L:\nld.global.f32 %f1, [%rd5];\n"
                                "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, 3;\n@%p1 bra $L;");
  CHECK(loop.facts.at("static_sector_excess").value == doctest::Approx((1 + 3 * 8) / 4.0));
}

TEST_SUITE_END();
