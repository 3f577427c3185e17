#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace warpath {

/// Where a number of a diagnosis comes from.
enum class FactSource : std::uint8_t { measured, static_analysis, assumed };

struct Fact {
  double value = 0;
  FactSource source = FactSource::assumed;
  bool operator==(const Fact&) const = default;
};

/// Why a variant takes its time. Names are data, so that a runner can add facts without changing
/// this type.
struct Diagnosis {
  /// by resource: tensor fp32 sfu smem l2 dram issue
  std::map<std::string, Fact, std::less<>> time_bound_ns;
  /// registers_per_thread, occupancy, waves, stall shares, ...
  std::map<std::string, Fact, std::less<>> facts;
  bool operator==(const Diagnosis&) const = default;
};

}  // namespace warpath
