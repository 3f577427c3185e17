#include "runners/cuda/code/thread_slots.h"

#include <doctest/doctest.h>

#include <string>

#include "engine/base/rng.h"
#include "runners/cuda/plan/gate_table.h"
#include "tests/cuda/support.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

/// k(x, y, n), one element a thread: %rd5 is its place in x, %rd6 in y.
const std::string kPlaces =
    "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\nld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, "
    "%r3, %r4;\n"
    "cvta.to.global.u64 %rd3, %rd1;\nmul.wide.s32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd3, "
    "%rd4;\nadd.s64 %rd6, %rd2, %rd4;\n";

PtxModule module_of(std::string& text, const std::string& body, const std::string& functions) {
  text = ".version 9.0\n.target sm_90a\n.address_size 64\n" + functions +
         ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 n)\n{\n"
         ".reg .b64 %rd<40>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .pred %p<9>;\n" +
         body + "\nret;\n}\n";
  std::string why;
  const auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module, why);
  return *module;
}

/// Whether the read of x and the write of y stay in slots, were both one buffer.
bool stay(const std::string& body, const std::string& functions = "") {
  std::string text;
  const PtxModule module = module_of(text, body, functions);
  const BufferTraffic traffic = buffer_traffic(module);
  REQUIRE(traffic.parameters.size() == 2);
  REQUIRE((traffic.written & 2U) != 0);
  REQUIRE((traffic.read_noncoherently & 1U) != 0);
  return stays_in_own_slots(traffic, 1, 0);
}

const std::string kRead = "ld.global.nc.f32 %f1, [%rd5];\n", kDouble = "add.f32 %f2, %f1, %f1;\n",
                  kWrite = "st.global.f32 [%rd6], %f2;\n";

}  // namespace

TEST_SUITE_BEGIN("thread_slots");

TEST_CASE(
    "a thread that reads its own element before it writes the result there stays in its slot") {
  CHECK(stay(kPlaces + kRead + kDouble + kWrite));
  CHECK(stay(kPlaces + "setp.ge.s32 %p1, %r5, %r1;\n@%p1 bra DONE;\n" + kRead + kDouble + kWrite +
             "DONE:"));
  // Computed anew, in other widths, at other offsets that cancel, as a vector in parts.
  CHECK(stay(kPlaces + "shl.b32 %r6, %r5, 2;\ncvt.s64.s32 %rd7, %r6;\nadd.s64 %rd8, %rd7, %rd2;\n" +
             kRead + kDouble + "st.global.f32 [%rd8], %f2;\n"));
  CHECK(stay(kPlaces + "sub.s64 %rd7, %rd6, 8;\n" + kRead + kDouble +
             "st.global.f32 [%rd7+8], %f2;\n"));
  CHECK(stay(kPlaces +
             "shl.b32 %r6, %r5, 2;\nmul.wide.s32 %rd7, %r6, 4;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 "
             "%rd9, %rd2, %rd7;\n"
             "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd8];\nst.global.f32 [%rd9], "
             "%f1;\nst.global.v2.f32 [%rd9+4], {%f2, %f3};\nst.global.f32 [%rd9+12], %f4;\n"));
  // Of two elements the second may be read when the first is written.
  CHECK(stay(kPlaces +
             "shl.b64 %rd7, %rd4, 1;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 %rd9, %rd2, %rd7;\n"
             "ld.global.nc.f32 %f1, [%rd8];\nst.global.f32 [%rd9], %f1;\nld.global.nc.f32 %f2, "
             "[%rd8+4];\nst.global.f32 [%rd9+4], %f2;\n"));
}

TEST_CASE("what another thread may write is in nobody's slot") {
  const std::string next = "ld.global.nc.f32 %f1, [%rd5+4];\n";
  CHECK_FALSE(stay(kPlaces + next + kDouble + kWrite));
  // Two elements a thread, one apart: each is two threads'.
  CHECK_FALSE(stay(kPlaces + kRead + "ld.global.nc.f32 %f3, [%rd5+4];\n" + kDouble +
                   "st.global.f32 [%rd6], %f2;\nst.global.f32 [%rd6+4], %f3;\n"));
  // One place for all threads of a block, or for several.
  const std::string block =
      "mul.wide.s32 %rd7, %r2, 4;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 %rd9, %rd2, %rd7;\n";
  CHECK_FALSE(stay(kPlaces + block + "ld.global.nc.f32 %f1, [%rd8];\n" + kDouble +
                   "st.global.f32 [%rd9], %f2;\n"));
  const std::string halved =
      "shr.u32 %r6, %r4, 1;\nmul.wide.s32 %rd7, %r6, 4;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 %rd9, "
      "%rd2, %rd7;\n";
  CHECK_FALSE(stay(kPlaces + halved + "ld.global.nc.f32 %f1, [%rd8];\n" + kDouble +
                   "st.global.f32 [%rd9], %f2;\n"));
  // 4 threadIdx.x less what makes it repeat.
  const std::string folded =
      "and.b32 %r6, %r4, -32;\nsub.s32 %r7, %r4, %r6;\nmul.wide.s32 %rd7, %r7, 4;\nadd.s64 %rd8, "
      "%rd3, %rd7;\nadd.s64 %rd9, %rd2, %rd7;\n";
  CHECK_FALSE(stay(kPlaces + folded + "ld.global.nc.f32 %f1, [%rd8];\n" + kDouble +
                   "st.global.f32 [%rd9], %f2;\n"));
  // What 32 bits do not hold begins anew.
  const std::string far =
      "shl.b32 %r6, %r4, 30;\nmul.wide.u32 %rd7, %r6, 4;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 %rd9, "
      "%rd2, %rd7;\n";
  CHECK_FALSE(stay(kPlaces + far + "ld.global.nc.f32 %f1, [%rd8];\n" + kDouble +
                   "st.global.f32 [%rd9], %f2;\n"));
  // Threads in other rows of the block.
  CHECK_FALSE(stay(kPlaces + "mov.u32 %r9, %tid.y;\n" + kRead + kDouble + kWrite));
}

TEST_CASE("a read that a write may come before is none of the same slot") {
  CHECK_FALSE(stay(kPlaces + "st.global.f32 [%rd6], %f2;\n" + kRead));
  CHECK_FALSE(stay(kPlaces + kRead + kDouble + kWrite + kRead));
  CHECK_FALSE(stay(kPlaces + "LOOP:\n" + kRead + kDouble + kWrite +
                   "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra LOOP;"));
  CHECK_FALSE(stay(kPlaces + "bra READ;\nWRITE:\n" + kWrite + "bra READ;\nREAD:\n" + kRead +
                   kDouble + "@%p1 bra WRITE;"));
  // Nothing but the value keeps the write behind the read.
  CHECK_FALSE(
      stay(kPlaces + kRead +
           "mov.f32 %f3, 0f00000000;\nst.global.f32 [%rd6], %f3;\nst.shared.f32 [%r1], %f1;"));
}

TEST_CASE(
    "addresses that change in a loop, other bases, atomics, copies and functions are not told") {
  CHECK_FALSE(stay(
      kPlaces + "mov.u64 %rd7, %rd5;\nmov.u64 %rd8, %rd6;\nLOOP:\nld.global.nc.f32 %f1, [%rd7];\n" +
      kDouble +
      "st.global.f32 [%rd8], %f2;\nadd.s64 %rd7, %rd7, 4096;\nadd.s64 %rd8, %rd8, 4096;\n@%p1 bra "
      "LOOP;"));
  CHECK_FALSE(stay(kPlaces +
                   "ld.shared.u32 %r6, [%r1];\nmul.wide.s32 %rd7, %r6, 4;\nadd.s64 %rd8, %rd5, "
                   "%rd7;\nadd.s64 %rd9, %rd6, %rd7;\nld.global.nc.f32 %f1, [%rd8];\n" +
                   kDouble + "st.global.f32 [%rd9], %f2;\n"));
  CHECK_FALSE(stay(kPlaces + "selp.b64 %rd7, %rd6, %rd5, %p1;\n" + kRead + kDouble +
                   "st.global.f32 [%rd7], %f2;\n"));
  CHECK_FALSE(stay(kPlaces + kRead + "red.global.add.f32 [%rd6], %f1;\n"));
  CHECK_FALSE(stay(kPlaces + kRead + kDouble + kWrite +
                   "cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r1], 64;\n"));
  CHECK_FALSE(stay(kPlaces + kRead + kDouble + kWrite +
                   "ld.global.u64 %rd9, [%rd1];\nst.global.f32 [%rd9], %f2;\n"));
  const std::string fetch =
      ".func (.param .b32 func_retval0) fetch(.param .b64 fetch_param_0)\n{\n.reg .b64 %rd<3>; "
      ".reg .f32 %f<3>;\nld.param.u64 %rd1, [fetch_param_0];\n"
      "ld.global.nc.f32 %f1, [%rd1];\nst.param.f32 [func_retval0+0], %f1;\nret;\n}\n";
  CHECK_FALSE(stay(
      kPlaces +
          "{\n.param .b64 param0; st.param.b64 [param0+0], %rd5;\n.param .b32 retval0;\ncall.uni "
          "(retval0), fetch, (param0);\nld.param.f32 %f2, [retval0+0];\n}\n" +
          kWrite,
      fetch));
  // A high half is no product.
  CHECK_FALSE(stay(kPlaces +
                   "mul.hi.s32 %r6, %r4, 4;\ncvt.s64.s32 %rd7, %r6;\nadd.s64 %rd8, %rd3, "
                   "%rd7;\nadd.s64 %rd9, %rd2, %rd7;\nld.global.nc.f32 %f1, [%rd8];\n" +
                   kDouble + "st.global.f32 [%rd9], %f2;\n"));
}

TEST_CASE("a long text takes time that grows with its length, and no text ends the program") {
  std::string body = kPlaces;
  for (int i = 0; i < 50000; ++i)
    body += "add.f32 %f" + std::to_string(100 + i) + ", %f" + std::to_string(i == 0 ? 1 : 99 + i) +
            ", %f1;\n";
  std::string reads;
  for (int i = 0; i < 30; ++i) reads += kRead;
  CHECK(stay(body.insert(kPlaces.size(), reads) + "st.global.f32 [%rd6], %f50099;"));
  Rng rng(1, "slots");
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    std::string mutated = kPlaces + kRead + kDouble + kWrite;
    for (int i = 0; i < 6; ++i) mutated[rng.below(mutated.size())] = ";,[](){}% a1"[rng.below(12)];
    text =
        ".version 9.0\n.entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u32 n)\n{\n" +
        mutated + "\n}\n";
    std::string why;
    const auto module = parse_ptx(text, why);
    if (!module) continue;
    const BufferTraffic traffic = buffer_traffic(*module);
    for (std::size_t w = 0; w < traffic.parameters.size(); ++w)
      static_cast<void>(stays_in_own_slots(traffic, w, 0));
  }
}

TEST_CASE(
    "the gate accepts what stays in slots and refuses the rest, whatever the spec's own kernel is "
    "not known to do") {
  const GateTable table;
  KernelSpec spec;
  for (const char* const name : {"x", "y"}) {
    ArgSpec arg;
    arg.name = name;
    arg.role = *name == 'x' ? ArgRole::input : ArgRole::output;
    arg.tensor.emplace();
    spec.io.args.push_back(arg);
  }
  CompileResult code;
  code.lowered_name = "k";
  const auto answer = [&](const std::string& body) {
    std::string text;
    const PtxModule module = module_of(text, body, "");
    return table.code_gate("read_only_path")
        ->judge({.spec = &spec, .code = &code, .ptx = &module})
        .answer;
  };
  const std::string own = kPlaces + kRead + kDouble + kWrite,
                    next = kPlaces + "ld.global.nc.f32 %f1, [%rd5+4];\n" + kDouble + kWrite;
  CHECK(answer(next) == GateResult::Answer::pass);  // two buffers
  spec.io.may_alias = {{"x", "y"}};
  CHECK(answer(own) == GateResult::Answer::pass);
  CHECK(answer(next) == GateResult::Answer::fail);
}

TEST_SUITE_END();
