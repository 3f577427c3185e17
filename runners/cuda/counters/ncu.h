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
  Readings counters;  ///< by Nsight Compute's names, in base units (--print-units base): bytes,
                      ///< nanoseconds, Hz, percent
};

/// Parses the output of `ncu --csv --page raw`: skips lines before the header (messages of ncu and
/// the program), then expects a header, a line of units and a line per launch; fields may be quoted
/// and contain thousands separators. Ignores non-numeric columns; converts prefixed units ("Mbyte",
/// "us") to base units. Throws Error(bad_input) naming `place` and the line if there is no header
/// or launch, or a line has the wrong number of fields.
[[nodiscard]] std::vector<NcuLaunch> parse_ncu_csv(std::string_view text, const std::string& place);

/// Warpath's metrics of a launch, from whichever of their sources it has.
[[nodiscard]] Readings metric_values(const NcuLaunch& launch,
                                     std::span<const Metric> wanted = metrics());

/// Nsight Compute's command line, for use where CUPTI cannot be used in process: profiles the
/// launches of a program it starts. Takes seconds per kernel.
class Ncu {
 public:
  /// `program`: path; empty: the first of ncu_candidates(). nullopt, with one line in `why`, if
  /// there is none or it does not start.
  [[nodiscard]] static std::optional<Ncu> open(const std::string& program, std::string& why);

  /// Its reported version ("2025.3.1.0").
  [[nodiscard]] const std::string& version() const { return version_; }

  /// Runs `argv`, which must launch `kernel` at least once, and returns the metrics of the kernel's
  /// first launch. Does not change clocks. nullopt, with one line in `why`, if the run fails,
  /// exceeds `limit_s`, or has no such launch.
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

/// The arguments of Nsight Compute that precede the profiled command: counters of every source of
/// `wanted`, only the kernel's first launch, CSV in base units.
[[nodiscard]] std::vector<std::string> ncu_arguments(const std::string& kernel,
                                                     std::span<const Metric> wanted);

}  // namespace warpath::cuda
