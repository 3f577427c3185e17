#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "moves/propose/move_script.h"
#include "register_moves.h"
#include "tests/support/host_check.h"

using namespace warpath;

namespace {

const std::string kData = WARPATH_SOURCE_ROOT "/tests/data/";

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

DeviceFacts device(bool gpu) {
  DeviceFacts out;
  out.runner = gpu ? "cuda" : "host", out.is_gpu = gpu, out.arch = gpu ? "sm_90a" : "";
  out.multiprocessors = gpu ? 132 : 3;
  return out;
}

/// The kernel after a path of moves; refuses with the step and its reason.
Variant after_path(const KernelSpec& spec, const std::string& path, bool gpu) {
  const MoveRegistry& registry = registered_moves();
  const MoveTable moves(registry);
  const DeviceFacts facts = device(gpu);
  Variant out = baseline_variant(spec);
  for (const MoveInstance& wanted : parse_move_script(path, spec.name)) {
    std::string why;
    const Move* move = moves.find(wanted.move);
    REQUIRE(move != nullptr);
    const auto step = apply_step(*move, {spec, out, facts}, wanted, why);
    INFO(wanted.text(), ": ", why, "\n", out.source);
    REQUIRE(step.has_value());
    out = step->variant;
  }
  return out;
}

/// The kernel that a person wrote for the same spec.
Variant expert(const KernelSpec& spec) {
  const auto line = nlohmann::json::parse(text_of(kData + "idioms/" + spec.name + "_expert.jsonl"));
  const auto expression = [](const nlohmann::json& value) {
    return Expression::parse(value.is_string() ? value.get<std::string>() : value.dump(), "expert");
  };
  const auto axes = [&](const nlohmann::json& given) {
    std::array<Expression, 3> out{Expression(1), Expression(1), Expression(1)};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string axis(1, "xyz"[i]);
      if (given.contains(axis)) out[i] = expression(given.at(axis));
    }
    return out;
  };
  Variant out = baseline_variant(spec);
  const nlohmann::json& launch = line.at("launch");
  out.source = text_of(kData + "idioms/" + line.at("source_file").get<std::string>());
  out.launch.grid = axes(launch.at("grid")), out.launch.block = axes(launch.at("block"));
  if (launch.contains("dynamic_smem_bytes"))
    out.launch.dynamic_smem_bytes = expression(launch.at("dynamic_smem_bytes"));
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("idioms");

TEST_CASE("a naive kernel, what a person makes of it and what moves make of it agree") {
  const auto paths = nlohmann::json::parse(text_of(kData + "idioms.json"))
                         .get<std::map<std::string, std::string>>();
  const std::vector<KernelSpec> specs = load_specs(kData + "idioms");
  CHECK(specs.size() == 12);
  for (const KernelSpec& spec : specs) {
    CAPTURE(spec.name);
    REQUIRE(paths.contains(spec.name));
    const test::HostCheck host(spec);
    host.passes(baseline_variant(spec));
    host.passes(expert(spec));
    host.passes(after_path(spec, paths.at(spec.name), false));
  }
}

TEST_CASE("the paths apply for the sizes of a GPU, too") {
  const auto paths = nlohmann::json::parse(text_of(kData + "idioms.json"))
                         .get<std::map<std::string, std::string>>();
  for (const KernelSpec& spec : load_specs(kData + "idioms")) {
    CAPTURE(spec.name);
    CHECK(after_path(spec, paths.at(spec.name), true).source != spec.source);
  }
}

TEST_SUITE_END();
