#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/program.h"

namespace warpath::testing {

/// A spec in `folder` of y = 2 x, n elements, as `kernel` computes it.
inline std::string twice_spec(const TemporaryFolder& folder,
                              const std::string& kernel,
                              std::int64_t n,
                              const nlohmann::json& tunables = nlohmann::json::array()) {
  using nlohmann::json;
  const json tensor{{"shape", {"n"}}, {"dtype", "float32"}};
  json x = tensor;
  x["init"] = {{"kind", "randn"}, {"seed", 1}};
  const json args{{{"name", "y"}, {"type", "tensor"}, {"role", "output"}, {"tensor_spec", tensor}},
                  {{"name", "x"}, {"type", "tensor"}, {"role", "input"}, {"tensor_spec", x}},
                  {{"name", "n"}, {"type", "int"}, {"value", n}}};
  const json reference{
      {"kernel",
       {{"source_code",
         "extern \"C\" __global__ void r(float* y, const float* x, int n) { int i = blockIdx.x * "
         "64 + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"},
        {"kernel_name", "r"},
        {"launch", {{"grid", {{"x", "ceil_div(n, 64)"}}}, {"block", {{"x", 64}}}}}}}};
  const json spec{
      {"name", "twice"},
      {"kernel",
       {{"kernel_type", "cuda"},
        {"source_code", kernel},
        {"metadata", {{"kernel_name", "twice"}}},
        {"io",
         {{"args", args},
          {"launch", {{"grid", {{"x", "ceil_div(n, 64)"}}}, {"block", {{"x", 64}}}}}}}}},
      {"tunables", tunables},
      {"reference", reference}};
  write_file(folder / "spec.json", spec.dump());
  return folder / "spec.json";
}

/// y = 2 x whose time is waste, all of it in the tunable WASTE: what a search finds is the same
/// however busy the machine is.
inline constexpr const char* kWasteful =
    "extern \"C\" __global__ void twice(float* y, const float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i >= n) return;\n"
    "  float sum = 0.0f;\n"
    "  for (int k = 0; k < WASTE; ++k) sum += sinf(x[i] + k);\n"
    "  y[i] = 2.0f * x[i] + (sum > 1e30f ? sum : 0.0f);\n"
    "}\n";

/// Its spec in `folder`.
inline std::string wasteful_spec(const TemporaryFolder& folder) {
  return twice_spec(folder, kWasteful, 30011,
                    {{{"name", "WASTE"}, {"values", {1, 24}}, {"default", 24}},
                     {{"name", "UNUSED"}, {"values", {1, 2}}, {"default", 1}}});
}

/// A file of proposals in `folder`: the one step that ends the waste.
inline std::string ending_waste(const TemporaryFolder& folder) {
  const nlohmann::json step{
      {"move", "set_tunable"}, {"site", "tunable:WASTE"}, {"parameters", {{"value", 1}}}};
  write_file(folder / "moves.jsonl", step.dump() + "\n");
  return folder / "moves.jsonl";
}

}  // namespace warpath::testing
