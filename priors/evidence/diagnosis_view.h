#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "engine/plugin/diagnosis.h"
#include "engine/plugin/outcome.h"

namespace warpath {

/// A fact computed from others.
struct DerivedFact {
  std::string_view name;
  std::string_view help;  ///< meaning and origin, best source first
};

/// Facts of one diagnosis by name: recorded ones, and those derived from them and the measured
/// time. A measured value takes precedence over static analysis. The source of a derived fact is
/// the weakest of its inputs.
class DiagnosisView {
 public:
  /// Every name looked up, found or not: facts, and bounds as "bound dram".
  using Asked = std::set<std::string, std::less<>>;

  /// `time_ns`: median launch time, 0 if not measured. `asked`, if not null, receives the names
  /// looked up. Both must outlive the view.
  DiagnosisView(const Diagnosis& diagnosis, double time_ns, Asked* asked = nullptr)
      : diagnosis_(diagnosis), time_ns_(time_ns), asked_(asked) {}

  /// nullopt if neither recorded nor derivable. Derived names take precedence over recorded ones.
  [[nodiscard]] std::optional<Fact> get(std::string_view name) const;
  [[nodiscard]] double time_ns() const { return time_ns_; }
  [[nodiscard]] const Diagnosis& diagnosis() const { return diagnosis_; }

  /// As recorded, without derivation.
  [[nodiscard]] std::optional<Fact> recorded(std::string_view name) const;
  /// Lower bound on the time of `resource`, in ns.
  [[nodiscard]] std::optional<Fact> bound(std::string_view resource) const;
  /// The largest time bound of `resources` as a share of the measured time, at most 1.
  [[nodiscard]] std::optional<Fact> bound_share(std::span<const std::string_view> resources) const;

 private:
  const Diagnosis& diagnosis_;
  double time_ns_;
  Asked* asked_;
};

/// Every derived fact, in the order of their table.
[[nodiscard]] std::span<const DerivedFact> derived_facts();

/// The possible inputs of the recorded or derived fact `name`, in the form of DiagnosisView::Asked.
[[nodiscard]] DiagnosisView::Asked fact_inputs(std::string_view name);

/// Median time of the first scored timing of `outcome` in ns; 0 without one.
[[nodiscard]] double measured_time_ns(const Outcome& outcome);

/// "measured", "static", "assumed".
[[nodiscard]] std::string_view name(FactSource source);
/// Weight of a fact: 1 measured, 0.7 static, 0.4 assumed.
[[nodiscard]] double confidence(FactSource source);
/// The weaker of two sources.
[[nodiscard]] FactSource weaker(FactSource a, FactSource b);

}  // namespace warpath
