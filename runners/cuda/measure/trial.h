#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/measure/problem.h"

namespace warpath::cuda {

/// Of scratch buffers, as allocators give it.
inline constexpr std::size_t kScratchAlignment = 256;

/// What is asked of one evaluation on a device.
struct TrialRequest {
  Candidate candidate;
  Stage stage = Stage::screening;  ///< what is done at least; a possible best goes on by itself
  std::uint64_t seed = 0;
  double incumbent_ns = 0;  ///< objective time of the best so far; 0: none, do not race
  bool profile = false;
  double searched_ns = 0;  ///< objective time as the search saw it; 0: not known
  /// what the pairs are reported against in place of the baseline; none: nothing
  std::optional<Candidate> versus{};
};

/// What a possible best is timed against in pairs.
struct Rival {
  Candidate candidate;
  bool is_baseline = true;
  bool is_reported = is_baseline;  ///< its samples go with the outcome
};

/// Launch times of one workload.
struct Sampling {
  std::vector<double> hot_ns;
  std::vector<double> cold_ns;
  int launches_per_sample = 1;    ///< of hot samples: a graph of so many launches
  std::vector<bool> timed_slots;  ///< whose outputs are a timed launch's
  bool raced_out = false;         ///< ended early: clearly slower than the incumbent
  bool cold_scored = false;       ///< `cold_ns` are what counts
  [[nodiscard]] const std::vector<double>& scored_ns() const {
    return cold_scored ? cold_ns : hot_ns;
  }
};

/// One candidate on one device: its modules, the launches made with it, and what was seen. Gates
/// ask it for launches and comparisons; every failing of the candidate leaves as CandidateFault.
class Trial {
 public:
  /// Loads the modules. Throws CandidateFault(launch_error) where the driver refuses one. All
  /// references outlive the trial; `rival` is needed by the gate that compares with it alone.
  Trial(Bench& bench, Problem& problem, const TrialRequest& request, const Rival* rival = nullptr);

  [[nodiscard]] Bench& bench() { return bench_; }
  [[nodiscard]] Problem& problem() { return problem_; }
  [[nodiscard]] const TrialRequest& request() const { return request_; }
  [[nodiscard]] const Candidate& candidate() const { return request_.candidate; }
  [[nodiscard]] std::size_t workloads() const { return problem_.size(); }
  [[nodiscard]] PlacedWorkload& at(std::size_t w) { return problem_.at(w); }
  [[nodiscard]] const LoadedKernel& kernel(std::size_t w) const;
  [[nodiscard]] const LaunchNumbers& numbers(std::size_t w) const { return candidate().numbers[w]; }
  /// What is launched besides; null: nothing.
  [[nodiscard]] const ExtraNumbers* extra(std::size_t w) const {
    return candidate().has_extras() ? &candidate().extras[w] : nullptr;
  }
  /// The kernel of a step.
  [[nodiscard]] const KernelFunction& step_kernel(std::size_t w, const StepNumbers& step) const;
  /// The candidate's own memory under workload `w`, between guard zones; no tensors if it has none.
  [[nodiscard]] const Slot& scratch(std::size_t w) const { return scratch_[w]; }

  [[nodiscard]] const Rival& rival() const { return *rival_; }

  /// Loads all modules anew: what they kept in device memory is gone.
  void reload();
  /// True if a launch leaves something behind that the next one must not find: changed inputs,
  /// scratch memory.
  [[nodiscard]] bool must_restore(std::size_t w) {
    return at(w).mutates_inputs() || !scratch_[w].tensors.empty();
  }
  /// Puts `set`'s inputs into a slot, if launches change them, and noise into the scratch memory;
  /// enqueued.
  void restore(std::size_t w, std::size_t slot, const InputSet& set);
  /// Another guard pattern (engine/portable/guard.h) around a slot's tensors and around the scratch
  /// memory; enqueued.
  void arm_guards(std::size_t w, std::size_t slot, std::uint64_t seed);
  /// One launch with all its steps on a slot; enqueued.
  void launch(std::size_t w, std::size_t slot) { launch(w, slot, bench_.stream()); }
  void launch(std::size_t w, std::size_t slot, CUstream stream);
  /// One launch on any addresses, by tensor.
  void launch_at(std::size_t w, const std::vector<CUdeviceptr>& addresses, CUstream stream) {
    launch_at(w, addresses, scratch_[w].tensors, stream);
  }
  /// The same with scratch buffers anywhere.
  void launch_at(std::size_t w,
                 const std::vector<CUdeviceptr>& addresses,
                 const std::vector<CUdeviceptr>& scratch,
                 CUstream stream);
  /// restore + poison + launch; enqueued. `pattern` of the poison: see Problem::poison. The second
  /// one of a workload is timed: waits.
  void launch_fresh(std::size_t w, std::size_t slot, const InputSet& set, std::uint64_t pattern);
  /// True if a slot holds what launch_fresh left there: no launch and no other contents since.
  [[nodiscard]] bool is_fresh(std::size_t w, std::size_t slot) const { return fresh_[w][slot]; }

  /// Waits and judges all outputs of a slot against a set: the first that fails, else the one
  /// nearest to its bound. What is outside the tolerance on inputs of another family than the
  /// declared one passes within Problem::reach.
  [[nodiscard]] Comparison compare(std::size_t w,
                                   std::size_t slot,
                                   const InputSet& set,
                                   std::string_view doing);
  /// All outputs under tolerances of their own, by tensor; those of tensors that are not written
  /// say nothing.
  [[nodiscard]] std::vector<Comparison> compare_each(std::size_t w,
                                                     const std::vector<CUdeviceptr>& addresses,
                                                     const InputSet& set,
                                                     const std::vector<Tolerance>& tolerances,
                                                     std::string_view doing);
  /// The spec's tolerances by tensor; the absolute part grows and shrinks with the results of
  /// `set`.
  [[nodiscard]] std::vector<Tolerance> tolerances(std::size_t w, const InputSet& set);
  /// The same for outputs anywhere.
  [[nodiscard]] Comparison compare_at(std::size_t w,
                                      const std::vector<CUdeviceptr>& addresses,
                                      const InputSet& set,
                                      std::string_view doing);
  /// Root mean square of the reference by tensor, over finite elements; 0 where it is not written.
  [[nodiscard]] std::vector<double> reference_scale(std::size_t w, const InputSet& set);
  /// Fingerprint of all outputs of a slot; waits.
  [[nodiscard]] Hash128 fingerprint(std::size_t w, std::size_t slot, std::string_view doing);

  /// The set that this evaluation checks slot `slot` by: all declared ones, in an order of its own.
  /// The slots that are timed hold the same sets in every evaluation: contents may decide the time.
  [[nodiscard]] const InputSet& declared_set(std::size_t w, std::size_t slot);

  /// Times of workload `w`, taken when first asked for. The outputs of all timed slots are then
  /// those of timed launches on declared_set(w, slot).
  [[nodiscard]] const Sampling& timing(std::size_t w);
  [[nodiscard]] bool timed(std::size_t w) const { return timings_[w].has_value(); }
  [[nodiscard]] double launch_ns(std::size_t w);  ///< estimate of one launch
  /// Longer launches average their own noise, and what they find in the cache at their start does
  /// not show in their time.
  static constexpr double kSteadyNs = 10e6;
  /// At screening such a launch says what many would.
  [[nodiscard]] bool is_steady(std::size_t w);
  /// How many launches count as many: what 20 ms hold, 8 at least, 1000 at most.
  [[nodiscard]] int warm_launches(std::size_t w) { return repeats(w, 1000, 8, 20e6); }
  /// How often something may be repeated: `wanted` times, fewer (but `least`) where the launches
  /// would take longer than `budget_ns`.
  [[nodiscard]] int repeats(std::size_t w, int wanted, int least, double budget_ns = 500e6);
  /// Objective time so far (ns): geometric or arithmetic mean of the medians, as the spec says.
  [[nodiscard]] double objective_ns();
  /// The same if workload `w` took `ns`; one that has no samples yet counts with one launch.
  [[nodiscard]] double objective_if(std::size_t w, double ns);

  /// True if two runs on the same inputs gave different bytes (float atomics); set by gate
  /// output_poison.
  bool nondeterministic = false;
  /// True if two launches may differ in rounding: they did, or the code has atomics.
  [[nodiscard]] bool may_vary() const;
  /// What gates want to be known beyond their answers.
  Diagnosis diagnosis;
  /// Hardware counters of one cold launch of the first scored workload; empty until collected.
  Readings counters;
  /// Collects them; one line where there are none.
  std::string profile();
  /// Samples of the interleaved pairs, by workload, as it is scored: the candidate's, and the
  /// rival's if they are reported. Empty before gate interleaved_pairs.
  std::vector<std::vector<double>> paired_ns;
  std::vector<std::vector<double>> baseline_ns;
  bool confirmed_faster = false;  ///< than the rival

 private:
  void load();
  void place_scratch();
  void arm(Slot& slot, std::uint64_t seed);
  void poison_scratch(std::size_t w, std::uint64_t pattern);
  void run_step(std::size_t w,
                const StepNumbers& step,
                void** parameters,
                const std::vector<CUdeviceptr>& addresses,
                const std::vector<CUdeviceptr>& scratch,
                CUstream stream);
  template <class TimeOf>
  [[nodiscard]] double objective_of(const TimeOf& time_ns);

  Bench& bench_;
  Problem& problem_;
  const TrialRequest& request_;
  const Rival* rival_;
  std::vector<LoadedKernel> kernels_;
  std::vector<Slot> scratch_;  ///< by workload
  std::vector<std::optional<Sampling>> timings_;
  std::vector<double> estimates_;
  std::vector<bool> launched_;            ///< by workload, since the modules were loaded
  std::vector<std::vector<bool>> fresh_;  ///< by workload and slot
};

/// Runs all launches of one workload that timing takes; in timing.cc.
[[nodiscard]] Sampling sample(Trial& trial, std::size_t w);
/// Interleaved launches of two candidates on one workload, in random order, with the level-2 cache
/// as the workload is scored: times by pair, ns.
struct Pairs {
  std::vector<double> first_ns, second_ns;
};
[[nodiscard]] Pairs sample_pairs(Trial& first, Trial& second, std::size_t w, int pairs);

}  // namespace warpath::cuda
