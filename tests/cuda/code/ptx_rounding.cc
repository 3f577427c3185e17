#include "runners/cuda/code/ptx_rounding.h"

#include <doctest/doctest.h>

using namespace warpath::cuda;

TEST_SUITE_BEGIN("ptx_rounding");

TEST_CASE(
    "arithmetic that rounds to nearest, named or not, rounds in the direction that is asked") {
  CHECK(round_ptx("add.f32 %f1, %f2, %f3;", PtxRounding::upward) == "add.rp.f32 %f1, %f2, %f3;");
  CHECK(round_ptx("@%p1 mul.ftz.f32 %f1, %f2, %f3;", PtxRounding::downward) ==
        "@%p1 mul.rm.ftz.f32 %f1, %f2, %f3;");
  CHECK(round_ptx("fma.rn.f32 %f1,%f2,%f3,%f1;", PtxRounding::upward) ==
        "fma.rp.f32 %f1,%f2,%f3,%f1;");
  CHECK(round_ptx("div.rn.ftz.f32 %f1,%f2,%f3;sqrt.rn.f64 %fd1,%fd2;", PtxRounding::downward) ==
        "div.rm.ftz.f32 %f1,%f2,%f3;sqrt.rm.f64 %fd1,%fd2;");
}

TEST_CASE("what is no such arithmetic, and every comment and string, stays as it is") {
  for (const char* const text :
       {"add.s32 %r1, %r2, 1;", "add.rz.f32 %f1, %f2, %f3;", "sqrt.approx.ftz.f32 %f1, %f2;",
        "div.full.f32 %f1, %f2, %f3;", "cvt.rn.f16.f32 %h1, %f1;", "add.rn.f16x2 %r1, %r2, %r3;",
        "atom.global.add.f32 %f1, [%rd1], %f2;", "mov.f32 %f1, 0f3F800000;", "// add.f32\nret;",
        ".file 1 \"add.f32\"", "add.f32x2 %rd1, %rd2, %rd3;"})
    CHECK(round_ptx(text, PtxRounding::upward) == text);
}

TEST_SUITE_END();
