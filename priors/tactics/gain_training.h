#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "priors/tactics/gain_model.h"

namespace warpath {

/// One trial as a model is taught it.
struct GainExample {
  std::string kernel;
  std::uint64_t node = 0;  ///< proposals of one node compare; unique within the kernel
  std::string move;
  Features features;      ///< NodeFeatures::of
  double gain = 0;        ///< taught_gain()
  bool improved = false;  ///< kImproved or more
};
[[nodiscard]] double taught_gain(bool ok, double log_gain);

/// Ridge over all examples. Every move of a kernel counts as a few dozen trials at most, however
/// many there are: neighbours in one graph say nearly the same, and a move of many parameters would
/// drown the others. `lambda`, the noise and the calibration come from predictions of each kernel
/// by the others; with a single kernel they stay at their defaults. Deterministic. Throws
/// Error(bad_input) without an example.
[[nodiscard]] GainModel fit_gain_model(std::span<const GainExample> examples);

/// How well a kernel is predicted by a model of others.
struct GainValidation {
  std::string kernel;
  std::uint64_t examples = 0;
  double improved = 0;  ///< share
  /// of predicted and taught gain over all examples; a uniform prior has 0
  double rank_correlation = 0;
  double node_correlation = 0;  ///< mean over nodes of five proposals or more
  /// improvement of a proposal drawn in proportion to what is expected over that of one drawn
  /// evenly, at a mean node
  double lift = 1;
  double log_loss = 0;  ///< of "improved", nats
  /// of saying the other kernels' share of improved for every proposal
  double uniform_log_loss = 0;
  double deviation = 0;  ///< root mean square error of the mean
  /// share of gains within two predicted deviations; 0.95 if normal
  double covered = 0;
};
[[nodiscard]] GainValidation validate(const GainModel& model,
                                      double usual_chance,
                                      std::span<const GainExample> examples);

/// Each kernel by a model of all others, in order of names; `made` sees each model. Throws
/// Error(bad_input) with fewer than two kernels.
[[nodiscard]] std::vector<GainValidation> leave_one_kernel_out(
    std::span<const GainExample> examples,
    const std::function<void(const std::string& kernel, const GainModel& model)>& made);

}  // namespace warpath
