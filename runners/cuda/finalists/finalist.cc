#include "runners/cuda/finalists/finalist.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cuda/finalists/small_workload.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {
namespace {

/// Checked launches only: instrumented and large launches have no time.
CudaOptions checking_options(CudaOptions options, std::string gates) {
  options.screening = std::move(gates);
  options.confirmation.clear();
  options.final.clear();
  options.input_sets = 2;
  options.launch_seconds *= 20;  // instrumented kernels are slow
  return options;
}

}  // namespace

const Workload* scored_workload(const FinalistSetup& setup) {
  for (const std::string& name : setup.problem.workloads) {
    const auto workload = std::ranges::find(setup.spec.workloads, name, &Workload::name);
    if (workload != setup.spec.workloads.end() && workload->role == WorkloadRole::score)
      return &*workload;
  }
  return nullptr;
}

std::string sizes_text(const Workload& workload, const Workload& declared) {
  std::string out;
  for (const auto& [name, value] : workload.scalars) {
    const auto before = declared.scalars.find(name);
    const bool same = before != declared.scalars.end() && before->second == value;
    if (!same && std::holds_alternative<std::int64_t>(value))
      out +=
          (out.empty() ? "" : ", ") + name + " = " + std::to_string(std::get<std::int64_t>(value));
  }
  return out;
}

std::optional<FinalistCase> build_case(const FinalistSetup& setup,
                                       const KernelSpec& other,
                                       std::string& why) {
  const std::vector<const Workload*> workloads{&other.workloads.front()};
  const Variant baseline = baseline_variant(other);
  FinalistCase out;
  out.problem = setup.problem;
  out.problem.spec = to_json(other).dump();
  out.problem.workloads = {other.workloads.front().name};
  const BaselineText text = setup.builder.text_of(other, baseline, workloads);
  const auto built = [&](const Variant& variant, const BaselineText* beside, Candidate& into) {
    Build build =
        setup.builder.build(other, variant, workloads, beside, Stage::screening, setup.stop);
    if (build.candidate.key.empty()) why = build.log;
    into = std::move(build.candidate);
    return !into.key.empty();
  };
  // The version of the declared sizes, which the others may not select.
  const Workload* const declared = scored_workload(setup);
  const Variant kernel = declared == nullptr
                             ? setup.variant
                             : alone(version_for(setup.spec, setup.variant, *declared));
  if (!built(baseline, nullptr, out.problem.baseline) || !built(kernel, &text, out.candidate))
    return std::nullopt;
  if (const auto reference = reference_variant(other)) {
    if (!built(*reference, nullptr, out.problem.reference.emplace())) return std::nullopt;
  }
  return out;
}

std::set<std::string> integers_in_code(const FinalistSetup& setup, const Workload& workload) {
  const std::vector<const Workload*> workloads{&workload};
  const BaselineText own = setup.builder.text_of(setup.spec, setup.variant, workloads);
  const BaselineText theirs =
      setup.builder.text_of(setup.spec, baseline_variant(setup.spec), workloads);
  return integers_in_code(setup.spec, theirs.ptx.front(), own.ptx.front());
}

LaneSetup checking_lane(const FinalistSetup& setup,
                        std::string label,
                        std::string gates,
                        double seconds) {
  LaneSetup lane;
  lane.label = std::move(label);
  lane.argv = {setup.program, "worker", "device", "--gpu", std::to_string(setup.gpu)};
  lane.options = group_to_json(checking_options(setup.options, std::move(gates))).dump();
  lane.spare = false;
  lane.prepare_seconds = lane.evaluation_seconds = seconds;
  return lane;
}

TrialReply screen(DeviceLane& lane, const Candidate& candidate, const std::stop_token& stop) {
  Evaluate request;
  request.candidate = candidate;
  request.untimed = true;
  return lane.evaluate(request, stop);
}

}  // namespace warpath::cuda
