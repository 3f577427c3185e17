#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/widening/first_play.h"
#include "register_widenings.h"

namespace warpath {
namespace {

/// Every action of a node is tried before any child is descended, as in UCT (Kocsis and Szepesvari
/// 2006).
class All final : public WideningPolicy {
 public:
  explicit All(const Options& options) : first_play_(options.of<FirstPlayOptions>()) {}

  [[nodiscard]] bool offer(std::uint64_t, std::uint32_t, std::uint32_t) const override {
    return true;
  }
  [[nodiscard]] bool forced() const override { return true; }
  [[nodiscard]] double first_play_value(double own_reward, double, double sigma) const override {
    return first_play_.value(own_reward, sigma);
  }

 private:
  FirstPlayOptions first_play_;
};

}  // namespace

void register_widening_all(WideningRegistry& registry) {
  registry.add("all", "every action before any child is descended (UCT)",
               [](const Options& options) { return std::make_unique<All>(options); },
               {&option_group_kind<FirstPlayOptions>()});
}

}  // namespace warpath
