#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

struct CudaOptions {
  static constexpr std::string_view kGroup = "cuda";
  static constexpr OptionsOf kOf = OptionsOf::runner;
  static const OptionGroupKind& kind();

  std::string gpus = "all";
  std::string isolation = "process";
  bool no_wait = false;
  int compile_workers = 0;
  std::string nvcc;
  std::string python;
  double compile_seconds = 20;
  std::int64_t compile_memory_mib = 4096;
  std::int64_t cache_mib = 4096;
  bool reuse_measurements = false;
  double launch_seconds = 5;
  double timing_ms = 20;
  int min_samples = 5;
  int max_samples = 200;
  double precision = 0.01;
  double race_margin = 0.15;
  double min_gain = 0.005;
  double confirm_gain = 0.05;
  double confirm_share = 0.3;
  int input_sets = 3;
  std::string l2 = "hot";
  std::string screening = "screening";
  std::string confirmation = "confirmation";
  std::string final = "final";
  std::int64_t profile_every = 0;
  bool operator==(const CudaOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = CudaOptions;
    v(&O::gpus,
      OptionText{"gpus", "all, none, indices (0,1), or a file of workers: one command line each",
                 "", "gpus"},
      AnyValue{});
    v(&O::isolation,
      OptionText{
          "isolation",
          "process: a GPU's kernels and all moves run in worker processes, a crash costs one "
          "candidate; none: in the program itself, for debuggers, a crash ends it",
          "docs/cuda-runner.md", "isolation"},
      OneOf{"process", "none"});
    v(&O::no_wait,
      OptionText{
          "no_wait",
          "end with exit code 3 where another engine has the device, instead of waiting for it",
          "docs/cuda-runner.md", "no-wait"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::compile_workers,
      OptionText{"compile_workers", "compiler processes; 0: one a core, less one for each device",
                 "docs/cuda-runner.md"},
      Range{0, 1024});
    v(&O::nvcc,
      OptionText{"nvcc",
                 "NVIDIA's offline compiler, for specs whose backend is nvcc; empty: that of PATH, "
                 "CUDA_PATH, CUDA_HOME or the usual folders",
                 "docs/cuda-runner.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::python,
      OptionText{
          "python",
          "Python with Triton, for specs whose kernel_type is triton; empty: WARPATH_PYTHON, "
          "or python3 of PATH",
          "docs/triton.md"}
          .shaping_nothing(),
      AnyValue{});
    v(&O::compile_seconds, OptionText{"compile_seconds", "limit on one compile", ""},
      Range{0.1, 3600.0});
    v(&O::compile_memory_mib,
      OptionText{"compile_memory_mib", "address-space limit of a compiler process", ""},
      Range<std::int64_t>{256, 1 << 20});
    v(&O::cache_mib,
      OptionText{"cache_mib",
                 "limit on the cache of compiled code, and on that of measurements; 0: no cache",
                 "docs/cuda-runner.md"},
      Range<std::int64_t>{0, 1 << 24});
    v(&O::reuse_measurements,
      OptionText{"reuse_measurements",
                 "screening takes what an earlier run measured of the same code, setup and devices",
                 "docs/cuda-runner.md"},
      AnyValue{});
    v(&O::launch_seconds,
      OptionText{"launch_seconds", "limit on one launch; a longer one is timed_out", ""},
      Range{0.01, 3600.0});
    v(&O::timing_ms,
      OptionText{"timing_ms", "time spent sampling one workload at screening",
                 "docs/cuda-runner.md"},
      Range{0.1, 60000.0});
    v(&O::min_samples, OptionText{"min_samples", "least samples of one workload", ""},
      Range{3, 100000});
    v(&O::max_samples, OptionText{"max_samples", "most samples of one workload", ""},
      Range{3, 100000});
    v(&O::precision,
      OptionText{"precision",
                 "sampling ends when the interval of the median is this narrow, relative",
                 "docs/cuda-runner.md"},
      Range{1e-5, 1.0});
    v(&O::race_margin,
      OptionText{"race_margin",
                 "sampling ends when a candidate is slower than the best so far by this share",
                 "docs/cuda-runner.md"},
      Range{0.0, 100.0});
    v(&O::min_gain,
      OptionText{"min_gain", "least gain over the incumbent that interleaved pairs must confirm",
                 "docs/cuda-runner.md"},
      Range{0.0, 10.0});
    v(&O::confirm_gain,
      OptionText{"confirm_gain",
                 "gain over the last confirmed one from which a search confirms a new best",
                 "docs/cuda-runner.md"},
      Range{0.0, 10.0});
    v(&O::confirm_share,
      OptionText{"confirm_share", "most of a device's time that a search spends on confirmations",
                 "docs/cuda-runner.md"},
      Range{0.0, 1.0});
    v(&O::input_sets,
      OptionText{"input_sets", "input sets of a workload that launches rotate over",
                 "docs/cuda-runner.md"},
      Range{2, 64});
    v(&O::l2,
      OptionText{"l2", "timing of workloads that declare nothing: hot or cold level-2 cache",
                 "docs/cuda-runner.md"},
      OneOf{"hot", "cold", "both"});
    v(&O::screening,
      OptionText{"screening",
                 "gates of every evaluation; a stage's or a phase's name stands for its gates, "
                 "-NAME leaves out",
                 "docs/gates.md"},
      AnyValue{});
    v(&O::confirmation,
      OptionText{"confirmation", "gates that a possible best must pass as well", "docs/gates.md"},
      AnyValue{});
    v(&O::final,
      OptionText{"final", "gates that what is reported must pass as well", "docs/gates.md"},
      AnyValue{});
    v(&O::profile_every,
      OptionText{"profile_every", "counters of every n-th measured variant; 0: never, 1: all", "",
                 "profile-every"},
      Range<std::int64_t>{0, 1'000'000'000});
  }
};
static_assert(kFullyDescribed<CudaOptions>);

}  // namespace warpath
