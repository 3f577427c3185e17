#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// The outermost coordinate of a kernel's points: blocks along an axis of the grid of their own, or
/// the slowest part of a flat index.
struct OuterAxis {
  int grid_axis = -1;           ///< 1 or 2; -1: of the flat index
  model::Polynomial extent{0};  ///< outer indices
  // of the flat index alone
  const model::ThreadIndex* index = nullptr;  ///< bounded; `pack` times the thread's number along x
  std::int64_t pack = 1;
  model::Polynomial inner{1};  ///< elements from one outer index to the next
};

/// The flat index's slowest coordinates, the one with the most elements inside first: those by
/// whose number of elements the kernel divides the index, and which divides the index's bound.
[[nodiscard]] std::vector<OuterAxis> flat_axes(const model::KernelModel& kernel, std::string& why);

/// Fewest elements of an outer index, so that neighbours stay beside each other.
inline constexpr std::int64_t kLeastInner = 32;

/// How a value depends on the outer index.
struct OuterStep {
  /// what it grows by from one outer index to the next; zero: it is the same for all of them.
  /// nullopt: anything.
  std::optional<model::Polynomial> step;
  bool nonnegative = false;
  std::optional<std::int64_t> most = {};  ///< at outer index 0
  [[nodiscard]] bool is_same() const { return step && step->is_zero(); }
};

/// What the kernel's values do from one outer index to the next, by rules on its expressions: the
/// quotient of something that grows by a multiple of the divisor grows by the quotient, and its
/// remainder stays. Variables are known by name.
class OuterSteps {
 public:
  OuterSteps(const model::KernelModel& kernel, const OuterAxis& axis)
      : kernel_(kernel), facts_(kernel.facts), axis_(axis) {}

  [[nodiscard]] OuterStep of(const model::Expr& e) const;
  /// The name differs from one outer index to the next, by `step` if that is known.
  void vary(std::string_view name, const OuterStep& step = {}) {
    varying_.insert_or_assign(std::string(name), step);
  }
  /// The name counts from 0 to below `count`.
  void count(std::string_view name, std::int64_t count) {
    counts_.insert_or_assign(std::string(name), count);
  }
  [[nodiscard]] bool varies(std::string_view name) const { return varying_.contains(name); }
  /// Null if the name does not vary.
  [[nodiscard]] const OuterStep* step_of(std::string_view name) const {
    const auto found = varying_.find(name);
    return found == varying_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::size_t varying() const { return varying_.size(); }
  /// The block's number along the axis, where that is the coordinate.
  [[nodiscard]] bool is_block_number(const model::Expr& e) const;

 private:
  [[nodiscard]] OuterStep of_name(const model::Expr& e) const;
  [[nodiscard]] OuterStep of_binary(const model::Expr& e) const;
  [[nodiscard]] OuterStep quotient(const OuterStep& a, const model::Polynomial& by) const;
  [[nodiscard]] OuterStep remainder(const OuterStep& a, const model::Polynomial& by) const;

  const model::KernelModel& kernel_;
  const model::KernelFacts& facts_;
  const OuterAxis& axis_;
  std::map<std::string, OuterStep, std::less<>> varying_;
  std::map<std::string, std::int64_t, std::less<>> counts_;
};

/// The divisor's value of a division or remainder, spelled by operators or by shifts and masks;
/// nullopt if `e` is neither.
[[nodiscard]] std::optional<model::Polynomial> divisor_of(const model::KernelFacts& facts,
                                                          const model::Expr& e);

}  // namespace warpath
