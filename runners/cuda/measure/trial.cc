#include "runners/cuda/measure/trial.h"

#include <algorithm>
#include <cmath>

#include "engine/base/round_up.h"
#include "engine/base/statistics.h"
#include "engine/base/stopwatch.h"
#include "runners/cuda/measure/baseline_reach.h"

namespace warpath::cuda {
namespace {

/// Of scratch memory, in one workload.
constexpr std::int64_t kMostScratchBytes = std::int64_t{4} << 30U;
constexpr std::size_t kScratchZoneBytes = std::size_t{1} << 20U;
/// A launch's length is the least of so many, unless one is long.
constexpr int kEstimates = 3;
constexpr double kLongEstimateNs = 1e6;

void allow_smem(const DriverApi& api, CUfunction function, std::int64_t bytes) {
  const CUresult result = allow_dynamic_smem(api, function, bytes);
  if (result == CUDA_SUCCESS) return;
  throw CandidateFault{Status::limits_exceeded,
                       "dynamic shared memory of " + std::to_string(bytes) +
                           " bytes is refused: " + error_text(api, result),
                       false};
}

}  // namespace

Trial::Trial(Bench& bench, Problem& problem, const TrialRequest& request, const Rival* rival)
    : paired_ns(problem.size()),
      baseline_ns(problem.size()),
      bench_(bench),
      problem_(problem),
      request_(request),
      rival_(rival),
      scratch_(problem.size()),
      timings_(problem.size()),
      estimates_(problem.size(), 0.0),
      launched_(problem.size(), false),
      fresh_(problem.size()) {
  for (std::size_t w = 0; w < workloads(); ++w) fresh_[w].assign(at(w).slots.size(), false);
  load();
  place_scratch();
}

void Trial::load() {
  launched_.assign(workloads(), false);
  for (const CandidateCode& code : candidate().codes) {
    std::string why;
    auto kernel = load_kernel(bench_.api(), code.cubin, code.entry, why, code.step_entries);
    if (!kernel) throw CandidateFault{Status::launch_error, why, false};
    kernels_.push_back(std::move(*kernel));
  }
  for (std::size_t w = 0; w < workloads(); ++w) {
    allow_smem(bench_.api(), kernel(w).function, numbers(w).dynamic_smem_bytes);
    if (const ExtraNumbers* const own = extra(w)) {
      for (const auto* steps : {&own->before, &own->after}) {
        for (const StepNumbers& step : *steps) {
          if (step.kind == LaunchStep::Kind::kernel)
            allow_smem(bench_.api(), step_kernel(w, step).function, step.launch.dynamic_smem_bytes);
        }
      }
    }
    int clusters = 1;
    for (const auto extent : numbers(w).cluster) clusters *= static_cast<int>(extent);
    constexpr int kPortableClusters = 8;
    if (clusters > kPortableClusters) {
      static_cast<void>(bench_.api().cuFuncSetAttribute(
          kernel(w).function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    }
  }
}

void Trial::reload() {
  kernels_.clear();
  load();
}

const LoadedKernel& Trial::kernel(std::size_t w) const {
  return kernels_[candidate().code_of[w]];
}

void Trial::launch(std::size_t w, std::size_t slot, CUstream stream) {
  launch_at(w, at(w).slots[slot].tensors, stream);
  launched_[w] = true;
  fresh_[w][slot] = false;
}

const KernelFunction& Trial::step_kernel(std::size_t w, const StepNumbers& step) const {
  const auto& entries = candidate().codes[candidate().code_of[w]].step_entries;
  const auto at = static_cast<std::size_t>(
      std::find(entries.begin(), entries.end(), step.kernel_name) - entries.begin());
  return kernel(w).others.at(at);
}

/// Like a slot's tensors: guard zones before, between and behind the buffers.
void Trial::place_scratch() {
  for (std::size_t w = 0; w < workloads(); ++w) {
    const ExtraNumbers* const own = extra(w);
    if (own == nullptr || own->scratch_bytes.empty()) continue;
    Slot& slot = scratch_[w];
    std::size_t total = kScratchZoneBytes;
    std::vector<std::size_t> begins, ends;
    std::int64_t wanted = 0;
    for (const std::int64_t bytes : own->scratch_bytes) {
      if (bytes > kMostScratchBytes - wanted) {
        throw CandidateFault{Status::limits_exceeded, "scratch buffers of more than 4 GiB", false};
      }
      wanted += bytes;
      begins.push_back(round_up(total, kScratchAlignment));
      ends.push_back(begins.back() + static_cast<std::size_t>(bytes));
      total = ends.back() + kScratchZoneBytes;
    }
    slot.memory.push_back(allocate(bench_.api(), total));
    const CUdeviceptr base = slot.memory.front().get();
    std::size_t zone = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      slot.tensors.push_back(base + begins[i]);
      slot.zones.push_back({base + zone, begins[i] - zone});
      zone = ends[i];
    }
    slot.zones.push_back({base + zone, total - zone});
    arm(slot, bench_.secret());
    poison_scratch(w, bench_.secret());
  }
}

void Trial::arm(Slot& slot, std::uint64_t seed) {
  slot.guard_seed = seed;
  for (const Slot::Zone& guard : slot.zones)
    bench_.harness().guard_fill(bench_.stream(), guard.address, guard.size_bytes, seed);
}

void Trial::arm_guards(std::size_t w, std::size_t slot, std::uint64_t seed) {
  arm(at(w).slots[slot], seed);
  arm(scratch_[w], seed);
}

void Trial::poison_scratch(std::size_t w, std::uint64_t pattern) {
  for (std::size_t i = 0; i < scratch_[w].tensors.size(); ++i) {
    bench_.harness().poison(bench_.stream(), scratch_[w].tensors[i],
                            static_cast<std::uint64_t>(extra(w)->scratch_bytes[i]), DType::u8,
                            pattern + 2 * i);
  }
}

void Trial::restore(std::size_t w, std::size_t slot, const InputSet& set) {
  fresh_[w][slot] = false;
  if (at(w).mutates_inputs()) problem_.restore(w, slot, set);
  poison_scratch(w, bench_.secret());
}

void Trial::run_step(std::size_t w,
                     const StepNumbers& step,
                     void** parameters,
                     const std::vector<CUdeviceptr>& addresses,
                     const std::vector<CUdeviceptr>& scratch,
                     CUstream stream) {
  if (step.kind == LaunchStep::Kind::kernel) {
    void* own[256];
    for (std::size_t i = 0; i < step.arguments.size(); ++i) own[i] = parameters[step.arguments[i]];
    return bench_.launch(step_kernel(w, step), step.launch, own, stream);
  }
  const auto& places = at(w).parameters;
  for (const std::uint32_t argument : step.arguments) {
    const bool is_scratch = argument >= places.size();
    const std::size_t i = is_scratch ? argument - places.size() : places[argument].tensor;
    const CUdeviceptr address = is_scratch ? scratch[i] : addresses[i];
    const auto bytes = is_scratch ? static_cast<std::size_t>(extra(w)->scratch_bytes[i])
                                  : at(w).tensors[i].size_bytes;
    if (bytes == 0) continue;
    require(bench_.api(), bench_.api().cuMemsetD8Async(address, 0, bytes, stream),
            "cannot zero a buffer");
  }
}

void Trial::launch_at(std::size_t w,
                      const std::vector<CUdeviceptr>& addresses,
                      const std::vector<CUdeviceptr>& scratch,
                      CUstream stream) {
  const auto& places = at(w).parameters;
  void* parameters[256 + kMaxExtras];
  for (std::size_t i = 0; i < places.size(); ++i) {
    parameters[i] = places[i].bytes.empty()
                        ? static_cast<void*>(const_cast<CUdeviceptr*>(&addresses[places[i].tensor]))
                        : const_cast<std::byte*>(places[i].bytes.data());
  }
  for (std::size_t i = 0; i < scratch.size(); ++i)
    parameters[places.size() + i] = const_cast<CUdeviceptr*>(&scratch[i]);
  const ExtraNumbers* const own = extra(w);
  if (own != nullptr) {
    for (const StepNumbers& step : own->before)
      run_step(w, step, parameters, addresses, scratch, stream);
  }
  bench_.launch(kernel(w), numbers(w), at(w).structs, {parameters, places.size() + scratch.size()},
                stream);
  if (own != nullptr) {
    for (const StepNumbers& step : own->after)
      run_step(w, step, parameters, addresses, scratch, stream);
  }
}

void Trial::launch_fresh(std::size_t w,
                         std::size_t slot,
                         const InputSet& set,
                         std::uint64_t pattern) {
  problem_.restore(w, slot, set);
  problem_.poison(w, slot, pattern);
  poison_scratch(w, pattern);
  // The first launch of a module is slow, and short ones need a clock of their own.
  const bool timed = launched_[w] && estimates_[w] == 0;
  const auto enqueue = [&] { problem_.with_scalars_of(w, set, [&] { launch(w, slot); }); };
  if (timed) {
    const double ns = bench_.time(enqueue, "a launch");
    if (ns >= kSteadyNs) estimates_[w] = ns;
  } else {
    enqueue();
  }
  fresh_[w][slot] = true;
}

const InputSet& Trial::declared_set(std::size_t w, std::size_t slot) {
  const std::size_t odd = at(w).odd_slot();
  return *at(w).sets[slot < odd ? (slot + request_.seed) % odd : slot];
}

Comparison Trial::compare(std::size_t w,
                          std::size_t slot,
                          const InputSet& set,
                          std::string_view doing) {
  return compare_at(w, at(w).slots[slot].tensors, set, doing);
}

bool Trial::may_vary() const {
  return nondeterministic || std::ranges::any_of(candidate().codes, [](const CandidateCode& code) {
           return code.has_atomics;
         });
}

std::vector<Tolerance> Trial::tolerances(std::size_t w, const InputSet& set) {
  std::vector<Tolerance> out;
  for (std::size_t t = 0; t < at(w).tensors.size(); ++t) {
    const Tolerance own = tolerance_on(set.family, problem_.spec(), at(w).tensors[t].arg->name);
    out.push_back(set.result_sizes.empty() ? own : scaled(own, set.family, set.result_sizes[t]));
  }
  return out;
}

std::vector<Comparison> Trial::compare_each(std::size_t w,
                                            const std::vector<CUdeviceptr>& addresses,
                                            const InputSet& set,
                                            const std::vector<Tolerance>& tolerances,
                                            std::string_view doing) {
  Answers& answers = bench_.answers();
  answers.clear();
  struct Asked {
    std::size_t tensor, place;
    std::uint64_t nonce;
  };
  std::vector<Asked> asked;
  const auto& tensors = at(w).tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    if (are_given(set.infinities) && !info(tensors[t].dtype).is_float)
      continue;  // as compare() has it
    const MaskedReference& reference = set.reference[t];
    const CompareRule rule{.nonce = bench_.secret(),
                           .elements = tensors[t].elements,
                           .key = reference.key,
                           .atol = tolerances[t].atol,
                           .rtol = tolerances[t].rtol,
                           .output = tensors[t].dtype,
                           .reference = reference.dtype,
                           .exact = tolerances[t].exact,
                           .infinities = set.infinities};
    asked.push_back({t, answers.place<DeviceComparison>(), rule.nonce});
    bench_.harness().compare(bench_.stream(), addresses[t], reference.memory.get(), rule,
                             answers.address(asked.back().place));
  }
  bench_.collect(doing);
  std::vector<Comparison> out(tensors.size(), Comparison{.passed = true, .detail = ""});
  for (const Asked& one : asked) {
    out[one.tensor] = finish(answers.at<DeviceComparison>(one.place), tolerances[one.tensor],
                             tensors[one.tensor].shape, one.nonce);
  }
  return out;
}

CompareUnder Trial::compare_one(std::size_t w,
                                std::size_t tensor,
                                const std::vector<CUdeviceptr>& addresses,
                                const InputSet& set,
                                std::string_view doing) {
  return [=, this, &addresses, &set](const Tolerance& tolerance) {
    const std::vector<Tolerance> same(at(w).tensors.size(), tolerance);
    return compare_each(w, addresses, set, same, doing)[tensor];
  };
}

Comparison Trial::compare_at(std::size_t w,
                             const std::vector<CUdeviceptr>& addresses,
                             const InputSet& set,
                             std::string_view doing) {
  const auto& tensors = at(w).tensors;
  std::vector<Tolerance> by = tolerances(w, set);
  std::vector<Comparison> found = compare_each(w, addresses, set, by, doing);
  const auto refused = [&](std::size_t t) {
    return tensors[t].is_written() && !by[t].exact && !found[t].passed;
  };
  for (std::size_t t = 0; t < tensors.size() && !set.result_sizes.empty(); ++t) {
    if (refused(t))
      found[t] = judge_by_reach(found[t], by[t], reach_on(problem_, w, set)[t],
                                compare_one(w, t, addresses, set, doing));
  }
  const bool fails =
      std::ranges::any_of(found, [](const Comparison& comparison) { return !comparison.passed; });
  const FamilyBaseline* const limits =
      fails && (is_near_range_end(set.family) || are_given(set.infinities))
          ? &baseline_on(problem_, w, set)
          : nullptr;
  Comparison worst{.passed = true, .detail = ""};
  bool first = true;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written() || (limits != nullptr && !limits->judges(t))) continue;
    Comparison& comparison = found[t];
    const bool replaces =
        first || (!comparison.passed && worst.passed) ||
        (comparison.passed == worst.passed && comparison.worst_ratio > worst.worst_ratio);
    if (!replaces) continue;
    comparison.detail = tensors[t].arg->name + ": " + comparison.detail;
    worst = std::move(comparison);
    first = false;
  }
  return worst;
}

std::vector<double> Trial::reference_scale(std::size_t w, const InputSet& set) {
  Answers& answers = bench_.answers();
  answers.clear();
  const auto& tensors = at(w).tensors;
  std::vector<std::size_t> places(tensors.size());
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    const MaskedReference& reference = set.reference[t];
    const CompareRule rule{.nonce = bench_.secret(),
                           .elements = tensors[t].elements,
                           .key = reference.key,
                           .atol = 0,
                           .rtol = 0,
                           .output = tensors[t].dtype,
                           .reference = reference.dtype,
                           .exact = false,
                           .infinities = Infinities::none};
    places[t] = answers.place<DeviceComparison>();
    bench_.harness().compare(bench_.stream(), at(w).slots[0].tensors[t], reference.memory.get(),
                             rule, answers.address(places[t]));
  }
  bench_.collect("references");
  std::vector<double> scale(tensors.size(), 0.0);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    const auto& record = answers.at<DeviceComparison>(places[t]);
    const double square = record.reference.middle;  // results of ordinary size
    if (record.finite > 0) scale[t] = std::sqrt(square / static_cast<double>(record.finite));
  }
  return scale;
}

Hash128 Trial::fingerprint(std::size_t w, std::size_t slot, std::string_view doing) {
  Answers& answers = bench_.answers();
  answers.clear();
  const std::uint64_t nonce = bench_.secret();
  const auto& tensors = at(w).tensors;
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    places.push_back(answers.place<DeviceDigest>());
    bench_.harness().digest(bench_.stream(), at(w).slots[slot].tensors[t], tensors[t].size_bytes,
                            kDigestSeed, nonce, answers.address(places.back()));
  }
  bench_.collect(doing);
  Hasher hash;
  for (const std::size_t place : places) {
    const auto& digest = answers.at<DeviceDigest>(place);
    if (digest.nonce != nonce) {
      throw CandidateFault{Status::rejected, "a fingerprint of outputs was not written", true};
    }
    hash.add(static_cast<std::uint64_t>(digest.low)).add(static_cast<std::uint64_t>(digest.high));
  }
  return hash.digest();
}

std::string Trial::profile() {
  std::size_t w = 0;
  while (w + 1 < workloads() && at(w).workload->role != WorkloadRole::score) ++w;
  std::string why;
  Counters* const device_counters = bench_.counters(why);
  if (device_counters == nullptr) return why;
  const InputSet& set = declared_set(w, 0);
  const Stopwatch watch;
  const auto readings = device_counters->collect(
      [&] {
        problem_.restore(w, 0, set);
        poison_scratch(w, bench_.secret());
        bench_.flush_l2();
      },
      [&] { launch(w, 0); }, why);
  bench_.synchronize("a profiled launch");
  if (!readings) return why;
  counters = *readings;
  add_facts(counters, diagnosis);
  diagnosis.facts["counter_seconds"] = {watch.seconds(), FactSource::measured};
  return "";
}

const Sampling& Trial::timing(std::size_t w) {
  if (!timings_[w]) timings_[w] = sample(*this, w);
  return *timings_[w];
}

double Trial::launch_ns(std::size_t w) {
  if (estimates_[w] > 0) return estimates_[w];
  const InputSet& set = declared_set(w, 0);
  // the first launch of a module is slow
  if (!launched_[w]) launch_fresh(w, 0, set, bench_.secret());
  // Whatever disturbs a launch makes it longer, and how often gates repeat a short one hangs on
  // this.
  double least = INFINITY;
  for (int i = 0; i < kEstimates && (i == 0 || least < kLongEstimateNs); ++i) {
    if (must_restore(w)) restore(w, 0, set);
    least = std::min(least, bench_.time([&] { launch(w, 0); }, "a launch"));
  }
  return estimates_[w] = least;
}

bool Trial::is_steady(std::size_t w) {
  return request_.stage == Stage::screening && launch_ns(w) >= kSteadyNs;
}

int Trial::repeats(std::size_t w, int wanted, int least, double budget_ns) {
  return static_cast<int>(std::clamp(budget_ns / launch_ns(w), static_cast<double>(least),
                                     static_cast<double>(wanted)));
}

template <class TimeOf>
double Trial::objective_of(const TimeOf& time_ns) {
  WeightedMean times, logs;
  for (std::size_t w = 0; w < workloads(); ++w) {
    if (at(w).workload->role != WorkloadRole::score) continue;
    const double ns = time_ns(w);
    const double weight = at(w).workload->weight;
    times.add(ns, weight);
    logs.add(std::log(ns), weight);
  }
  if (times.weight <= 0) return 0;
  return problem_.spec().objective == Objective::weighted ? times.value() : std::exp(logs.value());
}

double Trial::objective_ns() {
  return objective_of([&](std::size_t w) { return median(timing(w).scored_ns()); });
}

double Trial::objective_if(std::size_t w, double ns) {
  return objective_of([&](std::size_t other) {
    if (other == w) return ns;
    return timings_[other] ? median(timings_[other]->scored_ns()) : launch_ns(other);
  });
}

}  // namespace warpath::cuda
