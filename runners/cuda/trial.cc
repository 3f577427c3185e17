#include "runners/cuda/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/statistics.h"

namespace warpath::cuda {

Trial::Trial(Bench& bench, Problem& problem, const TrialRequest& request, const Rival* rival)
    : paired_ns(problem.size()),
      baseline_ns(problem.size()),
      bench_(bench),
      problem_(problem),
      request_(request),
      rival_(rival),
      timings_(problem.size()),
      estimates_(problem.size(), 0.0) {
  load();
}

void Trial::load() {
  for (const CandidateCode& code : candidate().codes) {
    std::string why;
    auto kernel = load_kernel(bench_.api(), code.cubin, code.entry, why);
    if (!kernel) throw CandidateFault{Status::launch_error, why, false};
    kernels_.push_back(std::move(*kernel));
  }
  for (std::size_t w = 0; w < workloads(); ++w) {
    const CUresult result = allow_dynamic_smem(bench_.api(), kernel(w).function,
                                               numbers(w).dynamic_smem_bytes);
    if (result != CUDA_SUCCESS) {
      throw CandidateFault{Status::limits_exceeded,
                           "dynamic shared memory of " +
                               std::to_string(numbers(w).dynamic_smem_bytes) +
                               " bytes is refused: " + error_text(bench_.api(), result),
                           false};
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

const LoadedKernel& Trial::kernel(std::size_t w) const { return kernels_[candidate().code_of[w]]; }

void Trial::launch(std::size_t w, std::size_t slot, CUstream stream) {
  launch_at(w, at(w).slots[slot].tensors, stream);
}

void Trial::launch_at(std::size_t w, const std::vector<CUdeviceptr>& addresses, CUstream stream) {
  const auto& places = at(w).parameters;
  void* parameters[256];
  for (std::size_t i = 0; i < places.size(); ++i) {
    parameters[i] = places[i].bytes.empty()
                        ? static_cast<void*>(const_cast<CUdeviceptr*>(&addresses[places[i].tensor]))
                        : const_cast<std::byte*>(places[i].bytes.data());
  }
  bench_.launch(kernel(w), numbers(w), parameters, stream);
}

void Trial::launch_fresh(std::size_t w, std::size_t slot, const InputSet& set,
                         std::uint64_t pattern) {
  problem_.restore(w, slot, set);
  problem_.poison(w, slot, pattern);
  launch(w, slot);
}

const InputSet& Trial::declared_set(std::size_t w, std::size_t slot) {
  const auto count = static_cast<std::uint64_t>(bench_.options().input_sets);
  return *at(w).sets[(slot + request_.seed) % count];
}

Comparison Trial::compare(std::size_t w, std::size_t slot, const InputSet& set,
                          std::string_view doing) {
  return compare_at(w, at(w).slots[slot].tensors, set, doing);
}

Comparison Trial::compare_at(std::size_t w, const std::vector<CUdeviceptr>& addresses,
                             const InputSet& set, std::string_view doing) {
  Answers& answers = bench_.answers();
  answers.clear();
  // An absolute bound is meant for declared values: for others it grows and shrinks with the results.
  const auto tolerance_for = [&](std::size_t t, const InputSet& of) {
    Tolerance tolerance = problem_.spec().tolerance_of(at(w).tensors[t].arg->name);
    if (!of.result_scale.empty()) tolerance.atol *= of.result_scale[t];
    return tolerance;
  };
  struct Asked {
    std::size_t tensor, place;
    std::uint64_t nonce;
  };
  std::vector<Asked> asked;
  const auto& tensors = at(w).tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    const Tolerance tolerance = tolerance_for(t, set);
    const MaskedReference& reference = set.reference[t];
    const CompareRule rule{.nonce = bench_.secret(),
                           .elements = tensors[t].elements,
                           .key = reference.key,
                           .atol = tolerance.atol,
                           .rtol = tolerance.rtol,
                           .output = tensors[t].dtype,
                           .reference = reference.dtype,
                           .exact = tolerance.exact};
    asked.push_back({t, answers.place<DeviceComparison>(), rule.nonce});
    bench_.harness().compare(bench_.stream(), addresses[t], reference.memory.get(), rule,
                             answers.address(asked.back().place));
  }
  bench_.collect(doing);
  Comparison worst;
  bool first = true;
  for (const Asked& one : asked) {
    const auto& tensor = tensors[one.tensor];
    Comparison comparison =
        finish(answers.at<DeviceComparison>(one.place), tolerance_for(one.tensor, set), tensor.shape,
               one.nonce);
    const bool replaces = first || (!comparison.passed && worst.passed) ||
                          (comparison.passed == worst.passed &&
                           comparison.worst_ratio > worst.worst_ratio);
    if (!replaces) continue;
    comparison.detail = tensor.arg->name + ": " + comparison.detail;
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
                           .exact = false};
    places[t] = answers.place<DeviceComparison>();
    bench_.harness().compare(bench_.stream(), at(w).slots[0].tensors[t], reference.memory.get(), rule,
                             answers.address(places[t]));
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
  const auto begin = std::chrono::steady_clock::now();
  const auto readings = device_counters->collect(
      [&] {
        problem_.restore(w, 0, set);
        bench_.flush_l2();
      },
      [&] { launch(w, 0); }, why);
  bench_.synchronize("a profiled launch");
  if (!readings) return why;
  counters = *readings;
  add_facts(counters, diagnosis);
  diagnosis.facts["counter_seconds"] = {
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), FactSource::measured};
  return "";
}

const Sampling& Trial::timing(std::size_t w) {
  if (!timings_[w]) timings_[w] = sample(*this, w);
  return *timings_[w];
}

double Trial::launch_ns(std::size_t w) {
  if (estimates_[w] > 0) return estimates_[w];
  const InputSet& set = declared_set(w, 0);
  launch_fresh(w, 0, set, bench_.secret());  // warm: the first launch of a module is slow
  if (at(w).mutates_inputs()) problem_.restore(w, 0, set);
  return estimates_[w] = bench_.time([&] { launch(w, 0); }, "a launch");
}

int Trial::repeats(std::size_t w, int wanted, int least, double budget_ns) {
  return static_cast<int>(std::clamp(budget_ns / launch_ns(w), static_cast<double>(least), static_cast<double>(wanted)));
}

double Trial::objective_ns() {
  double sum = 0, logs = 0, weights = 0;
  for (std::size_t w = 0; w < workloads(); ++w) {
    if (at(w).workload->role != WorkloadRole::score) continue;
    const Sampling& sampling = timing(w);
    const double ns = median(sampling.scored_ns());
    const double weight = at(w).workload->weight;
    sum += weight * ns;
    logs += weight * std::log(ns);
    weights += weight;
  }
  if (weights <= 0) return 0;
  return problem_.spec().objective == Objective::weighted ? sum / weights
                                                          : std::exp(logs / weights);
}

}  // namespace warpath::cuda
