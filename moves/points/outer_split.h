#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/kernel_model.h"
#include "moves/points/outer_change.h"

namespace warpath {

/// A statement under the kernel's guards, or an operand of a guard.
struct OuterItem {
  const model::Stmt* stmt = nullptr;  ///< of a guard: the if
  const model::Expr* exit = nullptr;  ///< the point is none if this is true
  bool negated = false;               ///< if it is false
  bool bound = false;                 ///< the bound of the flat index
  bool varies = false;                ///< belongs to the loop over outer indices
};

/// Which of a kernel's statements are the same for all outer indices and may be run once before all
/// others. The work of a loop of fixed length that holds both kinds is split by its statements.
class OuterSplit {
 public:
  OuterSplit(const model::KernelModel& kernel, const OuterAxis& axis)
      : steps(kernel, axis), kernel_(kernel), facts_(kernel.facts), axis_(axis) {}

  /// False with one line in `why` if the kernel has no such form.
  [[nodiscard]] bool find(std::string& why);
  /// A loop of fixed length whose statements are told apart one by one.
  [[nodiscard]] bool is_lanes(const model::Stmt& s) const;
  /// The statement belongs to the loop over outer indices; of a declaration: one of its names.
  [[nodiscard]] bool varies(const model::Stmt& s) const;
  /// Takes longer than what names a place, and is not the same for the whole grid.
  [[nodiscard]] bool is_work(const model::Expr& e) const;
  /// The expression has no effect and reads no memory that the kernel changes.
  [[nodiscard]] bool is_quiet(const model::Expr& e) const;
  [[nodiscard]] bool mentions_varying(const model::Expr& e) const;
  [[nodiscard]] bool declared_once(std::string_view name) const { return declared(name) == 1; }

  OuterSteps steps;
  std::vector<OuterItem> items;
  bool work = false;            ///< something that takes time is the same for all outer indices
  bool exits_in_loop = false;   ///< outer indices may be skipped
  std::set<std::string> first;  ///< names that vary and are needed before the loop, too

 private:
  bool flatten(const model::Stmt& block, std::string& why);
  bool guard(const model::Expr& e, bool leaves, const model::Stmt& s, std::string& why);
  [[nodiscard]] std::size_t declared(std::string_view name) const;
  void mark(const model::Stmt& s, bool safe);
  void mark_declaration(const model::Stmt& s, bool safe);
  void mark_order(const std::vector<const model::Stmt*>& list);
  void mark_items();
  [[nodiscard]] bool leaves(const model::Stmt& s) const;
  [[nodiscard]] bool is_same(const model::Stmt& s) const;
  [[nodiscard]] bool is_safe(const model::Stmt& s) const;
  [[nodiscard]] bool reads_only_constants(model::Span span) const;
  void find_work(const model::Stmt& s);
  void need_first(const model::Expr& e);

  const model::KernelModel& kernel_;
  const model::KernelFacts& facts_;
  const OuterAxis& axis_;
};

}  // namespace warpath
