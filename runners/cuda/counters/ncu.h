#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/counters/metrics.h"

namespace warpath::cuda {

/// One profiled launch.
struct NcuLaunch {
  std::string kernel;
  Readings counters;  ///< by Nsight Compute's names; bytes, nanoseconds, Hz, percent: as with
                      ///< --print-units base
};

/// Reads what `ncu --csv --page raw` prints: lines before the header (its own messages, the
/// program's output) are skipped, then a header, a line of units and a line a launch; fields may be
/// quoted and hold thousands separators. Columns that are not numbers are left out; units with a
/// prefix ("Mbyte", "us") are turned into base units. Throws Error(bad_input) naming `place` and
/// the line where there is no header, no launch, or a line with another number of fields.
[[nodiscard]] std::vector<NcuLaunch> parse_ncu_csv(std::string_view text, const std::string& place);

/// Our metrics of a launch, from whichever of their sources it holds.
[[nodiscard]] Readings metric_values(const NcuLaunch& launch,
                                     std::span<const Metric> wanted = metrics());

/// Nsight Compute's command line, for where CUPTI cannot be used in process: it starts a program
/// and profiles its launches. Takes seconds a kernel.
class Ncu {
 public:
  /// `program`: path; empty: the first of ncu_candidates(). nullopt and one line in `why` if there
  /// is none or it does not start.
  [[nodiscard]] static std::optional<Ncu> open(const std::string& program, std::string& why);

  /// What it prints of itself ("2025.3.1.0").
  [[nodiscard]] const std::string& version() const { return version_; }

  /// Runs `argv`, which must launch `kernel` at least once, and gives the metrics of the kernel's
  /// first launch. Clocks are left alone. nullopt and one line in `why` if the run fails, takes
  /// longer than `limit_s`, or has no such launch.
  [[nodiscard]] std::optional<Readings> collect(const std::vector<std::string>& argv,
                                                const std::string& kernel,
                                                double limit_s,
                                                std::string& why,
                                                std::span<const Metric> wanted = metrics()) const;

 private:
  Ncu(std::string program, std::string version)
      : program_(std::move(program)), version_(std::move(version)) {}

  std::string program_;
  std::string version_;
};

/// The arguments of Nsight Compute before the program's own: counters of `wanted` from every one of
/// their sources, the kernel's first launch alone, comma-separated output in base units.
[[nodiscard]] std::vector<std::string> ncu_arguments(const std::string& kernel,
                                                     std::span<const Metric> wanted);

}  // namespace warpath::cuda
