#include "runners/cuda/code/pointer_origins.h"

#include <doctest/doctest.h>

#include "engine/base/rng.h"
#include "tests/cuda/support.h"

using namespace warpath::cuda;

namespace {

/// "written x; read y; untraced 1": parameters of the first entry by letter.
std::string traffic_of(const std::string& body, const std::string& functions = "") {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n" + functions +
      ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 n)\n{\n"
      ".reg .b64 %rd<20>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\n"
      "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\nld.param.u32 %r1, [n];\n" +
      body + "\nret;\n}\n";
  std::string why;
  const auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module, why);
  const BufferTraffic traffic = buffer_traffic(*module);
  REQUIRE(traffic.parameters.size() == 2);
  std::string out;
  for (const auto& [mask, what] :
       {std::pair(traffic.written, "written"), std::pair(traffic.read_noncoherently, "read")}) {
    if (mask == 0) continue;
    out += (out.empty() ? "" : "; ") + std::string(what) + " " + ((mask & 1U) != 0 ? "x" : "") +
           ((mask & 2U) != 0 ? "y" : "");
  }
  if (traffic.untraced_reads + traffic.untraced_writes > 0)
    out += "; untraced " + std::to_string(traffic.untraced_reads + traffic.untraced_writes);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("pointer_origins");

TEST_CASE("an address belongs to the parameter that it is computed from") {
  CHECK(traffic_of(
            "cvta.to.global.u64 %rd3, %rd1; mul.wide.s32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;\n"
            "ld.global.nc.f32 %f1, [%rd5+8]; mad.wide.s32 %rd6, %r1, 4, %rd2; st.global.f32 "
            "[%rd6], %f1;") == "written y; read x");
  CHECK(traffic_of("ld.global.f32 %f1, [%rd2]; st.global.v2.f32 [%rd2], {%f1, %f1};") ==
        "written y");
  CHECK(traffic_of("atom.global.add.u32 %r2, [%rd1], 1; red.global.add.f32 [%rd2], %f1; "
                   "ldu.global.f32 %f2, [%rd1];") == "written xy; read x");
}

TEST_CASE("selection, loops and halves keep all parameters that an address may come from") {
  CHECK(traffic_of("selp.b64 %rd3, %rd1, %rd2, %p1; ld.global.nc.f32 %f1, [%rd3];") == "read xy");
  CHECK(traffic_of("mov.u64 %rd3, %rd1;\nLOOP:\nld.global.nc.f32 %f1, [%rd3]; mov.u64 %rd3, %rd2; "
                   "@%p1 bra LOOP;") == "read xy");
  CHECK(traffic_of(
            "mov.b64 {%r2, %r3}, %rd2; mov.b64 %rd4, {%r2, %r3}; ld.global.nc.f32 %f1, [%rd4];") ==
        "read y");
}

TEST_CASE("numbers made of pointers are none") {
  CHECK(traffic_of(
            "and.b64 %rd3, %rd2, 15; add.s64 %rd4, %rd1, %rd3; ld.global.nc.f32 %f1, [%rd4];") ==
        "read x");
  CHECK(traffic_of(
            "sub.s64 %rd3, %rd2, %rd1; add.s64 %rd4, %rd1, %rd3; ld.global.nc.f32 %f1, [%rd4];") ==
        "read x");
  CHECK(traffic_of("and.b64 %rd3, %rd2, -16; ld.global.nc.f32 %f1, [%rd3];") == "read y");
  CHECK(traffic_of("cvt.u32.u64 %r2, %rd2; and.b32 %r3, %r2, 3; mad.wide.u32 %rd3, %r3, 4, %rd1; "
                   "ld.global.nc.f32 %f1, [%rd3];") == "read x");
}

TEST_CASE(
    "memory of the block and the thread is no buffer, and a bulk copy writes where it copies to") {
  CHECK(traffic_of("st.shared.f32 [%r1], %f1; st.local.f32 [%rd2], %f1; atom.shared.add.u32 %r2, "
                   "[%r1], 1;") == "");
  CHECK(traffic_of("cp.async.ca.shared.global [%r1], [%rd1], 16;") == "");
  CHECK(traffic_of("cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 64;") ==
        "written y");
  CHECK(traffic_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
                   "[%rd1], 64, [%r2];") == "");
}

TEST_CASE(
    "addresses are followed into functions and out of them, and what comes out of memory is said "
    "to be unknown") {
  const std::string same =
      ".func (.param .b64 func_retval0) same(.param .b64 same_param_0)\n{\n.reg .b64 "
      "%rd<3>;\nld.param.u64 %rd1, [same_param_0];\n"
      "st.param.b64 [func_retval0+0], %rd1;\nret;\n}\n";
  const std::string fetch =
      same +
      ".func (.param .b32 func_retval0) fetch(.param .b64 fetch_param_0)\n{\n.reg .b64 %rd<3>; "
      ".reg .f32 %f<3>;\nld.param.u64 %rd1, [fetch_param_0];\n"
      "ld.global.nc.f32 %f1, [%rd1];\nst.param.f32 [func_retval0+0], %f1;\nret;\n}\n";
  const auto called = [](const std::string& name, const std::string& argument,
                         const std::string& result) {
    return "{\n.param .b64 param0; st.param.b64 [param0+0], " + argument +
           ";\n.param .b64 retval0;\ncall.uni (retval0), " + name + ", (param0);\n" + result +
           "}\n";
  };
  const std::string returned = "ld.param.b64 %rd3, [retval0+0];\n";
  CHECK(traffic_of(called("fetch", "%rd2", ""), fetch) == "read y");
  CHECK(traffic_of(called("same", "%rd2", returned) +
                       "ld.global.nc.f32 %f1, [%rd3]; st.global.f32 [%rd1], %f1;",
                   same) == "written x; read y");
  CHECK(traffic_of(called("fetch", "%rd1", "") + called("same", "%rd2", ""), fetch) == "read x");
  CHECK(traffic_of("ld.global.u64 %rd3, [%rd1]; ld.global.nc.f32 %f1, [%rd3];") == "; untraced 1");
}

TEST_CASE(
    "a long text is followed in time that grows with its length, and no text ends the program") {
  std::string body;
  for (int i = 0; i < 100000; ++i)
    body += "add.s64 %rd" + std::to_string(100 + i) + ", %rd" +
            std::to_string(i == 0 ? 2 : 99 + i) + ", 4;\n";
  CHECK(traffic_of(body + "st.global.f32 [%rd100099], %f1;") == "written y");
  const std::string text =
      "call.uni (, ld.param [ st.param [], {}; mov.b64 {}, {}; ld.global.nc; st.global; call; "
      "and.b64 %rd1, 0x, 0; sub.s64 %rd1, %rd2, %rd3;";
  warpath::Rng rng(1, "origins");
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = ".version 9.0\n.entry k(.param .u64 p)\n{\n" + text + "\n}\n";
    for (int i = 0; i < 6; ++i) mutated[rng.below(mutated.size())] = ";,[](){}% a1"[rng.below(12)];
    std::string why;
    if (const auto module = parse_ptx(mutated, why)) static_cast<void>(buffer_traffic(*module));
  }
}

TEST_SUITE_END();
