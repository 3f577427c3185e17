#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// A variant that lacks one move of a path.
struct LeftOut {
  std::optional<Variant> variant;  ///< none: it could not be made
  /// then: the reason. Else where `needing` is not empty: why the first of them does not apply
  std::string why;
  /// MoveInstance::text() of later moves that do not apply without it: they are left out too, in
  /// order
  std::vector<std::string> needing = {};
};

/// The way from the baseline to a kernel, taken apart. References outlive it.
class MovePath {
 public:
  /// `variants`: from the baseline on, the kernel last; `instances`: one fewer, the step to each
  /// from the one before. A step that its move makes is made by the move wherever it is repeated;
  /// any other (a text of a model, of a file) is repeated as its difference.
  MovePath(const MoveTable& moves,
           const KernelSpec& spec,
           const DeviceFacts& device,
           std::vector<Variant> variants,
           std::vector<MoveInstance> instances);

  [[nodiscard]] std::size_t size() const { return instances_.size(); }
  [[nodiscard]] const MoveInstance& instance(std::size_t step) const { return instances_[step]; }
  [[nodiscard]] const Variant& before(std::size_t step) const { return variants_[step]; }
  [[nodiscard]] const Variant& kernel() const { return variants_.back(); }

  /// All steps but this one, in order, and but those that do not apply without it.
  [[nodiscard]] LeftOut without(std::size_t step) const;

  struct Reversed {
    MoveInstance instance;  ///< the move that undoes the step
    LeftOut result;         ///< of it, on the kernel
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
  std::vector<const Move*> made_by_;  // null: by no move
};

}  // namespace warpath
