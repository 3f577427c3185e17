#include <cstdio>
#include <string>

#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

std::string seconds_text(double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%g seconds", seconds);
  return text;
}

/// Ends after run.budget_seconds of wall time, earlier sessions included; 0: never.
class Seconds final : public StopPolicy {
 public:
  explicit Seconds(const RunOptions& options)
      : budget_(options.budget_seconds), reason_(seconds_text(budget_)) {}

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
