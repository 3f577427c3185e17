#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "priors/tactics/proposal_features.h"

namespace warpath {

/// The log gain that a model of a child without a time is taught: as bad as twice as slow.
inline constexpr double kFailedGain = -0.7;
/// Log gains are cut to this range before they are taught.
inline constexpr double kLeastTaughtGain = -1.5, kMostTaughtGain = 3;

/// What is expected of a proposal.
struct GainPrediction {
  double mean = 0, variance = 0;  ///< of its log gain
  double improves = 0;            ///< calibrated chance of kImproved or more
  /// log gain, a loss counted as 0, of the normal with that mean and variance
  double expected = 0;
};

/// Ridge regression of the log gain on features: w = (X'X + lambda I)^-1 X'y. The variance of a
/// prediction is that of the fit, noise * x'(X'X + lambda I)^-1 x, plus the noise. `improves` is a
/// logistic function of (mean - kImproved) / deviation. Immutable; any number of threads.
class GainModel {
 public:
  struct Parts {
    std::vector<std::string> names;  ///< ascending
    std::vector<double> weights;     ///< [names]
    std::vector<float> inverse;      ///< lower triangle of (X'X + lambda I)^-1, row after row
    /// variance of a gain about its prediction, on kernels left out
    double noise = 1;
    double offset = 0, slope = 1.7;  ///< of the logistic
    double lambda = 1;
    std::vector<std::string> kernels;  ///< trained on
    std::uint64_t examples = 0;
  };
  /// Sizes must fit.
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
