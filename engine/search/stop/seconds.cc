#include <string>

#include "engine/base/format.h"
#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

/// Ends after run.budget_seconds of wall time, earlier sessions included; 0: never.
class Seconds final : public StopPolicy {
 public:
  explicit Seconds(const RunOptions& options)
      : budget_(options.budget_seconds), reason_(number_text(budget_) + " seconds") {}

  std::string_view reason(const Progress& progress) const override {
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
               [](const RunOptions& options) { return std::make_unique<Seconds>(options); });
}

}  // namespace warpath
