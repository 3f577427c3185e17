#include <string>

#include "engine/base/format.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

struct BoundOptions {
  static constexpr std::string_view kGroup = "run";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double until = 0;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = BoundOptions;
    v(&O::until,
      OptionText{"until",
                 "stop when the best reaches this share of its lower time bound (a GPU, and a spec "
                 "that declares its work); 0: never",
                 "", "until"}
          .shaping_nothing(),
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<BoundOptions>);

/// Ends when the search's best reaches run.until of its lower time bound; 0: never.
class Bound final : public StopPolicy {
 public:
  explicit Bound(const Options& options)
      : until_(options.of<BoundOptions>().until),
        reason_(number_text(100 * until_) + " % of the bound") {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    return until_ > 0 && progress.bound_share >= until_ ? std::string_view(reason_)
                                                        : std::string_view();
  }
  [[nodiscard]] bool needs_bound() const override { return until_ > 0; }

 private:
  double until_;
  std::string reason_;
};

}  // namespace

void register_stop_bound(StopRegistry& registry) {
  registry.add("bound", "when the best reaches run.until of its lower time bound",
               [](const Options& options) { return std::make_unique<Bound>(options); },
               {&option_group_kind<BoundOptions>()});
}

}  // namespace warpath
