#include "runners/inputs/made_integers.h"

#include <doctest/doctest.h>

using namespace warpath;

TEST_SUITE_BEGIN("made_integers");

TEST_CASE("numbers are places where an integer made of them stands in a subscript") {
  CHECK(makes_places("y[i] = x[(int)t[i]];"));
  CHECK(makes_places("int at = (int)floorf(t[i]); y[i] = x[at];"));
  CHECK(makes_places("int a = static_cast<int>(t), b = min(a + 1, n - 1); y[i] = x[row * n + b];"));
  CHECK(makes_places("int a; a = __float2int_rd(t); const float* row = x + a * n; y[i] = row[0];"));
  CHECK(makes_places("for (int k = 0; k < 4; k++) v[k] = x[b + k]; int b = lrintf(s);"));
  CHECK(makes_places("int a = (int)t; int at[2] = {0, a}; y[i] = x[at[1]];"));
}

TEST_CASE("they are none where it is a value, or an index of a thread") {
  CHECK_FALSE(makes_places("y[i] = (int)x[i];"));
  CHECK_FALSE(makes_places("int q = (int)rintf(x[i] / s); y[i] = min(max(q, -127), 127);"));
  CHECK_FALSE(makes_places("int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); y[i] = x[i];"));
  CHECK_FALSE(makes_places("float f = floorf(x[i]); y[i] = x[i] - f;"));
}

TEST_SUITE_END();
