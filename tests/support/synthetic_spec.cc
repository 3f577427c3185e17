#include "tests/support/synthetic_spec.h"

#include <algorithm>
#include <map>
#include <regex>

namespace warpath::test {

using nlohmann::json;

namespace {

/// What names an extent is a part of the points.
std::int64_t size_of(const std::string& name, std::size_t number, const SyntheticSizes& sizes) {
  const auto has = [&](const char* pattern) {
    return std::regex_search(name, std::regex(pattern, std::regex::icase));
  };
  if (has("pad|offset|start|begin|axis|dim$")) return 1;
  if (has("stride|dilation|group|step")) return 1;
  if (has("kernel|ksize|pool|radius|window|filter")) return 3;
  if (has("thread|count|total|numel|size|^n$|num_elem|nelem|len")) return sizes.points;
  return sizes.extents[std::min(number, sizes.extents.size() - 1)];
}

struct Typed {
  std::string dtype;  ///< empty: no type of tensors
  bool floating = false;
};

Typed dtype_of(std::string type) {
  for (const char* const word : {"const ", "volatile ", "struct "}) {
    for (auto at = type.find(word); at != std::string::npos; at = type.find(word))
      type.erase(at, std::string(word).size());
  }
  static const std::map<std::string, Typed> kTypes{{"float", {"float32", true}},
                                                   {"double", {"float64", true}},
                                                   {"half", {"float16", true}},
                                                   {"__half", {"float16", true}},
                                                   {"__nv_bfloat16", {"bfloat16", true}},
                                                   {"nv_bfloat16", {"bfloat16", true}},
                                                   {"int", {"int32", false}},
                                                   {"int32_t", {"int32", false}},
                                                   {"unsigned", {"uint32", false}},
                                                   {"unsigned int", {"uint32", false}},
                                                   {"uint32_t", {"uint32", false}},
                                                   {"uint", {"uint32", false}},
                                                   {"long", {"int64", false}},
                                                   {"long long", {"int64", false}},
                                                   {"int64_t", {"int64", false}},
                                                   {"size_t", {"uint64", false}},
                                                   {"uint64_t", {"uint64", false}},
                                                   {"unsigned long", {"uint64", false}},
                                                   {"unsigned long long", {"uint64", false}},
                                                   {"char", {"int8", false}},
                                                   {"int8_t", {"int8", false}},
                                                   {"signed char", {"int8", false}},
                                                   {"unsigned char", {"uint8", false}},
                                                   {"uint8_t", {"uint8", false}},
                                                   {"uchar", {"uint8", false}},
                                                   {"bool", {"bool", false}},
                                                   {"short", {"int16", false}},
                                                   {"int16_t", {"int16", false}}};
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? Typed{} : found->second;
}

/// Integers may be indices of anything.
json contents(const Typed& typed, bool positive) {
  if (typed.floating && positive) return {{"kind", "uniform"}, {"low", 0}, {"high", 4}};
  if (typed.floating) return {{"kind", "randn"}};
  const bool truth = typed.dtype == "bool";
  return {{"kind", "randint"}, {"low", positive && !truth ? 1 : 0}, {"high", truth ? 2 : 4}};
}

bool asks(std::string_view body, const char* name) {
  return body.find(name) != std::string_view::npos;
}

/// Threads of a block along x, by the axes that the text asks for.
int block_x(std::string_view body) {
  return asks(body, "threadIdx.z") ? 8 : asks(body, "threadIdx.y") ? 16 : 256;
}

/// What is named like the block's extent has its value.
std::string template_value(const model::TemplateParameter& parameter,
                           const model::Function& kernel,
                           const model::Unit& unit,
                           int otherwise) {
  static const std::regex kBlock("block_?(size|dim|x)?|.*threads.*", std::regex::icase);
  return std::regex_match(std::string(parameter.name), kBlock)
             ? std::to_string(block_x(unit.text(kernel.body->span)))
             : std::to_string(otherwise);
}

/// The launch by what the text asks for.
json launch_of(std::string_view body, const SyntheticSizes& sizes) {
  const bool y = asks(body, "threadIdx.y"), z = asks(body, "threadIdx.z");
  json block = {{"x", block_x(body)}};
  if (y || z) block["y"] = z ? 8 : 16;
  if (z) block["z"] = 4;
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
  if (asks(body, "blockIdx.y")) sizes.points = sizes.blocks_per_axis * block_x(body);
  std::map<std::string, std::string> types;
  std::string instance(kernel.name);
  for (const model::TemplateParameter& parameter : kernel.template_parameters) {
    const bool first = &parameter == kernel.template_parameters.data();
    const std::string value =
        parameter.is_type ? "float" : template_value(parameter, kernel, unit, sizes.template_value);
    if (parameter.is_type) types[std::string(parameter.name)] = value;
    instance += (first ? "<" : ", ") + value;
  }
  if (!kernel.template_parameters.empty()) instance += ">";
  json args = json::array();
  std::size_t extents = 0;
  bool counted = false;
  for (const model::Declarator* const parameter : kernel.parameters) {
    std::string type = unit.plain_text(parameter->type);
    if (const auto own = types.find(type); own != types.end()) type = own->second;
    const Typed typed = dtype_of(std::string(unit.resolved_type(type)));
    const std::string name(parameter->name);
    if (typed.dtype.empty() || parameter->pointer_depth > 1 || parameter->reference ||
        parameter->is_array() || name.empty()) {
      why = "parameter " + (name.empty() ? "without a name" : name) + " of type " + type;
      return std::nullopt;
    }
    if (parameter->is_pointer()) {
      const bool input = parameter->has(model::kConst);
      json tensor = {{"shape", {sizes.elements}}, {"dtype", typed.dtype}};
      if (sizes.runs) tensor["init"] = contents(typed, sizes.positive);
      args.push_back({{"name", name},
                      {"type", "tensor"},
                      {"role", input ? "input" : "inout"},
                      {"tensor_spec", tensor}});
    } else if (typed.floating) {
      args.push_back({{"name", name}, {"type", "float"}, {"dtype", typed.dtype}, {"value", 0.5}});
    } else if (typed.dtype == "bool") {
      args.push_back({{"name", name}, {"type", "bool"}, {"value", true}});
    } else {
      std::int64_t size = size_of(name, extents, sizes);
      if (name == "size" && counted) size = 3;  // of a window: the points are counted already
      counted = counted || size == sizes.points;
      extents += size < sizes.points && size > 3 ? 1U : 0U;
      args.push_back({{"name", name}, {"type", "int"}, {"dtype", typed.dtype}, {"value", size}});
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
