#pragma once

#include <map>
#include <string>
#include <string_view>

#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/roofline.h"

namespace warpath {

/// Accumulates evidence without exceeding 1.
class Evidence {
 public:
  void add(double share);
  [[nodiscard]] double value() const { return 1 - missing_; }

 private:
  double missing_ = 1;
};

/// Evidence of one diagnosis for and against each move: fired rules, triggered methods, the method
/// budget.
class MoveEvidence {
 public:
  explicit MoveEvidence(const DiagnosisView& view);
  [[nodiscard]] const RooflineGaps& gaps() const { return gaps_; }
  /// 0 to 1
  [[nodiscard]] double raised(std::string_view move) const { return value(raised_, move); }
  /// 0 to 1
  [[nodiscard]] double lowered(std::string_view move) const { return value(lowered_, move); }
  /// axis_factor of its best axis
  [[nodiscard]] double axis(std::string_view move) const;
  /// All of it combined as a factor of a prior.
  [[nodiscard]] double factor(std::string_view move) const;

 private:
  using Map = std::map<std::string, Evidence, std::less<>>;
  static double value(const Map& map, std::string_view move);

  RooflineGaps gaps_;
  Map raised_, lowered_;
};

}  // namespace warpath
