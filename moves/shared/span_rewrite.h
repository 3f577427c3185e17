#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/text/source_edit.h"
#include "moves/model/facts.h"
#include "moves/shared/device_limits.h"

namespace warpath {

/// Edits of one kernel that become a variant together. Borrows the model.
class Rewrite {
 public:
  explicit Rewrite(const model::KernelModel& model) : unit_(model.unit), kernel_(*model.kernel) {}
  void replace(model::Span span, std::string text) {
    edits_.push_back({span.begin, span.end, std::move(text)});
  }
  void insert(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
  void add(std::vector<Edit> edits);
  /// Lines of code at the head of the kernel's body, in the order of the calls.
  void declare_first(std::string_view lines);
  /// Lines before the one on which `stmt` starts, indented like it.
  void before(const model::Stmt& stmt, std::string_view lines);
  /// Lines behind `stmt`.
  void after(const model::Stmt& stmt, std::string_view lines);
  /// A name that the file does not have; never the same twice.
  [[nodiscard]] std::string fresh(std::string_view wish);
  /// `from` with the edited source.
  [[nodiscard]] Variant finish(const Variant& from);

 private:
  const model::Unit& unit_;
  const model::Function& kernel_;
  std::vector<Edit> edits_;
  std::string head_;
  std::set<std::string, std::less<>> taken_;
};

/// True if `instance` has exactly these parameters; else one line in `why`.
[[nodiscard]] bool takes(const MoveInstance& instance,
                         std::initializer_list<std::string_view> names,
                         std::string& why);

/// The text of `span` with the edits made that lie inside it.
[[nodiscard]] std::string substituted(const model::Unit& unit,
                                      model::Span span,
                                      const std::vector<Edit>& edits);
/// The statements of a body without braces, edits made, not indented, lines end in "\n".
[[nodiscard]] std::string body_text(const model::Unit& unit,
                                    const model::Stmt& body,
                                    const std::vector<Edit>& edits = {});
/// `text` without the indentation that all its lines share.
[[nodiscard]] std::string unindented(std::string_view text);
/// Replaces the variable `name` below `root` by `text`, in parentheses where an operator could take
/// it apart.
void rename_variable(const model::Stmt& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits);
void rename_variable(const model::Expr& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits);
/// The expression's text, in parentheses unless it is a name, a number, a call or a subscript.
[[nodiscard]] std::string factor_of(const model::Unit& unit, const model::Expr& expr);

/// Adds the edits that let later code change the variable: no `const` in its declaration. False if
/// others are declared with it.
[[nodiscard]] bool make_changeable(const model::Unit& unit,
                                   const model::Declarator& variable,
                                   std::vector<Edit>& edits);

/// C text fit to stand beside a *: in parentheses unless it is one operand or a product.
[[nodiscard]] std::string as_factor(const std::string& text);

/// Workloads that the device's runner uses; all of the spec if there are none. Never empty.
[[nodiscard]] std::vector<const Workload*> workloads_of(const MoveContext& context);
/// The argument of the spec that the kernel's parameter receives; null if the counts differ.
[[nodiscard]] const ArgSpec* argument_of(const KernelSpec& spec,
                                         const model::Function& kernel,
                                         const model::Declarator& parameter);

/// Value with all constants of the source, the tunables and the launch's constants; nullopt if a
/// size is open.
[[nodiscard]] std::optional<std::int64_t> fixed(const model::KernelFacts& facts,
                                                const model::Polynomial& value);
/// A multiple of n whatever the sizes are.
[[nodiscard]] bool is_multiple(const model::KernelFacts& facts,
                               const model::Polynomial& value,
                               std::int64_t n);
/// The value stays below 2^31 in every workload, or it is not known there (it follows data).
[[nodiscard]] bool stays_small(const MoveContext& context,
                               const model::KernelFacts& facts,
                               const model::Polynomial& value);
/// "ceil_div(grid, factor)".
[[nodiscard]] Expression divided(const Expression& count, std::int64_t factor);
/// True if a workload has a launch plan of its own, which a new one would replace.
[[nodiscard]] bool has_own_plans(const KernelSpec& spec);

/// The statement can leave the code around it: return, goto, or break and continue of a loop
/// outside it.
[[nodiscard]] bool jumps_out(const model::Stmt& stmt);
/// It has a barrier, a shuffle or vote, asm or another operation of several threads.
[[nodiscard]] bool joins_threads(const model::Stmt& stmt);

/// Wherever its statement is: no operand of ?:, && or || that may be left out.
[[nodiscard]] bool is_always_evaluated(const model::Expr& e);

/// The part of a kernel that a guard on its thread index protects.
struct GuardedBody {
  const model::ThreadIndex* index = nullptr;
  const model::Stmt* guard = nullptr;          ///< the if
  bool early_exit = false;                     ///< `if (i >= n) return;`
  std::vector<const model::Stmt*> statements;  ///< what it protects, in order, all in one block
  model::Span span;                            ///< of the statements, first to last
  /// the condition is nothing but the comparison with the bound
  bool only_bound = false;
};

/// The guarded body of a kernel whose threads each do the item of an index on `axis`; nullopt with
/// one line in `why` if there is none, or if something but declarations stands outside the guard.
[[nodiscard]] std::optional<GuardedBody> guarded_body(const model::KernelFacts& facts,
                                                      int axis,
                                                      std::string& why);

/// The bound of the thread's index as the guard writes it.
[[nodiscard]] std::string bound_text(const model::Unit& unit, const GuardedBody& body);

/// Shared memory that the kernel declares with a size of its own, in bytes; `except` is left out.
/// What a move adds must fit beside it.
[[nodiscard]] std::int64_t static_smem_bytes(const model::KernelFacts& facts,
                                             const model::Array* except = nullptr);

}  // namespace warpath
