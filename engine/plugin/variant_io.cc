#include "engine/plugin/variant_io.h"

#include <array>
#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

using nlohmann::json;

std::vector<std::string> texts(const JsonCursor& view) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < view.size(); ++i) out.push_back(any_text(view.element(i)));
  return out;
}

json texts_to_json(const std::vector<std::string>& texts) {
  json out = json::array();
  for (const std::string& text : texts) out.push_back(any_text_to_json(text));
  return out;
}

std::map<std::string, std::int64_t, std::less<>> integers(const JsonCursor& view) {
  if (!view.value().is_object()) view.fail("an object of integers");
  std::map<std::string, std::int64_t, std::less<>> out;
  for (const auto& [name, unused] : view.value().items()) out[name] = view.at(name).integer();
  return out;
}

json to_json(const std::array<Expression, 3>& axes) {
  return {axes[0].text(), axes[1].text(), axes[2].text()};
}

Expression expression(const JsonCursor& view) {
  return Expression::parse(view.text(), view.place());
}

std::array<Expression, 3> axes(const JsonCursor& view) {
  if (view.size() != 3) view.fail("three expressions");
  return {expression(view.element(0)), expression(view.element(1)), expression(view.element(2))};
}

json scratch_to_json(const std::vector<ScratchBuffer>& buffers) {
  json out = json::array();
  for (const ScratchBuffer& buffer : buffers)
    out.push_back(
        {{"name", any_text_to_json(buffer.name)}, {"size_bytes", buffer.size_bytes.text()}});
  return out;
}

std::vector<ScratchBuffer> scratch(const JsonCursor& view) {
  std::vector<ScratchBuffer> out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const JsonCursor at = view.element(i);
    require_only(at, {"name", "size_bytes"});
    out.push_back({.name = any_text(at.at("name")), .size_bytes = expression(at.at("size_bytes"))});
  }
  return out;
}

json steps_to_json(const std::vector<LaunchStep>& steps) {
  json out = json::array();
  for (const LaunchStep& step : steps) {
    const json arguments = texts_to_json(step.arguments);
    if (step.kind == LaunchStep::Kind::zero) {
      out.push_back({{"zero", arguments}});
    } else {
      out.push_back({{"kernel", any_text_to_json(step.kernel_name)},
                     {"launch", to_json(step.launch)},
                     {"arguments", arguments}});
    }
  }
  return out;
}

std::vector<LaunchStep> steps(const JsonCursor& view) {
  std::vector<LaunchStep> out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const JsonCursor at = view.element(i);
    if (const auto zero = at.find("zero")) {
      require_only(at, {"zero"});
      out.push_back({.kind = LaunchStep::Kind::zero,
                     .kernel_name = "",
                     .launch = {},
                     .arguments = texts(*zero)});
      continue;
    }
    require_only(at, {"kernel", "launch", "arguments"});
    out.push_back({.kind = LaunchStep::Kind::kernel,
                   .kernel_name = any_text(at.at("kernel")),
                   .launch = launch_from_json(at.at("launch").value(), at.at("launch").place()),
                   .arguments = texts(at.at("arguments"))});
  }
  return out;
}

}  // namespace

json to_json(const LaunchPlan& plan) {
  return {{"grid", to_json(plan.grid)},
          {"block", to_json(plan.block)},
          {"cluster", to_json(plan.cluster)},
          {"dynamic_smem_bytes", plan.dynamic_smem_bytes.text()}};
}

LaunchPlan launch_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  require_only(view, {"grid", "block", "cluster", "dynamic_smem_bytes"});
  return {.grid = axes(view.at("grid")),
          .block = axes(view.at("block")),
          .cluster = axes(view.at("cluster")),
          .dynamic_smem_bytes = expression(view.at("dynamic_smem_bytes"))};
}

json to_json(const VariantPatch& patch) {
  json out = json::object();
  if (patch.source) out["source"] = any_text_to_json(*patch.source);
  if (patch.kernel_name) out["kernel_name"] = any_text_to_json(*patch.kernel_name);
  if (patch.launch) out["launch"] = to_json(*patch.launch);
  if (patch.compiler_options) out["compiler_options"] = texts_to_json(*patch.compiler_options);
  if (patch.tunables) out["tunables"] = *patch.tunables;
  if (patch.scratch) out["scratch"] = scratch_to_json(*patch.scratch);
  if (patch.before) out["before"] = steps_to_json(*patch.before);
  if (patch.after) out["after"] = steps_to_json(*patch.after);
  return out;
}

VariantPatch patch_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  require_only(view, {"source", "kernel_name", "launch", "compiler_options", "tunables", "scratch",
                      "before", "after"});
  VariantPatch out;
  if (view.find("source")) out.source = any_text(view.at("source"));
  if (view.find("kernel_name")) out.kernel_name = any_text(view.at("kernel_name"));
  if (view.find("launch"))
    out.launch = launch_from_json(view.at("launch").value(), view.at("launch").place());
  if (view.find("compiler_options")) out.compiler_options = texts(view.at("compiler_options"));
  if (view.find("tunables")) out.tunables = integers(view.at("tunables"));
  if (view.find("scratch")) out.scratch = scratch(view.at("scratch"));
  if (view.find("before")) out.before = steps(view.at("before"));
  if (view.find("after")) out.after = steps(view.at("after"));
  return out;
}

json to_json(const Variant& variant) {
  VariantPatch all{.source = variant.source,
                   .kernel_name = variant.kernel_name,
                   .launch = variant.launch,
                   .compiler_options = variant.compiler_options,
                   .tunables = variant.tunables};
  if (!variant.scratch.empty()) all.scratch = variant.scratch;
  if (!variant.before.empty()) all.before = variant.before;
  if (!variant.after.empty()) all.after = variant.after;
  return to_json(all);
}

Variant variant_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  for (const char* key : {"source", "kernel_name", "launch", "compiler_options", "tunables"}) {
    static_cast<void>(view.at(key));  // throws where one is missing
  }
  return patched({}, patch_from_json(j, place));
}

json to_json(const MoveInstance& instance) {
  return {{"move", instance.move}, {"site", instance.site}, {"parameters", instance.parameters}};
}

MoveInstance instance_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  require_only(view, {"move", "site", "parameters"});
  return {.move = view.at("move").text(),
          .site = view.at("site").text(),
          .parameters = integers(view.at("parameters"))};
}

json to_json(const Proposal& proposal) {
  json out{{"instance", to_json(proposal.instance)},
           {"weight", number_to_json(proposal.weight)},
           {"source", proposal.source},
           {"predicted_log_gain", number_to_json(proposal.predicted_log_gain)},
           {"why", any_text_to_json(proposal.why)}};
  if (proposal.variant) out["variant"] = to_json(*proposal.variant);
  return out;
}

Proposal proposal_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  require_only(view, {"instance", "weight", "source", "predicted_log_gain", "why", "variant"});
  Proposal out;
  out.instance = instance_from_json(view.at("instance").value(), view.at("instance").place());
  out.weight = any_number(view.at("weight"));
  out.source = view.at("source").text();
  out.predicted_log_gain = any_number(view.at("predicted_log_gain"));
  out.why = any_text(view.at("why"));
  if (view.find("variant"))
    out.variant = variant_from_json(view.at("variant").value(), view.at("variant").place());
  return out;
}

}  // namespace warpath
