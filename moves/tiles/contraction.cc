#include "moves/tiles/contraction.h"

#include <algorithm>
#include <set>

#include "engine/text/function_text.h"
#include "engine/text/local_names.h"
#include "engine/text/source_edit.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_ends.h"
#include "moves/tiles/contraction_factors.h"
#include "moves/tiles/contraction_groups.h"
#include "moves/tiles/contraction_summand.h"

namespace warpath {
namespace {

using namespace model;

/// Reads the parts of a kernel into a Contraction. Each step returns false with one line in `why`.
class ContractionFinder {
 public:
  ContractionFinder(const MoveContext& context, const KernelModel& kernel, std::string& why)
      : context_(context),
        unit_(kernel.unit),
        kernel_(*kernel.kernel),
        facts_(kernel.facts),
        parts_(context, kernel),
        why_(why) {}

  std::optional<Contraction> run() {
    if (why_ = facts_.threads_veto(); !why_.empty()) return std::nullopt;
    if (!find_loop() || !parts_.split(*loop_->stmt, why_) || !read_axes() || !read_bounds() ||
        !find_groups(parts_, axes_, groups_, why_) || !read_factors() || !name_axes() ||
        !read_prologue(parts_, out_, axes_, loop_->reductions.front(), dropped_, why_) ||
        !read_epilogue() || !check_texts()) {
      return std::nullopt;
    }
    out_.body_begin = kernel_.body->span.begin + 1, out_.body_end = kernel_.body->span.end - 1;
    out_.parameters_begin = kernel_.parameters_span.begin,
    out_.parameters_end = kernel_.parameters_span.end;
    return out_;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool find_loop() {
    for (const auto& loop : facts_.loops) {
      if (!loop->counted || loop->reductions.size() != 1 || !loop->children.empty()) continue;
      if (loop->kind != LoopClass::reduction || loop->thread_axis >= 0) continue;
      const Reduction& r = loop->reductions.front();
      if (r.op != ReduceOp::add || r.negated || r.declarator == nullptr) continue;
      if (loop_ != nullptr) return fail("more than one sum");
      loop_ = loop.get();
    }
    if (loop_ == nullptr) return fail("no loop sums products into a variable");
    if (loop_->parent != nullptr) return fail("the sum's loop stands in another loop");
    if (!loop_->first.is_zero() || loop_->step != Polynomial(1) || loop_->descending)
      return fail("the sum does not run from 0 in steps of 1");
    const Reduction& r = loop_->reductions.front();
    out_.k = loop_->variable;
    if (loop_->declarator != nullptr)
      out_.k_type = std::string(unit_.text(loop_->declarator->type));
    const bool plain = loop_->bound_expr != nullptr && !loop_->inclusive;
    out_.k_extent = plain ? unit_.plain_text(loop_->bound_expr->outer) : loop_->source_end.text();
    out_.k_size = parts_.fixed(loop_->end);
    out_.accumulator = r.accumulator;
    out_.accumulator_type = r.type;
    return true;
  }

  bool read_axes() {
    axes_ = contraction_axes(parts_);
    if (axes_.size() != 2)
      return fail("the output is not indexed by two variables made of thread indices");
    return true;
  }

  bool read_bounds() {
    for (const Condition& condition : parts_.conditions()) {
      const auto bound = upper_bound(parts_, condition);
      const auto axis =
          !bound ? axes_.end() : std::find_if(axes_.begin(), axes_.end(), [&](const AxisPart& a) {
            return a.axis.name == bound->name;
          });
      if (axis != axes_.end() && axis->axis.extent.empty() && !parts_.on_threads(bound->text)) {
        axis->axis.extent = bound->text;
        axis->axis.size = bound->size;
        axis->extent = bound->value;
        if (!bound->launch_text.empty()) axis->axis.launch_extent = bound->launch_text;
      } else if (!is_used_up(parts_, condition) && !lower_bound_only(parts_, condition, axes_)) {
        const std::string text = parts_.text(condition);
        if (parts_.on_threads(text))
          return fail("a condition on the outputs is no upper bound of an index: " + text);
        out_.guards.push_back(text);
      }
    }
    for (AxisPart& part : axes_) {
      if (part.axis.launch_extent.empty())
        return fail("the extent of " + part.axis.name + " is not known to the launch");
      if (part.axis.extent.empty() && !part.axis.size)
        return fail("nothing bounds " + part.axis.name);
      if (part.axis.extent.empty()) part.axis.extent = std::to_string(*part.axis.size);
    }
    return true;
  }

  /// The accumulator's update: sum += a * b in any spelling, or of two loads in another way.
  bool read_factors() {
    const Reduction& r = loop_->reductions.front();
    std::vector<const Expr*> factors;
    if (r.factor_a != nullptr && r.factor_b != nullptr) {
      factors = {r.factor_a, r.factor_b};
    } else if (r.value != nullptr) {
      collect_factors(*r.value, factors);
    }
    if (factors.empty()) return fail("the sum is not one of products of two factors");
    for (const Stmt* stmt : statements(*loop_->stmt->body)) {
      if (stmt == r.stmt || stmt->is(StmtKind::empty) || only_steps(unit_, *stmt, out_.k)) continue;
      if (!stmt->is(StmtKind::declaration) || stmt->text_only)
        return fail("the sum's loop does more than sum");
    }
    if (!read_product(factors) && !read_summand(factors.size() == 1 ? factors[0] : r.value))
      return false;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& value = factors_[i].operand.value;
      for (std::size_t axis = 0; axis < 2; ++axis)
        depends_[i][axis] = parts_.depends(value, axes_[axis].axis.name);
      if (depends_[i][0] == depends_[i][1])
        return fail("the factor " + value + " does not depend on exactly one index of the output");
    }
    if (depends_[0][0] == depends_[1][0])
      return fail("both factors depend on the same index of the output");
    return true;
  }

  bool read_product(const std::vector<const Expr*>& factors) {
    if (factors.size() != 2) return fail("the sum is not one of products of two factors");
    for (std::size_t i = 0; i < 2; ++i) {
      auto read = contraction_factor(parts_, *factors[i], *loop_, why_);
      if (!read) return false;
      factors_[i] = std::move(*read);
    }
    out_.product = "$a * $b";
    return true;
  }

  /// If it is none either, `why` is what it says of a product.
  bool read_summand(const Expr* value) {
    std::string why;
    const auto summand =
        value == nullptr ? std::nullopt : contraction_summand(parts_, *value, *loop_, why);
    if (!summand) return false;
    factors_ = summand->factors;
    out_.product = summand->text;
    return true;
  }

  static void collect_factors(const Expr& e, std::vector<const Expr*>& out) {
    if (!e.is_op(ExprKind::binary, "*")) return out.push_back(&e);
    collect_factors(e.arg(0), out);
    collect_factors(e.arg(1), out);
  }

  /// n is the axis along which the output is contiguous; without one, the axis of the second
  /// factor.
  bool name_axes() {
    std::size_t n = depends_[0][0] ? 1 : 0;
    for (const Access* access : parts_.stores()) {
      const Polynomial index = parts_.expanded(access->source_index);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::string& name = axes_[axis].axis.name;
        if (index.affine_in(name) && parts_.fixed(index.coefficient_of(name)) == 1) n = axis;
      }
    }
    out_.n = axes_[n].axis, out_.m = axes_[1 - n].axis;
    out_.groups = groups_.groups;
    if (out_.groups && groups_.axis != out_.m.name)
      return fail("the groups are not made of rows of the output");
    const std::size_t a = depends_[0][1 - n] ? 0 : 1;
    out_.a = factors_[a].operand, out_.b = factors_[1 - a].operand;
    if (a == 1) out_.product = with_factors(out_.product, "$b", "$a");
    return read_strides(parts_, out_.a, factors_[a], *loop_, axes_[1 - n], why_) &&
           read_strides(parts_, out_.b, factors_[1 - a], *loop_, axes_[n], why_) && choose_grid();
  }

  bool choose_grid() {
    std::set<std::size_t> used;
    for (const AxisPart& part : axes_)
      used.insert(part.launch_axes.begin(), part.launch_axes.end());
    std::vector<std::size_t> spare;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool one = context_.variant.launch.grid[axis] == Expression(1);
      if (used.contains(axis)) continue;
      if (context_.variant.launch.block[axis] != Expression(1))
        return fail("threads of axis " + std::to_string(axis) + " are not told apart");
      if (one) spare.push_back(axis);
      if (one) continue;
      if (!out_.batch.launch_extent.empty()) return fail("two batch axes");
      out_.batch.launch_axis = axis;
      out_.batch.launch_extent = context_.variant.launch.grid[axis].text();
      out_.batch.name = parts_.block_index_name(axis);
    }
    std::vector<std::size_t> free(used.begin(), used.end());
    free.insert(free.end(), spare.begin(), spare.end());
    std::sort(free.begin(), free.end());
    if (free.size() < 2) return fail("no two grid axes for tiles");
    out_.n_grid_axis = free[0], out_.m_grid_axis = free[1];
    return true;
  }

  bool read_epilogue() {
    out_.epilogue = contraction_epilogue(parts_);
    if (out_.epilogue.empty()) return fail("nothing is done with the sum");
    out_.epilogue = out_.start + out_.epilogue;
    if (mentions_name(out_.epilogue, out_.k))
      return fail("the loop's variable is used behind the loop");
    read_store(parts_, out_, axes_);
    return true;
  }

  /// No part may depend on the old launch beyond the axes and the batch.
  bool check_texts() {
    std::string all = out_.a.value + "\n" + out_.b.value + "\n" + out_.epilogue + "\n" +
                      out_.k_extent + "\n" + out_.m.extent + "\n" + out_.n.extent;
    for (const std::string& guard : out_.guards) all += "\n" + guard;
    const std::set<std::string> needed = closure(out_, all);
    for (const std::string_view word : {"threadIdx", "blockDim", "gridDim"}) {
      if (needed.contains(std::string(word)))
        return fail("the kernel uses " + std::string(word) + " beyond its indices");
    }
    for (const std::string& name : dropped_) {
      if (needed.contains(name)) return fail("the kernel uses " + name + " beyond its indices");
    }
    std::erase_if(out_.prologue, [&](const ContractionStatement& s) {
      return std::none_of(s.defines.begin(), s.defines.end(),
                          [&](const std::string& d) { return needed.contains(d); });
    });
    for (const ContractionStatement& s : out_.prologue) {
      if (s.on_m && s.on_n && !parts_.is_flat_index(s.defines.front()))
        return fail("a value before the sum depends on both indices: " + s.defines.front());
    }
    for (const AxisPart& part : axes_) {
      for (const std::size_t axis : part.launch_axes) {
        if (mentions_block_index(all + prologue_text(), axis))
          return fail("the kernel uses the block index beyond its indices");
      }
    }
    return true;
  }

  [[nodiscard]] std::string prologue_text() const {
    std::string out;
    for (const ContractionStatement& s : out_.prologue) out += "\n" + s.text;
    return out;
  }

  static std::set<std::string> closure(const Contraction& c, const std::string& text) {
    std::set<std::string> names = names_in(text);
    for (bool grew = true; grew;) {
      grew = false;
      for (const ContractionStatement& s : c.prologue) {
        if (std::none_of(s.defines.begin(), s.defines.end(),
                         [&](const std::string& d) { return names.contains(d); }))
          continue;
        for (const std::string& name : names_in(s.text)) grew = names.insert(name).second || grew;
      }
    }
    return names;
  }

  const MoveContext& context_;
  const Unit& unit_;
  const Function& kernel_;
  const KernelFacts& facts_;
  ContractionParts parts_;
  std::string& why_;
  Contraction out_;
  const Loop* loop_ = nullptr;
  std::vector<AxisPart> axes_;
  RaggedGroups groups_;
  std::vector<std::string> dropped_;  // names of the old launch alone
  std::array<std::array<bool, 2>, 2> depends_{};
  std::array<FactorPart, 2> factors_;
};

}  // namespace

bool mentions_name(std::string_view text, std::string_view name) {
  return names_in(text).contains(std::string(name));
}

std::string replace_name(std::string_view text, std::string_view name, std::string_view by) {
  const CodeText code(text);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is(i, name) && code.is_name(i) && !is_member(code, i))
      edits.push_back({code.tokens[i].begin, code.tokens[i].end, std::string(by)});
  }
  return edited(text, std::move(edits));
}

std::string Contraction::prologue_for(std::string_view text, std::string_view indent) const {
  std::set<std::string> needed = names_in(text);
  std::vector<bool> taken(prologue.size(), false);
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = prologue.size(); i-- > 0;) {
      const ContractionStatement& s = prologue[i];
      if (taken[i] || !(s.on_m || s.on_n)) continue;
      if (std::none_of(s.defines.begin(), s.defines.end(),
                       [&](const std::string& d) { return needed.contains(d); }))
        continue;
      taken[i] = grew = true;
      for (const std::string& name : names_in(s.text)) needed.insert(name);
    }
  }
  std::string out;
  for (std::size_t i = 0; i < prologue.size(); ++i) {
    if (taken[i]) out += std::string(indent) + prologue[i].text + "\n";
  }
  return out;
}

std::string Contraction::uniform_prologue(std::string_view indent) const {
  std::string out;
  for (const ContractionStatement& s : prologue) {
    if (!s.on_m && !s.on_n) out += std::string(indent) + s.text + "\n";
  }
  return out;
}

std::optional<Contraction> find_contraction(const MoveContext& context, std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  return ContractionFinder(context, *kernel, why).run();
}

}  // namespace warpath
