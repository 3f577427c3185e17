#include "moves/edit/known_shape.h"

#include <algorithm>
#include <utility>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {
namespace {

/// Calls `sees` with what a move on known sizes sees, in turn, until it returns true: the kernel in
/// normal form, if there is one, the given one, and whichever of them is normal with a guard; each
/// with its sizes known first.
template <class Sees>
void in_turn(const MoveContext& given, const Sees& sees) {
  const auto of = [&](const Variant& variant) {
    return MoveContext{given.spec, variant, given.device};
  };
  const auto saw = [&](const MoveContext& one) {
    const auto shaped = with_known_shape(one);
    return (shaped && sees(of(*shaped))) || sees(one);
  };
  const auto normal = with_normal_form(given);
  if ((normal && saw(of(*normal))) || saw(given)) return;
  const MoveContext plain = normal ? of(*normal) : given;
  auto guarded = with_point_a_thread(plain);
  if (!guarded) guarded = with_guard(plain);
  if (guarded) static_cast<void>(saw(of(*guarded)));
}

/// The kernel has a guard of its own, for more threads than are launched.
bool is_beyond_launch(const MoveContext& given) {
  std::string why;
  const auto model = model::model_kernel(given.spec, given.variant, why);
  return model != nullptr &&
         std::ranges::any_of(model->facts.thread_indices, &model::ThreadIndex::beyond_launch);
}

class OnKnownShape final : public Move {
 public:
  explicit OnKnownShape(std::unique_ptr<Move> move) : move_(std::move(move)) {}

  [[nodiscard]] std::string_view name() const override { return move_->name(); }
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
    std::string first;
    in_turn(given, [&](const MoveContext& seen) {
      why.clear();
      out = move_->apply(seen, wanted, why);
      if (first.empty()) first = why;
      return out.has_value();
    });
    // more useful than that the given kernel has a normal form, or what a further guard hides
    if (!out && (with_normal_form(given) || is_beyond_launch(given))) why = first;
    return out;
  }

  /// The inverse of the move alone: the normal form and constant sizes remain.
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
