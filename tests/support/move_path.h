#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/spec_load.h"
#include "register_moves.h"
#include "tests/support/host_check.h"

namespace warpath::test {

/// An argument of a kernel under test: a tensor ("float32", shape, role) or an integer.
struct TestArgument {
  std::string name;
  std::string role;  ///< input, output, inout, scalar
  std::string dtype = "float32";
  std::string shape;  ///< "n", "N * C"
  std::int64_t value = 0;
  nlohmann::json init = {{"kind", "randn"}, {"seed", 1}};
};

/// Extents along x, y and z, separated by "; ".
inline nlohmann::json test_extents(const std::string& text) {
  nlohmann::json out;
  std::size_t begin = 0;
  for (const char* const axis : {"x", "y", "z"}) {
    const std::size_t end = std::min(text.find("; ", begin), text.size());
    if (begin < text.size()) out[axis] = text.substr(begin, end - begin);
    begin = end + 2;
  }
  return out;
}

/// A spec whose reference is the kernel itself, called once more under another name.
inline KernelSpec kernel_under_test(const std::string& source,
                                    const std::string& kernel,
                                    const std::vector<TestArgument>& arguments,
                                    const std::string& grid,
                                    const std::string& block,
                                    double rtol = 1e-5,
                                    const std::map<std::string, std::int64_t>& tunables = {}) {
  nlohmann::json args = nlohmann::json::array();
  for (const TestArgument& a : arguments) {
    nlohmann::json j = {{"name", a.name}};
    if (a.role == "scalar") {
      j["type"] = "int", j["value"] = a.value;
      if (a.dtype == "int64") j["dtype"] = "int64";
    } else {
      j["type"] = "tensor", j["role"] = a.role;
      j["tensor_spec"] = {{"shape", {a.shape}}, {"dtype", a.dtype}};
      if (a.role != "output") j["tensor_spec"]["init"] = a.init;
    }
    args.push_back(std::move(j));
  }
  std::string reference = source;
  for (std::size_t at = 0; (at = reference.find(kernel + "(", at)) != std::string::npos;
       at += kernel.size() + 10)
    reference.insert(at + kernel.size(), "_reference");
  nlohmann::json launch = {{"grid", test_extents(grid)}, {"block", test_extents(block)}};
  nlohmann::json spec = {
      {"name", kernel},
      {"kernel",
       {{"kernel_type", "cuda"},
        {"source_code", source},
        {"metadata", {{"kernel_name", kernel}, {"compiler_options", nlohmann::json::array()}}},
        {"io", {{"args", args}, {"launch", launch}}}}},
      {"reference",
       {{"kernel",
         {{"source_code", reference},
          {"kernel_name", kernel + "_reference"},
          {"launch", launch}}}}},
      {"tolerance", {{"atol", rtol}, {"rtol", rtol}, {"norm", rtol}}}};
  for (const auto& [name, value] : tunables)
    spec["tunables"].push_back(
        {{"name", name}, {"values", {32, 64, 128, 256}}, {"default", value}, {"help", name}});
  return parse_specs(spec.dump(), kernel + ".json", ".").front();
}

/// A variant and the moves that lead on from it.
class MovePath {
 public:
  explicit MovePath(KernelSpec spec) : spec_(std::move(spec)), variant_(baseline_variant(spec_)) {
    device_.runner = "host", device_.multiprocessors = 3;
  }
  /// Facts of a GPU instead of the host's.
  MovePath& on_gpu() {
    device_.is_gpu = true, device_.arch = "sm_90a", device_.multiprocessors = 132;
    return *this;
  }
  /// Empty if the move applied, else its reason.
  std::string tried(const std::string& text) {
    const MoveInstance wanted = MoveInstance::parse(text, "test");
    std::string why;
    const auto next = registered_moves()
                          .create("test", wanted.move)
                          ->apply({spec_, variant_, device_}, wanted, why);
    if (!next) return why.empty() ? "no reason given" : why;
    variant_ = *next;
    return "";
  }
  MovePath& step(const std::string& text) {
    const std::string why = tried(text);
    INFO(text, ": ", why, "\n", variant_.source);
    REQUIRE(why.empty());
    return *this;
  }
  [[nodiscard]] std::vector<std::string> listed(const std::string& move) const {
    std::vector<std::string> out;
    for (const MoveInstance& i :
         registered_moves().create("test", move)->enumerate({spec_, variant_, device_}))
      out.push_back(i.text());
    return out;
  }
  [[nodiscard]] const Variant& variant() const { return variant_; }
  [[nodiscard]] const std::string& source() const { return variant_.source; }
  [[nodiscard]] bool has(const std::string& text) const {
    return variant_.source.find(text) != std::string::npos;
  }
  MovePath& tunable(const std::string& name, std::int64_t value) {
    variant_.tunables[name] = value;
    return *this;
  }
  /// Runs the variant on the host and compares with the spec's reference.
  MovePath& runs() {
    if (host_ == nullptr) host_ = std::make_shared<const HostCheck>(spec_);
    host_->passes(variant_);
    return *this;
  }

 private:
  KernelSpec spec_;
  Variant variant_;
  DeviceFacts device_;
  std::shared_ptr<const HostCheck> host_;  // from the first run on; copies of the path share it
};

}  // namespace warpath::test
