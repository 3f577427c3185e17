#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

struct HostOptions {
  static constexpr std::string_view kGroup = "host";
  static constexpr OptionsOf kOf = OptionsOf::runner;
  static const OptionGroupKind& kind();

  std::string compiler = "g++";
  std::string optimization = "-O2 -march=native";
  double compile_seconds = 60;
  double launch_seconds = 10;
  std::int64_t memory_mib = 4096;
  double timing_seconds = 0.3;
  int min_samples = 5;
  int max_samples = 200;
  int threads = 0;
  int lanes = 1;
  bool operator==(const HostOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = HostOptions;
    v(&O::compiler, OptionText{"compiler", "system C++ compiler", ""}, AnyValue{});
    v(&O::optimization,
      OptionText{"optimization", "its optimisation flags, the same for baseline and candidates",
                 ""},
      AnyValue{});
    v(&O::compile_seconds, OptionText{"compile_seconds", "limit on one compile", ""},
      Range{0.1, 3600.0});
    v(&O::launch_seconds,
      OptionText{"launch_seconds", "limit on one launch; a longer one is timed_out", ""},
      Range{0.01, 3600.0});
    v(&O::memory_mib,
      OptionText{"memory_mib", "address-space limit of each compiler and worker process", ""},
      Range<std::int64_t>{512, 1 << 20});
    v(&O::timing_seconds, OptionText{"timing_seconds", "time spent sampling one workload", ""},
      Range{0.001, 600.0});
    v(&O::min_samples, OptionText{"min_samples", "least samples of one workload", ""},
      Range{1, 100000});
    v(&O::max_samples, OptionText{"max_samples", "most samples of one workload", ""},
      Range{1, 100000});
    v(&O::threads, OptionText{"threads", "CPU threads that run blocks; 0: all cores", ""},
      Range{0, 4096});
    v(&O::lanes, OptionText{"lanes", "evaluations at once; more than one disturbs the timings", ""},
      Range{1, 64});
  }
};
static_assert(kFullyDescribed<HostOptions>);

}  // namespace warpath
