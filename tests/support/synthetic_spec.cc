#include "tests/support/synthetic_spec.h"

#include <algorithm>
#include <array>
#include <regex>

#include "experiments/project/kernel_signature.h"

namespace warpath::test {

using nlohmann::json;

namespace {

/// What names an extent is a part of the points.
std::int64_t size_of(const std::string& name, std::size_t number, const SyntheticSizes& sizes) {
  const auto has = [&](const char* pattern) {
    return std::regex_search(name, std::regex(pattern, std::regex::icase));
  };
  if (has("pad|offset|start|begin|axis|dim$")) return 1;
  if (has("stride|dilation|group|step|^d[tdhw]$")) return 1;
  if (has("kernel|ksize|pool|radius|window|filter|^k[tdhw]$")) return 3;
  const bool of_axis = has("size_?[0-9]$");
  if (!of_axis && has("thread|count|total|numel|size|^n$|num_elem|nelem|len")) return sizes.points;
  return sizes.extents[std::min(number, sizes.extents.size() - 1)];
}

/// Integers may be indices of anything.
json contents(DType dtype, bool positive) {
  const bool floating = info(dtype).is_float;
  if (floating && positive) return {{"kind", "uniform"}, {"low", 0}, {"high", 4}};
  if (floating) return {{"kind", "randn"}};
  const bool truth = dtype == DType::boolean;
  return {{"kind", "randint"}, {"low", positive && !truth ? 1 : 0}, {"high", truth ? 2 : 4}};
}

bool asks(std::string_view body, const char* name) {
  return body.find(name) != std::string_view::npos;
}

/// The launch by what the text asks for.
json launch_of(std::string_view body, const SyntheticSizes& sizes) {
  const std::array<int, 3> threads = usual_block(body);
  json block = {{"x", threads[0]}};
  if (threads[1] > 1) block["y"] = threads[1];
  if (threads[2] > 1) block["z"] = threads[2];
  json grid = {{"x", asks(body, "blockIdx.y") ? sizes.blocks_per_axis : sizes.blocks}};
  if (asks(body, "blockIdx.y")) grid["y"] = sizes.blocks_per_axis;
  if (asks(body, "blockIdx.z")) grid["z"] = 4;
  json launch = {{"grid", grid}, {"block", block}};
  if (std::regex_search(body.begin(), body.end(), std::regex(R"(\bextern\b[^;]*\b__shared__\b)")))
    launch["dynamic_smem_bytes"] = 16 << 10;
  return launch;
}

}  // namespace

SyntheticSizes device_sizes() {
  constexpr std::int64_t kElements = std::int64_t{1} << 20U;
  return {.elements = kElements,
          .points = kElements,
          .extents = {1024, 512, 256, 64, 32, 16},
          .blocks = 4096,
          .blocks_per_axis = 64};
}

std::vector<SyntheticSizes> host_sizes() {
  const SyntheticSizes usual{.elements = std::int64_t{1} << 17U,
                             .points = 1000,
                             .extents = {12, 8, 6, 5, 4},
                             .blocks = 4,
                             .blocks_per_axis = 4,
                             .runs = true};
  SyntheticSizes small = usual, tiles = usual;
  small.elements = std::int64_t{1} << 19U, small.points = 256, small.extents = {4};
  small.blocks_per_axis = 2, small.positive = true;
  tiles.extents = {64}, tiles.template_value = 16;
  return {usual, small, tiles};
}

std::optional<json> synthetic_spec(const model::Unit& unit,
                                   const model::Function& kernel,
                                   const std::string& text,
                                   const SyntheticSizes& of_one_axis,
                                   std::string& why) {
  SyntheticSizes sizes = of_one_axis;
  const std::string_view body = unit.text(kernel.body->span);
  if (asks(body, "blockIdx.y")) sizes.points = sizes.blocks_per_axis * usual_block(body)[0];
  const auto arguments = template_arguments(unit, kernel, {}, sizes.template_value);
  const std::string instance = instance_name(kernel, arguments);
  const auto parameters = kernel_parameters(unit, kernel, arguments, why);
  if (!parameters) return std::nullopt;
  json args = json::array();
  std::size_t extents = 0;
  bool counted = false;
  for (const KernelParameter& p : *parameters) {
    const std::string_view type = info(p.dtype).name;
    if (p.pointer) {
      json tensor = {{"shape", {sizes.elements}}, {"dtype", type}};
      if (sizes.runs) tensor["init"] = contents(p.dtype, sizes.positive);
      args.push_back({{"name", p.name},
                      {"type", "tensor"},
                      {"role", p.is_const ? "input" : "inout"},
                      {"tensor_spec", tensor}});
    } else if (info(p.dtype).is_float) {
      args.push_back({{"name", p.name}, {"type", "float"}, {"dtype", type}, {"value", 0.5}});
    } else if (p.dtype == DType::boolean) {
      args.push_back({{"name", p.name}, {"type", "bool"}, {"value", true}});
    } else {
      std::int64_t size = size_of(p.name, extents, sizes);
      if (p.name == "size" && counted) size = 3;  // of a window: the points are counted already
      counted = counted || size == sizes.points;
      extents += size < sizes.points && size > 3 ? 1U : 0U;
      args.push_back({{"name", p.name}, {"type", "int"}, {"dtype", type}, {"value", size}});
    }
  }
  json metadata = {{"kernel_name", kernel.name}};
  if (!kernel.template_parameters.empty()) metadata["name_expressions"] = {instance};
  const json launch = launch_of(body, sizes);
  json spec = {{"name", kernel.name},
               {"kernel",
                {{"source_code", text},
                 {"metadata", metadata},
                 {"io", {{"args", args}, {"launch", launch}}}}},
               {"tolerance", {{"atol", 1e-3}, {"rtol", 1e-3}}}};
  if (!sizes.runs) return spec;
  spec["kernel"]["workloads"] = {{{"name", "small"}, {"role", "regress"}}};
  spec["reference"]["kernel"] = {
      {"source_code", text}, {"kernel_name", instance}, {"launch", launch}};
  spec["tolerance"] = {{"default", {{"atol", 1e-3}, {"rtol", 1e-3}, {"norm", 1e-3}}}};
  for (const json& arg : args) {
    if (arg["type"] != "tensor" || arg["role"] == "input") continue;
    const std::string type = arg["tensor_spec"]["dtype"];
    json& own = spec["tolerance"][arg["name"].get<std::string>()];
    if (type == "float16" || type == "bfloat16")
      own = {{"atol", 0.02}, {"rtol", 0.02}, {"norm", 0.02}};
    else if (!type.starts_with("float"))
      own = {{"exact", true}};
    else
      own = spec["tolerance"]["default"];
  }
  return spec;
}

}  // namespace warpath::test
