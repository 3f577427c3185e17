#include <string>

#include "engine/base/format.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

struct SecondsOptions {
  static constexpr std::string_view kGroup = "run";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double budget_seconds = 0;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SecondsOptions;
    v(&O::budget_seconds,
      OptionText{"budget_seconds", "wall seconds of one kernel; 0: no limit", "", "budget-seconds"}
          .shaping_nothing(),
      Range{0.0, 1e9});
  }
};
static_assert(kFullyDescribed<SecondsOptions>);

/// Ends after run.budget_seconds of wall time, earlier sessions included; 0: never.
class Seconds final : public StopPolicy {
 public:
  explicit Seconds(const Options& options)
      : budget_(options.of<SecondsOptions>().budget_seconds),
        reason_(number_text(budget_) + " seconds") {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    return budget_ > 0 && progress.seconds >= budget_ ? std::string_view(reason_)
                                                      : std::string_view();
  }

 private:
  double budget_;
  std::string reason_;
};

}  // namespace

void register_stop_seconds(StopRegistry& registry) {
  registry.add("seconds", "after run.budget_seconds of wall time",
               [](const Options& options) { return std::make_unique<Seconds>(options); },
               {&option_group_kind<SecondsOptions>()});
}

}  // namespace warpath
