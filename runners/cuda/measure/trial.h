#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/measure/problem.h"
#include "runners/cuda/measure/sampling.h"

namespace warpath::cuda {

/// Alignment of scratch buffers, in bytes, as from an allocator.
inline constexpr std::size_t kScratchAlignment = 256;

/// Request for one evaluation on a device.
struct TrialRequest {
  Candidate candidate;
  Stage stage = Stage::screening;  ///< minimum; a possible best continues to later stages by itself
  std::uint64_t seed = 0;
  double incumbent_ns = 0;  ///< objective time of the best so far; 0: none, do not race
  bool profile = false;
  double searched_ns = 0;  ///< objective time measured by the search; 0: unknown
  /// Wall time for what is reported, after which a wider interval is accepted from takes that
  /// agree; 0: not limited.
  double pairs_seconds = 0;
  /// what the pairs are reported against instead of the baseline
  std::optional<Candidate> versus{};
  bool untimed = false;  ///< gates of screening alone; no launch is timed
};

/// What a possible best is timed against in pairs.
struct Rival {
  Candidate candidate;
  bool is_baseline = true;
  bool is_reported = is_baseline;  ///< its samples are part of the outcome
};

/// One candidate on one device: its modules, its launches and their results. Gates use it for
/// launches and comparisons; faults of the candidate are thrown as CandidateFault.
class Trial {
 public:
  /// Loads the modules. Throws CandidateFault(launch_error) if the driver refuses one. References
  /// must outlive the trial; only the gate that compares with `rival` needs it.
  Trial(Bench& bench, Problem& problem, const TrialRequest& request, const Rival* rival = nullptr);

  [[nodiscard]] Bench& bench() { return bench_; }
  [[nodiscard]] Problem& problem() { return problem_; }
  [[nodiscard]] const TrialRequest& request() const { return request_; }
  [[nodiscard]] const Candidate& candidate() const { return request_.candidate; }
  [[nodiscard]] std::size_t workloads() const { return problem_.size(); }
  [[nodiscard]] PlacedWorkload& at(std::size_t w) { return problem_.at(w); }
  [[nodiscard]] const LoadedKernel& kernel(std::size_t w) const;
  [[nodiscard]] const LaunchNumbers& numbers(std::size_t w) const { return candidate().numbers[w]; }
  /// Other kernels launched with it; null: none.
  [[nodiscard]] const ExtraNumbers* extra(std::size_t w) const {
    return candidate().has_extras() ? &candidate().extras[w] : nullptr;
  }
  /// The kernel of a step.
  [[nodiscard]] const KernelFunction& step_kernel(std::size_t w, const StepNumbers& step) const;
  /// The candidate's scratch memory for workload `w`, between guard zones; without tensors if it
  /// has none.
  [[nodiscard]] const Slot& scratch(std::size_t w) const { return scratch_[w]; }

  [[nodiscard]] const Rival& rival() const { return *rival_; }

  /// Reloads all modules, which resets their device memory.
  void reload();
  /// True if a launch leaves state that must not reach the next one: changed inputs, scratch
  /// memory.
  [[nodiscard]] bool must_restore(std::size_t w) {
    return at(w).mutates_inputs() || !scratch_[w].tensors.empty();
  }
  /// Enqueues: copies `set`'s inputs into a slot, if launches change them, and noise into the
  /// scratch memory.
  void restore(std::size_t w, std::size_t slot, const InputSet& set);
  /// Enqueues another guard pattern (engine/portable/guard.h) around a slot's tensors and the
  /// scratch memory.
  void arm_guards(std::size_t w, std::size_t slot, std::uint64_t seed);
  /// Enqueues one launch on a slot with all its steps.
  void launch(std::size_t w, std::size_t slot) { launch(w, slot, bench_.stream()); }
  void launch(std::size_t w, std::size_t slot, CUstream stream);
  /// One launch on given addresses, by tensor.
  void launch_at(std::size_t w, const std::vector<CUdeviceptr>& addresses, CUstream stream) {
    launch_at(w, addresses, scratch_[w].tensors, stream);
  }
  /// Likewise, with given scratch buffers.
  void launch_at(std::size_t w,
                 const std::vector<CUdeviceptr>& addresses,
                 const std::vector<CUdeviceptr>& scratch,
                 CUstream stream);
  /// Enqueues restore, poison and launch. `pattern`: see Problem::poison. The second call on a
  /// workload is timed and waits.
  void launch_fresh(std::size_t w, std::size_t slot, const InputSet& set, std::uint64_t pattern);
  /// True if a slot still holds what launch_fresh left in it.
  [[nodiscard]] bool is_fresh(std::size_t w, std::size_t slot) const { return fresh_[w][slot]; }

  /// Waits and judges all outputs of a slot against a set: returns the first that fails, otherwise
  /// the one nearest to its bound. On inputs of an undeclared family, outputs outside the tolerance
  /// pass if within reach_on().
  [[nodiscard]] Comparison compare(std::size_t w,
                                   std::size_t slot,
                                   const InputSet& set,
                                   std::string_view doing);
  /// Compares all outputs under given tolerances, by tensor; results for unwritten tensors are
  /// meaningless.
  [[nodiscard]] std::vector<Comparison> compare_each(std::size_t w,
                                                     const std::vector<CUdeviceptr>& addresses,
                                                     const InputSet& set,
                                                     const std::vector<Tolerance>& tolerances,
                                                     std::string_view doing);
  /// Compares one output under any tolerance.
  [[nodiscard]] CompareUnder compare_one(std::size_t w,
                                         std::size_t tensor,
                                         const std::vector<CUdeviceptr>& addresses,
                                         const InputSet& set,
                                         std::string_view doing);
  /// The spec's tolerances by tensor; the absolute part scales with the results of `set`.
  [[nodiscard]] std::vector<Tolerance> tolerances(std::size_t w, const InputSet& set);
  /// As compare, for outputs at given addresses.
  [[nodiscard]] Comparison compare_at(std::size_t w,
                                      const std::vector<CUdeviceptr>& addresses,
                                      const InputSet& set,
                                      std::string_view doing);
  /// Root mean square of the finite elements of the reference, by tensor; 0 if it is not written.
  [[nodiscard]] std::vector<double> reference_scale(std::size_t w, const InputSet& set);
  /// Fingerprint of all outputs of a slot; waits.
  [[nodiscard]] Hash128 fingerprint(std::size_t w, std::size_t slot, std::string_view doing);

  /// The set that this evaluation checks slot `slot` with: a random order of all declared ones.
  /// Timed slots hold the same sets in every evaluation, since contents may affect the time.
  [[nodiscard]] const InputSet& declared_set(std::size_t w, std::size_t slot);

  /// Times of workload `w`, measured on first use. The outputs of all timed slots are then those of
  /// timed launches on declared_set(w, slot).
  [[nodiscard]] const Sampling& timing(std::size_t w);
  [[nodiscard]] bool timed(std::size_t w) const { return timings_[w].has_value(); }
  [[nodiscard]] double launch_ns(std::size_t w);  ///< estimate of one launch
  /// Launches at least this long average out their own noise, and the initial cache contents do not
  /// affect their time.
  static constexpr double kSteadyNs = 10e6;
  /// True for such launches: at screening one suffices.
  [[nodiscard]] bool is_steady(std::size_t w);
  /// The number of launches in 20 ms, within [8, 1000].
  [[nodiscard]] int warm_launches(std::size_t w) { return repeats(w, 1000, 8, 20e6); }
  /// A number of repetitions: `wanted`, or fewer (but `least`) if the launches would take longer
  /// than `budget_ns`.
  [[nodiscard]] int repeats(std::size_t w, int wanted, int least, double budget_ns = 500e6);
  /// Objective time so far, in ns: geometric or arithmetic mean of the medians, as the spec says.
  [[nodiscard]] double objective_ns();
  /// The same if workload `w` took `ns`; a workload without samples counts with one launch.
  [[nodiscard]] double objective_if(std::size_t w, double ns);

  /// True if two runs on the same inputs differed in bytes (float atomics); set by gate
  /// output_poison.
  bool nondeterministic = false;
  /// True if launches may differ in rounding: they did, or the code has atomics.
  [[nodiscard]] bool may_vary() const;
  /// Facts that gates report beyond their results.
  Diagnosis diagnosis;
  /// Hardware counters of one cold launch of the first scored workload; empty until collected.
  Readings counters;
  /// Collects them; returns one line if unavailable.
  std::string profile();
  /// Samples of the interleaved pairs, by workload, with the cache as scored: the candidate's, and
  /// the rival's if reported. Empty before gate interleaved_pairs.
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

}  // namespace warpath::cuda
