#include "engine/plugin/policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/plugin/options.h"
#include "register_backups.h"
#include "register_selections.h"
#include "register_stops.h"
#include "register_widenings.h"

namespace warpath {
namespace {

class AnyOf final : public StopPolicy {
 public:
  explicit AnyOf(std::vector<std::unique_ptr<StopPolicy>> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::string_view reason(const Progress& progress) const override {
    for (const auto& part : parts_) {
      if (const std::string_view why = part->reason(progress); !why.empty()) return why;
    }
    return {};
  }
  [[nodiscard]] std::uint64_t remaining(const Progress& progress,
                                        std::uint64_t dispatched) const override {
    std::uint64_t least = UINT64_MAX;
    for (const auto& part : parts_) least = std::min(least, part->remaining(progress, dispatched));
    return least;
  }
  [[nodiscard]] bool needs_bound() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->needs_bound(); });
  }

 private:
  std::vector<std::unique_ptr<StopPolicy>> parts_;
};

}  // namespace

std::unique_ptr<SelectionPolicy> make_selection(const Options& options) {
  return registered_selections().create("search.selection", options.search.selection, options);
}

std::unique_ptr<BackupPolicy> make_backup(const Options& options) {
  return registered_backups().create("search.backup", options.search.backup, options);
}

std::unique_ptr<WideningPolicy> make_widening(const Options& options) {
  return registered_widenings().create("search.widening", options.search.widening, options);
}

std::unique_ptr<StopPolicy> make_stop(const Options& options) {
  const StopRegistry& registry = registered_stops();
  std::vector<std::unique_ptr<StopPolicy>> parts;
  for (const auto& [name, entry] : registry.entries()) parts.push_back(entry.make(options));
  return std::make_unique<AnyOf>(std::move(parts));
}

}  // namespace warpath
