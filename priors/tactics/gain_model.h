#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "priors/tactics/proposal_features.h"

namespace warpath {

/// The log gain used in training for a child without a time: as bad as a factor of two slower.
inline constexpr double kFailedGain = -0.7;
/// Log gains are clipped to this range for training.
inline constexpr double kLeastTaughtGain = -1.5, kMostTaughtGain = 3;

/// Prediction for a proposal.
struct GainPrediction {
  double mean = 0, variance = 0;  ///< of its log gain
  double improves = 0;            ///< calibrated chance of kImproved or more
  /// mean of max(0, log gain) under the normal with that mean and variance
  double expected = 0;
};

/// Ridge regression of the log gain on features: w = (X'X + lambda I)^-1 X'y. The variance of a
/// prediction is that of the fit, noise * x'(X'X + lambda I)^-1 x, plus the noise. `improves` is a
/// logistic function of (mean - kImproved) / deviation. Immutable; thread-safe.
class GainModel {
 public:
  struct Parts {
    std::vector<std::string> names;  ///< ascending
    std::vector<double> weights;     ///< [names]
    std::vector<float> inverse;      ///< lower triangle of (X'X + lambda I)^-1, row by row
    /// variance of a gain about its prediction, on held-out kernels
    double noise = 1;
    double offset = 0, slope = 1.7;  ///< of the logistic
    double lambda = 1;
    std::vector<std::string> kernels;  ///< trained on
    std::uint64_t examples = 0;
  };
  /// Sizes must match.
  explicit GainModel(Parts parts);
  [[nodiscard]] GainPrediction predict(const Features& features) const;
  [[nodiscard]] const Parts& parts() const { return parts_; }

  [[nodiscard]] std::string text() const;
  /// Throws Error(bad_input) naming `place` and key.
  [[nodiscard]] static GainModel parse(const std::string& text, const std::string& place);

 private:
  Parts parts_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// E max(0, x) of a normal x.
[[nodiscard]] double expected_improvement(double mean, double variance);

}  // namespace warpath
