#include <string>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

struct PatienceOptions {
  static constexpr std::string_view kGroup = "run";
  static constexpr OptionsOf kOf = OptionsOf::search;

  std::int64_t patience = 0;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = PatienceOptions;
    v(&O::patience,
      OptionText{"patience", "stop after this many evaluations without a better one; 0: never", "",
                 "patience"},
      Range<std::int64_t>{0, 1'000'000'000});
  }
};
static_assert(kFullyDescribed<PatienceOptions>);

/// Ends after run.patience evaluations without a better one; 0: never.
class Patience final : public StopPolicy {
 public:
  explicit Patience(const Options& options)
      : patience_(static_cast<std::uint64_t>(options.of<PatienceOptions>().patience)),
        reason_(std::to_string(patience_) + (patience_ == 1 ? " build" : " builds") +
                " without a better one") {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    return patience_ > 0 && progress.since_improvement >= patience_ ? std::string_view(reason_)
                                                                    : std::string_view();
  }

 private:
  std::uint64_t patience_;
  std::string reason_;
};

}  // namespace

void register_stop_patience(StopRegistry& registry) {
  registry.add("patience", "after run.patience evaluations without a better one",
               [](const Options& options) { return std::make_unique<Patience>(options); },
               {&option_group_kind<PatienceOptions>()});
}

}  // namespace warpath
