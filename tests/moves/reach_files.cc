// What moves say of kernels as people keep them: reach_files FILE... makes a synthetic spec of
// every kernel (arguments by their types, sizes by their names, a launch by the indices that the
// text uses), asks every move for what it offers there, and prints one JSON line a kernel:
// {"file", "kernel", "line", "specified", "why", "veto", "moves": {NAME: offers},
// "structural": [NAME...], "reasons": {NAME: why a structural move offers nothing}, "seconds"}.
// Nothing is run.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "moves/model/facts.h"
#include "moves/propose/move_script.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"

using namespace warpath;
using nlohmann::json;

namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 20U;

/// Every kernel gets as many points as kElements; what names an extent is a part of that.
std::int64_t size_of(const std::string& name, int number) {
  const auto has = [&](const char* pattern) {
    return std::regex_search(name, std::regex(pattern, std::regex::icase));
  };
  if (has("pad|offset|start|begin|axis|dim$")) return 1;
  if (has("stride|dilation|group|step")) return 1;
  if (has("kernel|ksize|pool|radius|window|filter")) return 3;
  if (has("thread|count|total|numel|size|^n$|num_elem|nelem|len")) return kElements;
  constexpr std::int64_t kExtents[] = {1024, 512, 256, 64, 32, 16};
  return kExtents[std::min(number, 5)];
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

/// The launch by what the text asks for.
json launch_of(std::string_view body) {
  const auto asks = [&](const char* name) { return body.find(name) != std::string_view::npos; };
  const bool y = asks("threadIdx.y"), z = asks("threadIdx.z");
  json block = {{"x", z ? 8 : y ? 16 : 256}};
  if (y || z) block["y"] = z ? 8 : 16;
  if (z) block["z"] = 4;
  json grid = {{"x", asks("blockIdx.y") ? 64 : 4096}};
  if (asks("blockIdx.y")) grid["y"] = 64;
  if (asks("blockIdx.z")) grid["z"] = 4;
  return {{"grid", grid}, {"block", block}};
}

/// A spec of the kernel, or why there is none.
std::optional<json> synthetic_spec(const model::Unit& unit,
                                   const model::Function& kernel,
                                   const std::string& text,
                                   std::string& why) {
  std::map<std::string, std::string> types;
  std::string instance(kernel.name);
  for (const model::TemplateParameter& parameter : kernel.template_parameters) {
    const bool first = &parameter == kernel.template_parameters.data();
    const std::string value = parameter.is_type ? "float" : "4";
    if (parameter.is_type) types[std::string(parameter.name)] = value;
    instance += (first ? "<" : ", ") + value;
  }
  if (!kernel.template_parameters.empty()) instance += ">";
  json args = json::array();
  int extents = 0;
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
      args.push_back({{"name", name},
                      {"type", "tensor"},
                      {"role", input ? "input" : "inout"},
                      {"tensor_spec", {{"shape", {kElements}}, {"dtype", typed.dtype}}}});
    } else if (typed.floating) {
      args.push_back({{"name", name}, {"type", "float"}, {"dtype", typed.dtype}, {"value", 0.5}});
    } else if (typed.dtype == "bool") {
      args.push_back({{"name", name}, {"type", "bool"}, {"value", true}});
    } else {
      const std::int64_t size = size_of(name, extents);
      extents += size < kElements && size > 3 ? 1 : 0;
      args.push_back({{"name", name}, {"type", "int"}, {"dtype", typed.dtype}, {"value", size}});
    }
  }
  json metadata = {{"kernel_name", kernel.name}};
  if (!kernel.template_parameters.empty()) metadata["name_expressions"] = {instance};
  return json{{"name", kernel.name},
              {"kernel",
               {{"source_code", text},
                {"metadata", metadata},
                {"io", {{"args", args}, {"launch", launch_of(unit.text(kernel.body->span))}}}}},
              {"tolerance", {{"atol", 1e-3}, {"rtol", 1e-3}}}};
}

json reach_of(const model::Unit& unit,
              const model::Function& kernel,
              const std::string& text,
              const MoveRegistry& moves) {
  const auto began = std::chrono::steady_clock::now();
  json out = {{"kernel", kernel.name},
              {"line", model::line_of(unit, kernel.name_span.begin)},
              {"specified", false},
              {"why", ""},
              {"veto", ""},
              {"moves", json::object()},
              {"reasons", json::object()},
              {"structural", json::array()}};
  std::string why;
  const auto described = synthetic_spec(unit, kernel, text, why);
  out["why"] = why;
  if (!described) return out;
  try {
    const KernelSpec spec = spec_from_json(*described, "spec");
    const Variant variant = baseline_variant(spec);
    const DeviceFacts device{.runner = "cuda",
                             .name = "none",
                             .arch = "sm_90a",
                             .multiprocessors = 132,
                             .max_smem_per_block_bytes = 227 << 10,
                             .is_gpu = true};
    const model::Unit own = model::parse(spec, variant);
    const model::Function* const found = own.find_kernel(variant.kernel_name);
    if (found == nullptr) throw bad_input("kernel", variant.kernel_name, "one that is found");
    out["specified"] = true;
    out["veto"] = model::analyse(own, *found, {&spec, &variant}).veto;
    const model::ModelScope models(spec);
    for (const auto& [name, entry] : moves.entries()) {
      const auto move = entry.make();
      const std::size_t offered = offers(*move, {spec, variant, device}).size();
      if (offered > 0) {
        out["moves"][name] = offered;
        if (move->structural()) out["structural"].push_back(name);
      } else if (move->structural() && out["veto"] == "") {
        static_cast<void>(apply_step(*move, {spec, variant, device},
                                     {.move = name, .site = "", .parameters = {}}, why));
        out["reasons"][name] = why;
      }
    }
  } catch (const Error& error) {
    out["why"] = error.what();
  }
  out["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return out;
}

}  // namespace

int main(int count, char** words) {
  MoveRegistry moves("move");
  register_moves(moves);
  if (count < 2) {
    std::fprintf(stderr, "usage: reach_files FILE [KERNEL...]\n");
    return 64;
  }
  std::ostringstream text;
  text << std::ifstream(words[1], std::ios::binary).rdbuf();
  const std::set<std::string, std::less<>> wanted(words + 2, words + count);
  const model::Unit unit = model::parse(text.str());
  for (const model::Function* const function : unit.functions()) {
    if (!function->is_global || function->body == nullptr) continue;
    if (!wanted.empty() && !wanted.contains(function->name)) continue;
    json line = reach_of(unit, *function, text.str(), moves);
    line["file"] = words[1];
    std::cout << line.dump(-1, ' ', true, json::error_handler_t::replace) << "\n" << std::flush;
  }
  return 0;
}
