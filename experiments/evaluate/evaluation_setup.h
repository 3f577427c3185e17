#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"
#include "experiments/console/command_line.h"
#include "experiments/console/status_line.h"
#include "experiments/evaluate/evaluation.h"

namespace warpath {

/// `--input` and `--name`, which select one spec.
[[nodiscard]] std::vector<Flag> spec_flags();
/// The one spec selected by `--input` and `--name`. Throws Error(bad_input) naming `command` or the
/// flag.
[[nodiscard]] KernelSpec wanted_spec(std::string_view command, const Arguments& arguments);

/// "screening", "confirmation" or "final". Throws Error(bad_input) with `place`.
[[nodiscard]] Stage parse_stage(const std::string& text, std::string_view place);

/// A whole number from `least` to 1000000. Throws Error(bad_input) with `place`.
[[nodiscard]] std::size_t parse_count(const std::string& text,
                                      std::string_view place,
                                      std::size_t least = 1);

/// The progress of an evaluation on stderr.
class EvaluationProgress {
 public:
  explicit EvaluationProgress(std::string name) : name_(std::move(name)) {}
  void show(const EvaluationFigures& figures);
  /// Erases the drawn line.
  void clear() { status_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  StatusLine status_{stderr};
  Clock::time_point begin_ = Clock::now();
};

}  // namespace warpath
