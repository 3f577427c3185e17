#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "moves/model/facts_state.h"

namespace warpath::model {

/// An inlined call: of a function that consists of one return, or of a macro that is an expression.
struct Expansion {
  const Expr* result = nullptr;
  std::vector<std::string_view> parameters;
  bool is_macro = false;
};
/// nullopt for other calls, wrong numbers of arguments and bodies with side effects.
[[nodiscard]] std::optional<Expansion> expansion_of(const Unit& unit, const Expr& call);
/// Maximum nesting of expansions.
inline constexpr int kHelperDepth = 4;
/// __ldg and the loads with a cache hint.
[[nodiscard]] bool is_load_intrinsic(std::string_view name);

/// Evaluates expressions using what a walk has recorded.
class ValueReader {
 public:
  explicit ValueReader(const KernelFacts& facts) : facts_(facts), state_(*facts.state) {}
  [[nodiscard]] Value read(const Expr& expr);
  /// The location that a pointer expression, or an lvalue whose address is meant, refers to.
  [[nodiscard]] Value place(const Expr& expr);
  /// The comparisons implied by `condition` (or its negation); false if they are not all of it.
  bool comparisons(const Expr& condition, bool negated, std::vector<Polynomial>& out);
  /// "min" or "max" if it is that of both: `yes` where the condition holds, `no` where it does not;
  /// otherwise empty.
  [[nodiscard]] std::string_view extremum(const Expr& condition,
                                          const Polynomial& yes,
                                          const Polynomial& no);
  /// The operation on values.
  [[nodiscard]] Value combine(std::string_view op, const std::vector<Value>& operands);
  /// Binds the names in the expansion of `call` to their values.
  void bind(const Expr& call, const Expansion& expansion);

 private:
  Value binary(const Expr& expr);
  Value called(const Expr& expr);
  Value named(const Expr& expr);
  Value member(const Expr& expr);
  Value load(const Expr& expr);
  Value cast(const Expr& expr);
  Value itself(const Expr& expr);

  const KernelFacts& facts_;
  KernelFacts::State& state_;
  int depth_ = 0;
};

}  // namespace warpath::model
