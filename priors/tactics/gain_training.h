#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "priors/tactics/gain_model.h"

namespace warpath {

/// One trial as a training example.
struct GainExample {
  std::string kernel;
  std::uint64_t node = 0;  ///< proposals of one node are compared; unique within the kernel
  std::string move;
  Features features;      ///< NodeFeatures::of
  double gain = 0;        ///< taught_gain()
  bool improved = false;  ///< kImproved or more
};
[[nodiscard]] double taught_gain(bool ok, double log_gain);

/// Ridge regression over all examples. Each move of a kernel counts as a few dozen trials at most:
/// neighbours in one graph are nearly redundant, and a move with many parameters would dominate.
/// `lambda`, the noise and the calibration come from predicting each kernel from the others; with a
/// single kernel they keep their defaults. Deterministic. Throws Error(bad_input) without examples.
[[nodiscard]] GainModel fit_gain_model(std::span<const GainExample> examples);

/// How well a kernel is predicted by a model of the others.
struct GainValidation {
  std::string kernel;
  std::uint64_t examples = 0;
  double improved = 0;  ///< share
  /// of predicted and actual gain over all examples; 0 for a uniform prior
  double rank_correlation = 0;
  double node_correlation = 0;  ///< mean over nodes with at least five proposals
  /// mean over nodes of the improvement when drawing proposals in proportion to the predicted one,
  /// over that of uniform draws
  double lift = 1;
  double log_loss = 0;  ///< of "improved", nats
  /// of predicting the other kernels' share of improvements for every proposal
  double uniform_log_loss = 0;
  double deviation = 0;  ///< root mean square error of the mean
  /// share of gains within two predicted deviations; 0.95 if normal
  double covered = 0;
};
[[nodiscard]] GainValidation validate(const GainModel& model,
                                      double usual_chance,
                                      std::span<const GainExample> examples);

/// Validates each kernel with a model of all others, in order of names; `made` receives each model.
/// Throws Error(bad_input) with fewer than two kernels.
[[nodiscard]] std::vector<GainValidation> leave_one_kernel_out(
    std::span<const GainExample> examples,
    const std::function<void(const std::string& kernel, const GainModel& model)>& made);

}  // namespace warpath
