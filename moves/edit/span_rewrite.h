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
#include "moves/edit/device_limits.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Collects edits of one kernel that together make a variant. Borrows the model.
class Rewrite {
 public:
  explicit Rewrite(const model::KernelModel& model) : unit_(model.unit), kernel_(*model.kernel) {}
  void replace(model::Span span, std::string text) {
    edits_.push_back({span.begin, span.end, std::move(text)});
  }
  void insert(std::size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }
  void add(std::vector<Edit> edits);
  /// Inserts lines at the head of the kernel's body, in order of the calls.
  void declare_first(std::string_view lines);
  /// Inserts lines before the line on which `stmt` starts, with its indentation.
  void before(const model::Stmt& stmt, std::string_view lines);
  /// Inserts lines after `stmt`.
  void after(const model::Stmt& stmt, std::string_view lines);
  /// An unused name in the file; never the same twice.
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

/// True if `instance` has exactly these parameters; otherwise one line in `why`.
[[nodiscard]] bool takes(const MoveInstance& instance,
                         std::initializer_list<std::string_view> names,
                         std::string& why);

/// The text of `span` after the edits inside it.
[[nodiscard]] std::string substituted(const model::Unit& unit,
                                      model::Span span,
                                      const std::vector<Edit>& edits);
/// The statements of a body without braces, edited and unindented; lines end in "\n".
[[nodiscard]] std::string body_text(const model::Unit& unit,
                                    const model::Stmt& body,
                                    const std::vector<Edit>& edits = {});
/// `text` without the common indentation of its lines.
[[nodiscard]] std::string unindented(std::string_view text);
/// Replaces the variable `name` below `root` by `text`, parenthesised where operator precedence
/// requires it.
void rename_variable(const model::Stmt& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits);
void rename_variable(const model::Expr& root,
                     std::string_view name,
                     std::string_view text,
                     std::vector<Edit>& edits);
/// Negation of a condition as C text: comparisons of integers turn round, || becomes &&.
[[nodiscard]] std::string negated(const model::KernelFacts& facts, const model::Expr& condition);
/// The expression's text, in parentheses unless it is a name, a number, a call or a subscript.
[[nodiscard]] std::string factor_of(const model::Unit& unit, const model::Expr& expr);

/// Adds edits that remove `const` from the variable's declaration. False if it is declared together
/// with others.
[[nodiscard]] bool make_changeable(const model::Unit& unit,
                                   const model::Declarator& variable,
                                   std::vector<Edit>& edits);

/// C text usable as an operand of *: in parentheses unless it is one operand or a product.
[[nodiscard]] std::string as_factor(const std::string& text);

/// Workloads that the device's runner uses and the variant serves; all that it serves if there are
/// none. Never empty.
[[nodiscard]] std::vector<const Workload*> workloads_of(const MoveContext& context);
/// The same of every runner.
[[nodiscard]] std::vector<const Workload*> all_workloads_of(const MoveContext& context);
/// KernelFacts::values, and the indices of the last thread along x. Throws as evaluate() of the
/// launch plan.
[[nodiscard]] Bindings last_thread(const MoveContext& context,
                                   const model::KernelFacts& facts,
                                   const Workload& workload);
/// The spec's argument for the kernel's parameter; null if the counts differ.
[[nodiscard]] const ArgSpec* argument_of(const KernelSpec& spec,
                                         const model::Function& kernel,
                                         const model::Declarator& parameter);

/// Value after substituting all constants of the source, the tunables and the launch; nullopt if a
/// size remains unknown.
[[nodiscard]] std::optional<std::int64_t> fixed(const model::KernelFacts& facts,
                                                const model::Polynomial& value);
/// True for a multiple of n regardless of the sizes.
[[nodiscard]] bool is_multiple(const model::KernelFacts& facts,
                               const model::Polynomial& value,
                               std::int64_t n);
/// True if the value is below 2^31 in every workload or depends on data.
[[nodiscard]] bool stays_small(const MoveContext& context,
                               const model::KernelFacts& facts,
                               const model::Polynomial& value);
/// "ceil_div(grid, factor)".
[[nodiscard]] Expression divided(const Expression& count, std::int64_t factor);
/// True if a workload has its own launch plan, which a new one would replace.
[[nodiscard]] bool has_own_plans(const KernelSpec& spec);

/// True if the statement can leave the surrounding code: return, goto, or break and continue of an
/// outer loop.
[[nodiscard]] bool jumps_out(const model::Stmt& stmt);
/// True if it contains a barrier, a shuffle or vote, asm or another operation of several threads.
[[nodiscard]] bool joins_threads(const model::Stmt& stmt);
/// True for the name of a function that does.
[[nodiscard]] bool joins_threads(std::string_view function);

/// True unless it is an operand of ?:, && or || that may be skipped.
[[nodiscard]] bool is_always_evaluated(const model::Expr& e);

/// The part of a kernel protected by a guard on its thread index.
struct GuardedBody {
  const model::ThreadIndex* index = nullptr;
  const model::Stmt* guard = nullptr;          ///< the if
  bool early_exit = false;                     ///< `if (i >= n) return;`
  std::vector<const model::Stmt*> statements;  ///< protected by it, in order, all in one block
  model::Span span;                            ///< of the statements, first to last
  /// the condition consists only of the comparison with the bound
  bool only_bound = false;
};

/// The guarded body of a kernel in which each thread handles one index on `axis`; nullopt with one
/// line in `why` if there is none, or if anything but declarations is outside the guard.
[[nodiscard]] std::optional<GuardedBody> guarded_body(const model::KernelFacts& facts,
                                                      int axis,
                                                      std::string& why);

/// The bound of the thread index as written in the guard.
[[nodiscard]] std::string bound_text(const model::Unit& unit, const GuardedBody& body);

/// The expression that names an element of the array `name`: its outermost subscript, `name` itself
/// without one. `depth`: the number of subscripts.
[[nodiscard]] const model::Expr& subscripted(const model::Expr& name, std::size_t& depth);

/// Bytes of statically sized shared memory that the kernel declares, without `except`. Additions by
/// a move must fit beside it.
[[nodiscard]] std::int64_t static_smem_bytes(const model::KernelFacts& facts,
                                             const model::Array* except = nullptr);

}  // namespace warpath
