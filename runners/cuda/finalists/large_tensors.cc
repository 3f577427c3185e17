#include "runners/cuda/finalists/large_tensors.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "runners/cuda/finalists/large_workload.h"
#include "runners/cuda/plan/gate.h"

namespace warpath::cuda {
namespace {

const std::string kLargeTensors(kLargeTensorsGate);
constexpr const char* kGates =
    "launch_contract,reference,output_poison,guard_zones,inputs_unchanged";
constexpr double kLeastSeconds = 2, kSeconds = 20;  // for placing a workload, and an evaluation
constexpr std::int64_t kFewBlocks = 4096;

/// The baseline kernel is the reference here, and rounding errors grow with the sums: only gross
/// differences count.
Tolerance widened_to_offsets(Tolerance tolerance) {
  constexpr double kFactor = 256;
  const auto wide = [](double own) { return std::max(own, std::min(kFactor * own, 0.05)); };
  tolerance.atol *= kFactor;
  tolerance.rtol = wide(tolerance.rtol);
  tolerance.norm = wide(tolerance.norm);
  return tolerance;
}

/// The spec with one workload, and with a reference that a device computes.
KernelSpec spec_at(const KernelSpec& spec, const Workload& workload) {
  KernelSpec out = spec;
  out.workloads = {workload};
  if (!std::holds_alternative<ReferenceKernel>(out.reference)) out.reference = std::monostate();
  out.tolerance.try_emplace("");
  for (auto& [output, tolerance] : out.tolerance) tolerance = widened_to_offsets(tolerance);
  return out;
}

double launch_ns_of_baseline(const FinalistSetup& setup, const Workload& workload) {
  for (const WorkloadTiming& timing : setup.timings) {
    if (timing.workload == workload.name && !timing.baseline_samples_ns.empty())
      return median(timing.baseline_samples_ns);
  }
  return 0;
}

/// The result for one workload.
struct Seen {
  enum class What { right, wrong, not_told } what = What::not_told;
  std::string detail;  ///< of what is right: under which condition
};

bool is_wrong(const TrialReply& reply) {
  return reply.status == Status::wrong_result || reply.status == Status::rejected ||
         reply.status == Status::crashed;
}

/// The candidate in few blocks. A loop in steps of the whole grid does the same work there; its
/// index, which goes past the end by the number of threads, has room. nullopt: they are few.
std::optional<Candidate> in_few_blocks(const Candidate& candidate) {
  Candidate out = candidate;
  for (LaunchNumbers& numbers : out.numbers)
    numbers.grid[0] = std::min(numbers.grid[0], kFewBlocks);
  if (out.numbers == candidate.numbers) return std::nullopt;
  out.key += ", few blocks";
  return out;
}

Seen run(const FinalistSetup& setup, DeviceLane& lane, const Workload& workload) try {
  using enum Seen::What;
  std::string why;
  const std::optional<FinalistCase> of = build_case(setup, spec_at(setup.spec, workload), why);
  if (!of) return {not_told, why};
  lane.prepare(of->problem);
  const TrialReply own = screen(lane, of->problem.baseline, setup.stop);
  if (!own.trouble.empty()) return {not_told, own.trouble};
  if (own.status != Status::ok)
    return {not_told, "the spec's kernel is not right there: " + own.log};
  // Somebody else may have killed the worker: a candidate whose worker dies gets a second try.
  TrialReply reply = screen(lane, of->candidate, setup.stop);
  if (reply.status == Status::crashed && reply.trouble.empty())
    reply = screen(lane, of->candidate, setup.stop);
  if (!reply.trouble.empty()) return {not_told, reply.trouble};
  if (reply.status == Status::ok) return {right, ""};
  if (!is_wrong(reply)) return {not_told, reply.log};
  if (const auto few = in_few_blocks(of->candidate)) {
    const TrialReply again = screen(lane, *few, setup.stop);
    if (again.trouble.empty() && again.status == Status::ok)
      return {right, "with at most " + std::to_string(kFewBlocks) +
                         " blocks, with more it is not: " + reply.log};
  }
  return {wrong, reply.log};
} catch (const Error& error) {  // memory that does not suffice after all
  return {Seen::What::not_told, error.what()};
}

}  // namespace

GateResult check_large_tensors(const FinalistSetup& setup) {
  using enum GateResult::Answer;
  const Workload* const declared = scored_workload(setup);
  if (declared == nullptr) return {kLargeTensors, not_run, "no workload of role score"};
  try {
    DeviceLane lane(checking_lane(setup, "a large workload", kGates,
                                  std::clamp(setup.seconds, kLeastSeconds, kSeconds)));
    LargePlan plan =
        larger_workloads(setup.spec, *declared, integers_in_code(setup, *declared),
                         {.memory_bytes = static_cast<std::int64_t>(lane.open().free_bytes),
                          .launch_ns = launch_ns_of_baseline(setup, *declared)});
    if (plan.beyond.empty())
      return {kLargeTensors, not_run,
              plan.reason.empty() ? "the declared workload has tensors as large" : plan.reason};
    lane.equip({.harness_cubin = setup.tools.harness_cubin, .peaks_cubin = ""});
    const auto text = [&](const LargeWorkload& at) { return sizes_text(at.workload, *declared); };
    const Seen within = run(setup, lane, plan.within.workload);
    if (within.what != Seen::What::right) {
      const std::string what =
          within.what == Seen::What::wrong
              ? "it holds for the spec's sizes: at " + text(plan.within) + " it is wrong"
              : "at " + text(plan.within);
      return {kLargeTensors, not_run, what + ": " + within.detail};
    }
    const LargeWorkload* spoken_for = nullptr;
    std::string condition;
    for (const LargeWorkload& at : plan.beyond) {
      const Seen seen = run(setup, lane, at.workload);
      if (seen.what == Seen::What::wrong) {
        return {kLargeTensors, fail,
                "with " + text(at) + ", a tensor of " + std::to_string(at.bytes) +
                    " bytes, it is wrong, with " + text(plan.within) +
                    " it is right: " + seen.detail};
      }
      if (seen.what == Seen::What::not_told) {
        plan.reason = "at " + text(at) + ": " + seen.detail;
        break;
      }
      spoken_for = &at;
      condition = seen.detail;
    }
    if (spoken_for == nullptr) return {kLargeTensors, not_run, plan.reason};
    std::string up_to = "up to " + text(*spoken_for) + ", tensors of " +
                        std::to_string(spoken_for->bytes) + " bytes, " +
                        std::to_string(spoken_for->elements) + " elements";
    if (!condition.empty()) up_to += "; " + condition;
    return {kLargeTensors, pass,
            plan.reason.empty() ? up_to : up_to + "; no further: " + plan.reason};
  } catch (const Error& error) {
    return {kLargeTensors, not_run, error.what()};
  }
}

}  // namespace warpath::cuda
