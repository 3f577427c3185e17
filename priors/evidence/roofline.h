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
/// share, a level and no gap.
struct RooflineGaps {
  double compute = 0.5, memory = 0.5, latency = 0.5;
  /// False: neither counters nor bounds say anything, all three are a half.
  bool known = false;
  FactSource source = FactSource::assumed;
  /// false: that gap is a half for want of a number
  bool compute_known = true, memory_known = true;
  [[nodiscard]] double of(Axis axis) const;
  /// Share of the time that an axis explains: compute and memory their utilisation (0 where it is
  /// not known), latency what the busier of the two leaves. What explains most bounds the kernel;
  /// an idle resource bounds nothing, however large its gap.
  [[nodiscard]] double held_by(Axis axis) const;
};

/// compute: 1 - the largest of tensor_pipe, fma_pipe and sm_throughput. memory: 1 -
/// dram_throughput. latency: the largest of the stall shares, a half without any. Where a counter
/// is missing, the time bounds over the measured time take its place and, for latency, the share of
/// the time that nothing explains: a missing number is no full gap.
[[nodiscard]] RooflineGaps roofline_gaps(const DiagnosisView& view);

/// Every gap below 0.15: nothing is worth trying on any axis.
[[nodiscard]] bool near_peak(const RooflineGaps& gaps);

/// "compute", "bandwidth" or "latency": the axis that explains most of the time, the first of this
/// order on a tie; "near_peak" where that holds.
[[nodiscard]] std::string_view bound_name(const RooflineGaps& gaps);

/// Methods to try next, three in all.
struct MethodBudget {
  int compute = 0, memory = 0, latency = 0;
  [[nodiscard]] int of(Axis axis) const;
  bool operator==(const MethodBudget&) const = default;
};

/// Shares three slots among the axes in proportion to their weights, two at most each. A weight
/// below 0.10 counts as none; all such: one slot each. Shares are rounded half to even and cut at
/// two; what is cut goes to the other axes by falling weight (ties: compute, memory, latency; an
/// axis without weight may get it). Then a slot is added where (share - slots) is largest (ties:
/// memory, latency, compute) or taken where it is smallest (ties: compute, latency, memory) until
/// there are three.
[[nodiscard]] MethodBudget share_slots(double compute, double memory, double latency);
/// The same by what each axis explains of the time (`held_by`).
[[nodiscard]] MethodBudget method_budget(const RooflineGaps& gaps);

/// The same as a factor of a move's prior: 0.5 for an axis that deserves no slot, 1.5 for one that
/// deserves two, linear between, without rounding. 1 where gaps are unknown or near the peak.
[[nodiscard]] double axis_factor(const RooflineGaps& gaps, Axis axis);

/// A named optimisation of the literature, with its trigger and the moves that carry it out here.
struct Method {
  std::string id;
  Axis axis = Axis::latency;
  std::int64_t priority = 0;            ///< 1 first, within its axis
  std::int64_t compute_capability = 0;  ///< least, as 10 * major + minor
  std::string fact;                     ///< of its trigger; empty: none is known
  double good = 0, bad = 0;             ///< values of trigger strength 0 and 1
  std::vector<std::string> moves;       ///< empty: no move does it yet
  /// How much the fact asks for it, 0 to 1; nullopt where the fact is unknown or there is no
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
  /// Pairs that count once (coupled) or that exclude each other.
  [[nodiscard]] std::span<const std::vector<std::string>> coupled() const { return coupled_; }
  [[nodiscard]] std::span<const std::vector<std::string>> exclusive() const { return exclusive_; }
  /// Axes that `move` works on, by the methods it carries out and the rules that raise it; none
  /// known: all three.
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
