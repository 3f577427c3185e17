#include <string>

#include "engine/base/format.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

struct GpuSecondsOptions {
  static constexpr std::string_view kGroup = "run";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double budget_gpu_seconds = 0;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = GpuSecondsOptions;
    v(&O::budget_gpu_seconds,
      OptionText{"budget_gpu_seconds",
                 "device seconds of one kernel, as outcomes record them (run_seconds), without the "
                 "finals; 0: no limit",
                 "", "budget-gpu-seconds"}
          .shaping_nothing(),
      Range{0.0, 1e9});
  }
};
static_assert(kFullyDescribed<GpuSecondsOptions>);

/// Ends after run.budget_gpu_seconds of checking and timing on devices, earlier sessions included;
/// 0: never. What is in flight then is finished and counts.
class GpuSeconds final : public StopPolicy {
 public:
  explicit GpuSeconds(const Options& options)
      : budget_(options.of<GpuSecondsOptions>().budget_gpu_seconds),
        reason_(number_text(budget_) + " device seconds") {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    return budget_ > 0 && progress.device_seconds >= budget_ ? std::string_view(reason_)
                                                             : std::string_view();
  }

 private:
  double budget_;
  std::string reason_;
};

}  // namespace

void register_stop_gpu_seconds(StopRegistry& registry) {
  registry.add("gpu_seconds", "after run.budget_gpu_seconds on devices",
               [](const Options& options) { return std::make_unique<GpuSeconds>(options); },
               {&option_group_kind<GpuSecondsOptions>()});
}

}  // namespace warpath
