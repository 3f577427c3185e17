#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/init/argument_sizes.h"
#include "tests/experiments/program.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;

namespace {

/// What `init` makes of a file with one kernel; "verified" is whether the spec's kernel passes on
/// the host.
struct Drafted {
  json spec;
  bool verified = false;
};

Drafted drafted(const std::string& text) {
  const TemporaryFolder folder;
  const std::string file = folder / "k.cu", spec = folder / "k.json";
  write_file(file, text);
  const ProgramResult made = run_program({"init", file, "--output", spec});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const ProgramResult judged = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CAPTURE(judged.err);
  return {json::parse(read_file(spec)), judged.code == 0};
}

/// Why the shape of an argument is a guess; empty if it is none.
std::string why_shape(const json& spec, int argument) {
  const std::string path = "/kernel/io/args/" + std::to_string(argument) + "/tensor_spec/shape";
  for (const json& guess : spec.value("guessed", json::array()))
    if (guess.at("path") == path) return guess.at("why");
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("init_reached");

TEST_CASE("a tensor that a launch on the host reaches beyond is made as large as that") {
  // the table says where each element is read, so that no text gives the extent of x
  const Drafted made = drafted(R"(
__global__ void gather(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = 0;
  for (int bit = 1; bit < 64; bit = bit * 2 + 1) at += (i ^ bit) & 7;
  y[i] = x[i + at * 9];
}
)");
  CHECK(made.verified);
  CHECK(why_shape(made.spec, 1).find("a launch on the host reached up to ") != std::string::npos);
}

TEST_CASE("what no launch reaches beyond keeps its shape, and is no guess") {
  const Drafted made = drafted(R"(
__global__ void twice(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)");
  CHECK(made.verified);
  CHECK(why_shape(made.spec, 0).empty());
  CHECK(why_shape(made.spec, 1).empty());
  CHECK(made.spec["kernel"]["io"]["args"][1]["tensor_spec"]["shape"] == json::array({"n"}));
}

TEST_CASE("of an enumeration the first value with which a launch ends is taken") {
  const Drafted made = drafted(R"(
#include <assert.h>
enum Activation { kDefault, kNone, kTwice };
__device__ float activate(float x, Activation how) {
  switch (how) {
    case kNone: return x;
    case kTwice: return 2 * x;
    default: assert(false);
  }
  return 0;
}
__global__ void scale(float* y, const float* x, int n, Activation how) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = activate(x[i], how);
}
)");
  CHECK(made.verified);
  CHECK(made.spec["kernel"]["io"]["args"][3]["value"] == 1);
}

TEST_CASE("integers of a tensor count from 1 where a launch ends so alone") {
  const Drafted made = drafted(R"(
#include <assert.h>
__global__ void pick(float* y, const float* x, const int* at, int n, int classes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int t = at[i] - 1;
  assert(t >= 0 && t < classes);
  y[i] = x[i * classes + t];
}
)");
  CHECK(made.verified);
  CHECK(made.spec["kernel"]["io"]["args"][2]["tensor_spec"]["init"]["low"] == 1);
}

TEST_CASE("where no launch ends the guesses are left as they are") {
  const Drafted made = drafted(R"(
#include <assert.h>
__global__ void pick(float* y, const float* x, const int* at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(false);
  if (i < n) y[i] = x[at[i]] + at[i];
}
)");
  CHECK_FALSE(made.verified);
  CHECK(made.spec["kernel"]["io"]["args"][2]["tensor_spec"]["init"].value("low", 0) == 0);
}

TEST_CASE("rows that are read as vectors are whole vectors") {
  CHECK(elements_read_at_once("*reinterpret_cast<const float4*>(x + i)", 4) == 4);
  CHECK(elements_read_at_once("((int4 const *)x)[i]", 2) == 8);
  CHECK(elements_read_at_once("float4 v = make_float4(0, 0, 0, 0);", 4) == 1);
  CHECK(elements_read_at_once("float2* p; float4* q;", 4) == 4);
  const Drafted made = drafted(R"(
__global__ void rows(float* y, const float* x, int n, int c, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < c; j += 4) {
    float4 v = *reinterpret_cast<const float4*>(&x[i * stride + j]);
    sum += v.x + v.y + v.z + v.w;
  }
  y[i] = sum;
}
)");
  CHECK(made.verified);
}

TEST_SUITE_END();
