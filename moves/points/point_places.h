#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/kernel_model.h"
#include "moves/points/point_differences.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

/// Variables that tell where a point is, and are computed again in place of being kept for each
/// point: integers made of the index and of what the points share, and pointers that far from
/// others. Those of the blocks around the statement that is written, in order.
class PointPlaces {
 public:
  /// `written`: names that the kernel changes anywhere.
  PointPlaces(const model::KernelModel& kernel,
              const PointDifferences& differs,
              const std::vector<std::string>& written)
      : kernel_(kernel), differs_(differs), written_(written) {}

  /// `index` is what tells the points apart.
  void of(std::string index) { index_ = std::move(index); }

  /// The variable is one; `top`: of the kernel's own block, not of one inside.
  [[nodiscard]] bool is_place(const model::Declarator& d, bool top) const;
  /// Comparisons of integers made of places and of what the points share, which stay as they are:
  /// to test again costs nothing.
  [[nodiscard]] bool is_made_of_them(const model::Expr& test) const;

  void push(const model::Declarator& place) { places_.push_back(&place); }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  void shrink(std::size_t size) { places_.resize(size); }
  /// Variables of the loops around, the same throughout an iteration.
  void push_counter(std::string name) { counters_.push_back(std::move(name)); }
  void pop_counter() { counters_.pop_back(); }
  /// Conditions that are tested wherever a point does something.
  void push_test(const model::Expr& test) { tests_.push_back(&test); }
  void pop_test() { tests_.pop_back(); }
  [[nodiscard]] bool tests(std::string_view name) const {
    return std::ranges::any_of(tests_,
                               [&](const auto* test) { return model::mentions(*test, name); });
  }

  /// Those that are needed and that the statements do not declare, in order.
  template <class Needs>
  [[nodiscard]] std::vector<const model::Declarator*> needed(
      const Needs& needs, const std::vector<const model::Stmt*>& run) const {
    std::vector<const model::Declarator*> out;
    for (auto at = places_.rbegin(); at != places_.rend(); ++at) {
      const model::Declarator& d = **at;
      const bool own = std::ranges::any_of(run, [&](const auto* s) { return s == d.stmt; });
      const bool wanted = needs(d.name) || std::ranges::any_of(out, [&](const auto* other) {
                            return model::mentions(*other->value(), d.name);
                          });
      if (!own && wanted) out.insert(out.begin(), &d);
    }
    return out;
  }

 private:
  /// The name means the same, with the same value, wherever it stands in the block that is written.
  [[nodiscard]] bool is_known_again(std::string_view name) const;

  const model::KernelModel& kernel_;
  const PointDifferences& differs_;
  const std::vector<std::string>& written_;
  std::string index_;
  std::vector<const model::Declarator*> places_;
  std::vector<std::string> counters_;
  std::vector<const model::Expr*> tests_;
};

}  // namespace warpath
