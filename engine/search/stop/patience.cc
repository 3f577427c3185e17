#include <string>

#include "engine/plugin/options.h"
#include "register_stops.h"

namespace warpath {
namespace {

/// Ends after run.patience evaluations without a better one; 0: never.
class Patience final : public StopPolicy {
 public:
  explicit Patience(const RunOptions& options)
      : patience_(static_cast<std::uint64_t>(options.patience)),
        reason_(std::to_string(patience_) + (patience_ == 1 ? " build" : " builds") +
                " without a better one") {}

  std::string_view reason(const Progress& progress) const override {
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
               [](const RunOptions& options) { return std::make_unique<Patience>(options); });
}

}  // namespace warpath
