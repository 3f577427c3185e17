#include <string>

#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

/// Ends at exactly run.budget_builds evaluations.
class Builds final : public StopPolicy {
 public:
  explicit Builds(const Options& options)
      : budget_(static_cast<std::uint64_t>(options.run.budget_builds)),
        reason_(std::to_string(budget_) + (budget_ == 1 ? " build" : " builds")) {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    return progress.evaluations >= budget_ ? std::string_view(reason_) : std::string_view();
  }
  [[nodiscard]] std::uint64_t remaining(const Progress&, std::uint64_t dispatched) const override {
    return dispatched < budget_ ? budget_ - dispatched : 0;
  }

 private:
  std::uint64_t budget_;
  std::string reason_;
};

}  // namespace

void register_stop_builds(StopRegistry& registry) {
  registry.add("builds", "after run.budget_builds evaluations",
               [](const Options& options) { return std::make_unique<Builds>(options); });
}

}  // namespace warpath
