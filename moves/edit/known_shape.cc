#include "moves/edit/known_shape.h"

#include <utility>

namespace warpath {
namespace {

/// Calls `sees` with what a move on known sizes sees, in turn, until it returns true: the kernel in
/// normal form and this one with its sizes known first, if there is a normal form; then the given
/// one in the same way.
template <class Sees>
void in_turn(const MoveContext& given, const Sees& sees) {
  const auto of = [&](const Variant& variant) {
    return MoveContext{given.spec, variant, given.device};
  };
  if (const auto normal = with_normal_form(given)) {
    const auto shaped = with_known_shape(of(*normal));
    if ((shaped && sees(of(*shaped))) || sees(of(*normal))) return;
  }
  const auto shaped = with_known_shape(given);
  if (shaped && sees(of(*shaped))) return;
  sees(given);
}

class OnKnownShape final : public Move {
 public:
  explicit OnKnownShape(std::unique_ptr<Move> move) : move_(std::move(move)) {}

  [[nodiscard]] std::string_view name() const override { return move_->name(); }
  [[nodiscard]] std::vector<std::string> aliases() const override { return move_->aliases(); }
  [[nodiscard]] bool structural() const override { return true; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& given) const override {
    std::vector<MoveInstance> out;
    in_turn(given, [&](const MoveContext& seen) {
      out = move_->enumerate(seen);
      return !out.empty();
    });
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& given,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    const bool normal = with_normal_form(given).has_value();
    in_turn(given, [&](const MoveContext& seen) {
      out = move_->domain(seen, site);
      return !normal || !out.empty();
    });
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& given,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    std::optional<Variant> out;
    const bool normal = with_normal_form(given).has_value();
    std::string of_normal;
    in_turn(given, [&](const MoveContext& seen) {
      why.clear();
      out = move_->apply(seen, wanted, why);
      // what stops the move there says more than that the given kernel has a normal form
      if (&seen.variant != &given.variant && of_normal.empty()) of_normal = why;
      return out.has_value();
    });
    if (!out && normal) why = of_normal;
    return out;
  }

  /// Of the move alone: what became normal and sizes that became constants stay so.
  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& given,
                                                    const MoveInstance& done) const override {
    const bool changed = with_normal_form(given) || with_known_shape(given);
    return changed ? std::nullopt : move_->inverse(given, done);
  }

 private:
  std::unique_ptr<Move> move_;
};

}  // namespace

std::unique_ptr<Move> on_known_shape(std::unique_ptr<Move> move) {
  return std::make_unique<OnKnownShape>(std::move(move));
}

}  // namespace warpath
