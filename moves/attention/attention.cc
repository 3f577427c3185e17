#include "moves/attention/attention.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/ascii.h"
#include "moves/attention/attention_weight.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using namespace model;

/// Reads a kernel as an attention. Each step returns false with one line in `why`.
class AttentionFinder {
 public:
  AttentionFinder(const MoveContext& context, const KernelModel& kernel, std::string& why)
      : context_(context),
        unit_(kernel.unit),
        kernel_(*kernel.kernel),
        facts_(kernel.facts),
        why_(why) {}

  std::optional<Attention> run() {
    if (why_ = facts_.threads_veto(); !why_.empty()) return std::nullopt;
    if (!find_query() || !find_key_loop() || !read_key_loop() || !read_end() || !read_starts() ||
        !read_operands() || !read_prologue())
      return std::nullopt;
    out_.body_begin = kernel_.body->span.begin + 1, out_.body_end = kernel_.body->span.end - 1;
    return out_;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool find_query() {
    for (const ThreadIndex& index : facts_.thread_indices) {
      if (index.form == ThreadIndex::Form::block) continue;
      if (query_ != nullptr || index.form != ThreadIndex::Form::global || index.name.empty())
        return fail("no single index of a query");
      query_ = &index;
    }
    if (query_ == nullptr || !query_->bound || query_->guard == nullptr)
      return fail("no guarded index of a query");
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Expression& block = context_.variant.launch.block[axis];
      if (static_cast<int>(axis) != query_->axis && block != Expression(1))
        return fail("threads of another axis");
    }
    out_.t = query_->name;
    out_.type = std::string(unit_.text(query_->declarator->type));
    out_.launch_axis = static_cast<std::size_t>(query_->axis);
    const auto& launch = context_.variant.launch;
    out_.launch_queries = "(" + launch.grid[out_.launch_axis].text() + ") * (" +
                          launch.block[out_.launch_axis].text() + ")";
    return true;
  }

  /// The last loop over keys: it holds two loops over channels, one of which sums a dot product.
  bool find_key_loop() {
    for (const auto& loop : facts_.loops) {
      if (loop->parent == nullptr && loop->children.size() == 2 && loop->counted)
        parts_.loop = loop.get();
    }
    if (parts_.loop == nullptr)
      return fail("no loop over keys with a dot product and a weighted sum");
    if (!is_top(*parts_.loop->stmt)) return fail("the loop over keys stands in another statement");
    if (!parts_.loop->first.is_zero() || parts_.loop->step != Polynomial(1) ||
        parts_.loop->descending)
      return fail("the keys do not run from 0 in steps of 1");
    out_.u = parts_.loop->variable;
    const Polynomial t = Polynomial::name(out_.t);
    out_.queries = bound_text(*query_->bound);
    if (parts_.loop->source_end == t + Polynomial(1) ||
        parts_.loop->end == query_->value + Polynomial(1)) {
      out_.causal = true, out_.keys = out_.queries;
    } else if (facts_.uniformity(parts_.loop->end) != Uniformity::thread) {
      out_.keys = parts_.loop->source_end.text();
    } else {
      return fail("the range of keys depends on the query in another way than u <= t");
    }
    const Loop* dot = parts_.loop->children[0];
    for (const Loop* loop : parts_.loop->children) {
      if (!loop->trip_count || !loop->first.is_zero() || loop->step != Polynomial(1))
        return fail("the row length is no constant");
    }
    out_.channels = *dot->trip_count;
    if (parts_.loop->children[1]->trip_count != dot->trip_count)
      return fail("dot product and weighted sum have different lengths");
    out_.d = dot->variable;
    if (dot->reductions.size() != 1 || dot->reductions[0].op != ReduceOp::add ||
        dot->reductions[0].declarator == nullptr || dot->reductions[0].negated)
      return fail("no dot product");
    const Reduction& r = dot->reductions[0];
    parts_.score = r.accumulator;
    if (r.type != "float") return fail("the score is no float");
    factors_ = {r.factor_a, r.factor_b};
    if (r.value != nullptr) {
      const Expr& product = strip_casts(*r.value);
      if (!product.is_op(ExprKind::binary, "*")) return fail("the score is no sum of products");
      factors_ = {&strip_casts(product.arg(0)), &strip_casts(product.arg(1))};
    }
    return true;
  }

  [[nodiscard]] std::string bound_text(const Polynomial& bound) const { return bound.text(); }

  /// Goes through the statements of the loop over keys; each must be a known part.
  bool read_key_loop() {
    for (const Stmt* stmt : statements(*parts_.loop->stmt->body)) {
      if (stmt->is(StmtKind::empty) || stmt->is(StmtKind::directive)) continue;
      if (stmt->is(StmtKind::declaration) && !stmt->text_only) {
        for (const Declarator* d : stmt->declarators) {
          if (d->is_pointer() || d->is_array()) continue;
          if (d->name == parts_.score && (d->value() == nullptr || !is_zero(*d->value())))
            return fail("the dot product does not start at 0");
          if (d->value() != nullptr) parts_.defined.push_back(d);
        }
        continue;
      }
      if (stmt->is_loop()) {
        if (!read_channel_loop(*stmt)) return false;
        continue;
      }
      if (stmt->is(StmtKind::if_) && read_causal_exit(*stmt)) continue;
      if (!read_assignment(*stmt))
        return fail("the loop over keys does more than attention: " + unit_.plain_text(stmt->span));
    }
    if (parts_.sum == nullptr || parts_.acc == nullptr || parts_.weight.empty())
      return fail("no weighted sum with a sum of weights");
    return read_weight(unit_, facts_, parts_, out_.scale, why_);
  }

  bool read_causal_exit(const Stmt& stmt) {
    for (const auto& guard : facts_.guards) {
      if (guard->stmt != &stmt || !guard->exits_loop || !guard->complete ||
          guard->nonnegative.size() != 1)
        continue;
      const Polynomial u = Polynomial::name(out_.u);
      if (guard->nonnegative[0] == query_->value - u ||
          guard->nonnegative[0] == Polynomial::name(out_.t) - u)
        return out_.causal = true;
    }
    return false;
  }

  bool read_channel_loop(const Stmt& stmt) {
    const std::vector<const Stmt*> body = statements(*stmt.body);
    const Loop* loop = facts_.loop_of(stmt);
    if (loop == nullptr || body.size() != 1)
      return fail("a loop over channels does more than one thing");
    if (!loop->reductions.empty() && loop->reductions[0].accumulator == parts_.score) return true;
    const auto update = read_update(unit_, *body[0]);
    if (!update || update->b == nullptr || !update->target->is(ExprKind::subscript))
      return fail("no weighted sum of values");
    const bool first = facts_.access_of(*update->a) == nullptr;
    const Expr* weight = first ? update->a : update->b;
    value_ = first ? update->b : update->a;
    if (!weight->is(ExprKind::name)) return fail("the weight is no variable");
    parts_.weight = std::string(weight->name);
    parts_.acc = update->target, parts_.acc_keep = update->keep, acc_variable_ = loop->variable;
    return true;
  }

  bool read_assignment(const Stmt& stmt) {
    const auto update = read_update(unit_, stmt);
    if (update && update->b == nullptr && update->a->is(ExprKind::name) &&
        update->target->is(ExprKind::name) && parts_.sum == nullptr) {
      parts_.sum = update->target, parts_.sum_keep = update->keep, parts_.sum_weight = update->a;
      return true;
    }
    if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr ||
        !stmt.expr->is(ExprKind::assign) || !stmt.expr->arg(0).is(ExprKind::name))
      return false;
    const Expr& target = stmt.expr->arg(0);
    if (target.name == parts_.score && stmt.expr->op == "*=")
      return parts_.score_factors.push_back(&stmt.expr->arg(1)), true;
    if (target.name == parts_.score && stmt.expr->op == "=" && is_zero(stmt.expr->arg(1)))
      return true;
    if (stmt.expr->op != "=") return false;
    if (stmt.expr->arg(1).is(ExprKind::name)) return parts_.handovers.push_back(stmt.expr), true;
    return false;
  }

  /// The kernel's statements; those in the braces of `if (t < T) { ... }` count as its own.
  [[nodiscard]] std::vector<const Stmt*> top_statements() const {
    std::vector<const Stmt*> out;
    for (const Stmt* stmt : statements(*kernel_.body)) {
      const bool guard =
          stmt == query_->guard->stmt && !query_->guard->early_exit && stmt->otherwise == nullptr;
      if (!guard)
        out.push_back(stmt);
      else
        for (const Stmt* inner : statements(*stmt->body)) out.push_back(inner);
    }
    return out;
  }
  [[nodiscard]] bool is_top(const Stmt& stmt) const {
    const std::vector<const Stmt*> all = top_statements();
    return std::find(all.begin(), all.end(), &stmt) != all.end();
  }

  /// Behind the loop: o[..d..] = acc[d] / sum.
  bool read_end() {
    const Expr* inverse = nullptr;
    std::string inverse_name;
    for (const Stmt* stmt : top_statements()) {
      if (stmt->span.begin < parts_.loop->stmt->span.end || stmt->is(StmtKind::empty) ||
          stmt->is(StmtKind::directive))
        continue;
      if (stmt->is(StmtKind::declaration) && stmt->declarators.size() == 1 &&
          stmt->declarators[0]->value() != nullptr) {
        inverse_name = std::string(stmt->declarators[0]->name);
        inverse = &strip_casts(*stmt->declarators[0]->value());
        if (!inverse->is_op(ExprKind::binary, "/") || !inverse->arg(1).is_name(parts_.sum->name))
          return fail("not the inverse of the sum: " + unit_.plain_text(stmt->span));
        if (inverse->arg(0).name != "1.0f" && inverse->arg(0).name != "1.f" &&
            inverse->arg(0).name != "1.0" && inverse->arg(0).name != "1")
          return fail("not the inverse of the sum");
        continue;
      }
      const Loop* loop = stmt->is_loop() ? facts_.loop_of(*stmt) : nullptr;
      if (loop == nullptr || output_ != nullptr || loop->trip_count != out_.channels ||
          !loop->first.is_zero())
        return fail("more than a store behind the loop over keys");
      const std::vector<const Stmt*> body = statements(*stmt->body);
      if (body.size() != 1 || !body[0]->is(StmtKind::expression) ||
          !body[0]->expr->is_op(ExprKind::assign, "="))
        return fail("more than a store behind the loop over keys");
      const Expr& value = strip_casts(body[0]->expr->arg(1));
      if (!is_quotient(value, inverse_name, loop->variable))
        return fail("the result is not the weighted sum over the sum of weights");
      output_ = &body[0]->expr->arg(0), output_variable_ = loop->variable;
    }
    return output_ != nullptr ? true : fail("no result is stored");
  }

  [[nodiscard]] bool is_sum_of(const Expr& e, std::string_view variable) const {
    return e.is(ExprKind::subscript) && e.args.size() == 2 &&
           same_text(unit_, e.arg(0), parts_.acc->arg(0)) &&
           strip_casts(e.arg(1)).is_name(variable);
  }
  [[nodiscard]] bool is_quotient(const Expr& value,
                                 std::string_view inverse,
                                 std::string_view variable) const {
    if (value.is_op(ExprKind::binary, "/"))
      return is_sum_of(strip_casts(value.arg(0)), variable) &&
             strip_casts(value.arg(1)).is_name(parts_.sum->name);
    if (!value.is_op(ExprKind::binary, "*") || inverse.empty()) return false;
    const Expr &a = strip_casts(value.arg(0)), &b = strip_casts(value.arg(1));
    return (is_sum_of(a, variable) && b.is_name(inverse)) ||
           (is_sum_of(b, variable) && a.is_name(inverse));
  }

  /// Before the loop: sums start at 0; other statements matter only if the texts use their names.
  bool read_starts() {
    const Declarator* sum = declaration_of(unit_, *parts_.sum);
    const Declarator* acc =
        parts_.acc->arg(0).is(ExprKind::name) ? declaration_of(unit_, parts_.acc->arg(0)) : nullptr;
    if (sum == nullptr || acc == nullptr || !acc->is_array() || acc->is_parameter ||
        unit_.text(sum->type) != "float" || unit_.text(acc->type) != "float")
      return fail("the sums are no floats of the thread");
    if (!strip_casts(parts_.acc->arg(1)).is_name(acc_variable_))
      return fail("the weighted sum is not kept a channel");
    bool sum_zero = sum->value() != nullptr && is_zero(*sum->value());
    bool acc_zero = acc->init_form == InitForm::braces ||
                    (acc->value() != nullptr && acc->value()->is(ExprKind::init_list));
    if (acc_zero) {
      for (const Expr* init : acc->init) {
        walk(*init, [&](const Expr& e) {
          return (acc_zero = acc_zero && (e.is(ExprKind::init_list) || is_zero(e))), true;
        });
      }
    }
    for (const Stmt* stmt : top_statements()) {
      if (stmt->span.begin >= parts_.loop->stmt->span.begin) break;
      if (stmt == query_->guard->stmt || stmt->is(StmtKind::declaration)) continue;
      for (const std::string& name : facts_.names_written(*stmt)) {
        if (name != sum->name) continue;
        sum_zero = stmt->is(StmtKind::expression) && stmt->expr->is_op(ExprKind::assign, "=") &&
                   is_zero(stmt->expr->arg(1));
        if (!sum_zero) return fail("the sum of weights does not start at 0");
      }
    }
    for (const Access* access : facts_.accesses_to(facts_.array_index(acc->name))) {
      if (!access->writes() || access->stmt->span.begin > parts_.loop->stmt->span.begin) continue;
      const Loop* loop = access->loops.empty() ? nullptr : access->loops.back();
      const Expr* set = access->stmt->is(StmtKind::expression) ? access->stmt->expr : nullptr;
      acc_zero = loop != nullptr && loop->parent == nullptr && set != nullptr &&
                 set->is_op(ExprKind::assign, "=") && is_zero(set->arg(1)) && loop->trip_count &&
                 *loop->trip_count >= out_.channels && loop->first.is_zero() &&
                 is_sum_of(set->arg(0), loop->variable);
      if (!acc_zero) return fail("the weighted sum does not start at 0");
    }
    return sum_zero && acc_zero ? true : fail("the sums do not start at 0");
  }

  /// The operand's text in t or u and d; `row` is its row variable, `variable` its channel's.
  bool read_operand(const Expr& load,
                    const std::string& row,
                    std::string_view variable,
                    AttentionOperand& out) {
    const Access* access = facts_.access_of(load);
    if (access == nullptr)
      return fail("not an element of a tensor: " + unit_.plain_text(load.span));
    const Array& array = facts_.arrays[static_cast<std::size_t>(access->array)];
    if (array.type != "float" || array.space != Space::global || access->vector_width != 1)
      return fail(array.name + " is no tensor of floats");
    if (is_moved(facts_, array)) return fail("the kernel moves the pointer " + array.name);
    const std::string thread = std::string("threadIdx.") + "xyz"[query_->axis];
    const Polynomial base = query_->value - Polynomial::name(thread);
    // In terms of t, whatever locals the kernel made of it.
    Polynomial index = access->index.substituted(thread, Polynomial::name(out_.t) - base)
                           .substituted(variable, Polynomial::name(out_.d));
    if (!index.is_known() || !index.affine_in(out_.d) ||
        index.coefficient_of(out_.d) != Polynomial(1))
      return fail("rows of " + array.name + " are not contiguous");
    if (!index.mentions(row) || index.mentions(row == out_.t ? out_.u : out_.t) ||
        index.mentions(thread))
      return fail("rows of " + array.name + " do not follow " + row);
    const Polynomial resolved = facts_.resolved(index.without(out_.d));
    if (array.alignment_bytes % 16 != 0 || array.alignment_bytes == 0 ||
        !resolved.divisible_by(4, facts_.multiples()))
      return fail("rows of " + array.name + " may not be 16-byte aligned");
    const Polynomial source = access->source_index.substituted(variable, Polynomial::name(out_.d));
    bool plain = source.is_known();
    for (const std::string& name : source.names()) {
      if (name == out_.t || name == out_.u || name == out_.d) continue;
      const Declarator* d = visible(unit_, kernel_, name, load.span.begin);
      if (d == nullptr || d->is_parameter) continue;
      if (d->value() == nullptr || facts_.uniformity(*d->value()) == Uniformity::thread ||
          !is_top(*d))
        plain = false;
    }
    const Polynomial& text = plain && source.mentions(row) ? source : index;
    out = {array.name, array.type, array.name + "[" + text.text() + "]"};
    for (const std::string& name : text.names()) needed_.insert(name);
    return true;
  }

  [[nodiscard]] bool is_top(const Declarator& d) const {
    return d.stmt != nullptr && is_top(*d.stmt);
  }

  bool read_operands() {
    const Access* first = facts_.access_of(*factors_[0]);
    if (first == nullptr) return fail("the dot product is not one of rows of two tensors");
    const bool q_first = first->index.mentions(std::string("threadIdx.") + "xyz"[query_->axis]);
    const std::string d = out_.d;
    if (!read_operand(*factors_[q_first ? 0 : 1], out_.t, d, out_.q) ||
        !read_operand(*factors_[q_first ? 1 : 0], out_.u, d, out_.k))
      return false;
    if (!read_operand(*value_, out_.u, acc_variable_, out_.v) ||
        !read_operand(*output_, out_.t, output_variable_, out_.o))
      return false;
    out_.vector = true;
    const int o = facts_.array_index(out_.o.pointer);
    for (const Access& access : facts_.accesses) {
      const Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
      if (access.writes() && array.space == Space::global &&
          (access.array != o || !(access.expr == output_ || access.stmt == output_->stmt)))
        return fail("the kernel writes " + array.name + " too");
      if (access.reads() && access.array == o) return fail("the kernel reads its result");
    }
    for (const AttentionOperand* x : {&out_.q, &out_.k, &out_.v}) {
      if (facts_.may_alias(facts_.array_index(x->pointer), o))
        return fail(x->pointer + " may be the memory of " + out_.o.pointer);
    }
    return true;
  }

  /// Declarations that the texts need, in order; each the same for the whole block.
  bool read_prologue() {
    collect_names(out_.scale), collect_names(out_.queries), collect_names(out_.keys);
    std::vector<const Declarator*> wanted;
    std::set<std::string> seen;
    while (!needed_.empty()) {
      const std::string name = *needed_.begin();
      needed_.erase(needed_.begin());
      if (name == out_.t || name == out_.u || name == out_.d || !seen.insert(name).second) continue;
      const Declarator* d = visible(unit_, kernel_, name, parts_.loop->stmt->span.begin);
      if (d == nullptr || d->is_parameter || d->function == nullptr) continue;
      if (!is_top(*d) || d->value() == nullptr ||
          facts_.uniformity(*d->value()) == Uniformity::thread)
        return fail(name + " differs among the queries of a block");
      wanted.push_back(d);
      walk(*d->value(), [&](const Expr& e) {
        if (e.is(ExprKind::name)) needed_.insert(std::string(e.name));
        return true;
      });
    }
    std::sort(wanted.begin(), wanted.end(), [](const Declarator* a, const Declarator* b) {
      return a->span.begin < b->span.begin;
    });
    for (const Declarator* d : wanted) {
      const std::string text =
          unit_.plain_text(d->specifiers) + " " + unit_.plain_text(d->span) + ";\n";
      if (text.find("threadIdx") != std::string::npos ||
          text.find(std::string("blockIdx.") + "xyz"[query_->axis]) != std::string::npos)
        return fail("the kernel uses the block index beyond the query");
      out_.prologue += text;
    }
    return true;
  }

  void collect_names(const std::string& text) {
    std::string word;
    for (const char c : text + " ") {
      if (is_word(c))
        word += c;
      else if (!word.empty())
        needed_.insert(std::exchange(word, ""));
    }
  }

  const MoveContext& context_;
  const Unit& unit_;
  const Function& kernel_;
  const KernelFacts& facts_;
  std::string& why_;
  Attention out_;
  const ThreadIndex* query_ = nullptr;
  WeightedSum parts_;
  std::string acc_variable_, output_variable_;
  std::array<const Expr*, 2> factors_{};
  const Expr* value_ = nullptr;
  const Expr* output_ = nullptr;
  std::set<std::string> needed_;
};

}  // namespace

std::optional<Attention> find_attention(const MoveContext& context, std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  return AttentionFinder(context, *kernel, why).run();
}

}  // namespace warpath
