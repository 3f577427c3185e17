#include "moves/edit/known_shape.h"

#include <utility>

namespace warpath {
namespace {

/// What a move on known sizes sees: the specialised variant, held here.
struct KnownShape {
  explicit KnownShape(const MoveContext& context) : shaped(with_known_shape(context)) {}
  [[nodiscard]] MoveContext context(const MoveContext& given) const {
    return {given.spec, *shaped, given.device};
  }
  std::optional<Variant> shaped;
};

class OnKnownShape final : public Move {
 public:
  explicit OnKnownShape(std::unique_ptr<Move> move) : move_(std::move(move)) {}

  [[nodiscard]] std::string_view name() const override { return move_->name(); }
  [[nodiscard]] std::vector<std::string> aliases() const override { return move_->aliases(); }
  [[nodiscard]] bool structural() const override { return true; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& given) const override {
    const KnownShape known(given);
    if (known.shaped) {
      if (auto found = move_->enumerate(known.context(given)); !found.empty()) return found;
    }
    return move_->enumerate(given);
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& given,
                                            std::string_view site) const override {
    const KnownShape known(given);
    return move_->domain(known.shaped ? known.context(given) : given, site);
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& given,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const KnownShape known(given);
    if (known.shaped) {
      if (auto made = move_->apply(known.context(given), wanted, why)) return made;
    }
    return move_->apply(given, wanted, why);
  }

  /// Of the move alone: sizes that became constants stay so.
  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& given,
                                                    const MoveInstance& done) const override {
    return with_known_shape(given) ? std::nullopt : move_->inverse(given, done);
  }

 private:
  std::unique_ptr<Move> move_;
};

}  // namespace

std::unique_ptr<Move> on_known_shape(std::unique_ptr<Move> move) {
  return std::make_unique<OnKnownShape>(std::move(move));
}

}  // namespace warpath
