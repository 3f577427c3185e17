#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// A variant without one move of a path.
struct LeftOut {
  std::optional<Variant> variant;  ///< absent: it could not be made
  /// why not; otherwise, if `needing` is not empty, why the first of those does not apply
  std::string why;
  /// MoveInstance::text() of later moves that do not apply without it and are left out too, in
  /// order
  std::vector<std::string> needing = {};
};

/// The path from the baseline to a kernel, decomposed. References must outlive it.
class MovePath {
 public:
  /// `variants`: from the baseline to the kernel; `instances`: the step to each from the one
  /// before, one fewer. Steps made by moves are repeated by the move; others (a model's or file's
  /// text) as differences.
  MovePath(const MoveTable& moves,
           const KernelSpec& spec,
           const DeviceFacts& device,
           std::vector<Variant> variants,
           std::vector<MoveInstance> instances);

  [[nodiscard]] std::size_t size() const { return instances_.size(); }
  [[nodiscard]] const MoveInstance& instance(std::size_t step) const { return instances_[step]; }
  [[nodiscard]] const Variant& before(std::size_t step) const { return variants_[step]; }
  [[nodiscard]] const Variant& kernel() const { return variants_.back(); }

  /// All steps except this one, in order, and except those that do not apply without it.
  [[nodiscard]] LeftOut without(std::size_t step) const { return without(std::set{step}); }
  /// The same without several; none: the kernel.
  [[nodiscard]] LeftOut without(const std::set<std::size_t>& steps) const;

  struct Reversed {
    MoveInstance instance;  ///< the move that undoes the step
    LeftOut result;         ///< on the kernel
  };
  /// nullopt: the step has no inverse.
  [[nodiscard]] std::optional<Reversed> reversed(std::size_t step) const;

 private:
  [[nodiscard]] std::optional<Variant> repeat(std::size_t step,
                                              const Variant& at,
                                              std::string& why) const;
  [[nodiscard]] std::optional<Variant> checked(std::optional<Variant> variant,
                                               std::string& why) const;

  const MoveTable& moves_;
  const KernelSpec& spec_;
  const DeviceFacts& device_;
  std::vector<Variant> variants_;
  std::vector<MoveInstance> instances_;
  std::vector<const Move*> made_by_;  // null: not made by a move
};

}  // namespace warpath
