#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "moves/blocks/block_reduction.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Statements of the kernel's body that compute a value for each thread, which the block then
/// combines: `float v = x[blockIdx.x * blockDim.x + threadIdx.x];`. In place of the threads a loop
/// can run them. They write nothing but variables declared among them and elements of shared arrays
/// that only their thread uses until a reduction combines them, and load nothing that the kernel
/// stores.
class ThreadValues {
 public:
  /// Whether the name is not that of a variable with other values of the threads.
  using Understood = std::function<bool(const model::Expr&)>;

  ThreadValues(const model::KernelModel& model, const std::vector<BlockReduction>& reductions);

  /// The access is to the element of its thread, in front of the reduction that combines it.
  [[nodiscard]] bool is_slot(const model::Access& access) const;
  /// The variable is declared among the statements.
  [[nodiscard]] bool has(const model::Declarator& variable) const;
  /// A statement changes one of the values.
  [[nodiscard]] bool changes(const model::Stmt& s) const;
  /// Takes a statement of the kernel's body, and the declarations in front of it of what it sets:
  /// all that are taken then, none if it is not such a statement.
  [[nodiscard]] std::vector<const model::Stmt*> take(const model::Stmt& s,
                                                     const Understood& understood);

  /// The total is one of the values that are there.
  [[nodiscard]] bool has_value(const BlockTotal& total) const;
  /// Declares a variable for each total and a loop over the block's threads that combines the
  /// values in it: text with blockIdx.x in it, in place of the reduction. Empty if what the
  /// statements use has changed since.
  [[nodiscard]] std::string combined(const BlockReduction& reduction,
                                     const std::vector<const BlockTotal*>& totals,
                                     const std::vector<std::string>& names,
                                     std::set<std::string, std::less<>>& taken) const;
  /// From here on the values are those that the block has combined; numbers of threads stay.
  void combine(const BlockReduction& reduction);

 private:
  struct Slot {
    int array = 0;
    const BlockReduction* reduction = nullptr;
    const model::Declarator* declarator = nullptr;
  };

  [[nodiscard]] const Slot* slot_of(const model::Access& access) const;
  [[nodiscard]] bool is_private(const model::Stmt& s, const Understood& understood) const;
  [[nodiscard]] bool is_private(const model::Expr& e,
                                const model::Stmt& s,
                                const Understood& understood) const;
  [[nodiscard]] bool loads_constants(const model::Stmt& s) const;
  [[nodiscard]] bool sets_alone(const model::Stmt& s,
                                std::vector<const model::Stmt*>& declarations) const;
  [[nodiscard]] bool is_spared(const model::Declarator& d, const model::Stmt& s) const;
  [[nodiscard]] bool is_unchanged(const model::Stmt& s, std::size_t until) const;
  [[nodiscard]] std::string type_of(const model::Declarator& d) const;
  [[nodiscard]] std::string slot_name(const Slot& slot) const;
  [[nodiscard]] std::string text_of(const model::Stmt& s, const std::string& thread) const;

  const model::KernelModel& model_;
  const model::Unit& unit_;
  const model::KernelFacts& facts_;
  std::vector<Slot> slots_;
  std::vector<const model::Stmt*> statements_;  ///< in the order of the text
};

}  // namespace warpath
