#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/rule_table.h"

namespace warpath {

/// Shortfall by axis, each 0 to 1. Compute and memory: 1 - utilisation. Latency: the largest stall
/// share, which is a level rather than a gap.
struct RooflineGaps {
  double compute = 0.5, memory = 0.5, latency = 0.5;
  /// False: neither counters nor bounds are available, and all three are one half.
  bool known = false;
  FactSource source = FactSource::assumed;
  /// false: that gap is one half for lack of a number
  bool compute_known = true, memory_known = true;
  [[nodiscard]] double of(Axis axis) const;
  /// Share of the time explained by an axis: for compute and memory their utilisation (0 if
  /// unknown), for latency what the busier of the two leaves. The axis that explains most bounds
  /// the kernel; an idle resource bounds nothing, however large its gap.
  [[nodiscard]] double held_by(Axis axis) const;
};

/// compute: 1 - max(tensor_pipe, fma_pipe, sm_throughput). memory: 1 - dram_throughput. latency:
/// the largest stall share, one half without any. If a counter is missing, the time bounds over the
/// measured time replace it and, for latency, the share of the time that nothing explains: a
/// missing number is not a full gap.
[[nodiscard]] RooflineGaps roofline_gaps(const DiagnosisView& view);

/// True if every gap is below 0.15: nothing is worth trying on any axis.
[[nodiscard]] bool near_peak(const RooflineGaps& gaps);

/// "compute", "bandwidth" or "latency": the axis that explains most of the time, ties in this
/// order; "near_peak" if that holds.
[[nodiscard]] std::string_view bound_name(const RooflineGaps& gaps);

/// Number of methods to try next by axis, three in all.
struct MethodBudget {
  int compute = 0, memory = 0, latency = 0;
  [[nodiscard]] int of(Axis axis) const;
  bool operator==(const MethodBudget&) const = default;
};

/// Divides three slots among the axes in proportion to their weights, at most two each. A weight
/// below 0.10 counts as none; if all do: one slot each. Shares are rounded half to even and limited
/// to two; the excess goes to the other axes by falling weight (ties: compute, memory, latency; an
/// axis without weight may get it). Then, until there are three, a slot is added where (share -
/// slots) is largest (ties: memory, latency, compute) or removed where it is smallest (ties:
/// compute, latency, memory).
[[nodiscard]] MethodBudget share_slots(double compute, double memory, double latency);
/// The same with weights `held_by`.
[[nodiscard]] MethodBudget method_budget(const RooflineGaps& gaps);

/// The budget as a factor of a move's prior: 0.5 for an axis that deserves no slot, 1.5 for two,
/// linear between, without rounding. 1 if gaps are unknown or near the peak.
[[nodiscard]] double axis_factor(const RooflineGaps& gaps, Axis axis);

/// A named optimisation from the literature, with its trigger and the moves that implement it.
struct Method {
  std::string id;
  Axis axis = Axis::latency;
  std::int64_t priority = 0;            ///< 1 first, within its axis
  std::int64_t compute_capability = 0;  ///< minimum, as 10 * major + minor
  std::string fact;                     ///< of its trigger; empty: unknown
  double good = 0, bad = 0;             ///< values for trigger strengths 0 and 1
  std::vector<std::string> moves;       ///< empty: not implemented by any move yet
  /// How strongly the fact calls for it, 0 to 1; nullopt if the fact is unknown or there is no
  /// trigger.
  [[nodiscard]] std::optional<double> trigger_strength(const DiagnosisView& view) const;
};

/// priors/rules/methods.json. Immutable; thread-safe.
class MethodRegistry {
 public:
  /// Throws Error(bad_input) naming `file` and place.
  [[nodiscard]] static MethodRegistry parse(std::string_view text, const std::string& file);
  [[nodiscard]] static const MethodRegistry& built_in();
  [[nodiscard]] std::span<const Method> methods() const { return methods_; }
  [[nodiscard]] const Method* find(std::string_view id) const;
  /// Pairs that count once (coupled), or that exclude each other.
  [[nodiscard]] std::span<const std::vector<std::string>> coupled() const { return coupled_; }
  [[nodiscard]] std::span<const std::vector<std::string>> exclusive() const { return exclusive_; }
  /// Axes that `move` affects, from the methods it implements and the rules that raise it; all
  /// three if unknown.
  [[nodiscard]] std::vector<Axis> axes_of(std::string_view move) const;
  /// Move::structural of a move of this program; false for others.
  [[nodiscard]] bool structural(std::string_view move) const {
    return std::ranges::find(structural_, move) != structural_.end();
  }

 private:
  std::vector<Method> methods_;
  std::vector<std::vector<std::string>> coupled_, exclusive_;
  std::vector<std::string> structural_;
};

}  // namespace warpath
