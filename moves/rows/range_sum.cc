#include "moves/rows/range_sum.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>

#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using namespace model;

/// indices may run so far beyond their end: a tile, a block
constexpr std::int64_t kSlack = 1 << 14;

bool is_thread_builtin(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{"threadIdx", "blockIdx", "blockDim",
                                                          "gridDim", "warpSize"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// atomicAdd takes it.
bool is_atomic_type(std::string_view type) {
  static constexpr std::array<std::string_view, 6> kTypes{
      "float", "double", "int", "unsigned", "unsigned int", "unsigned long long"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool is_real(std::string_view type) {
  return type == "float" || type == "double";
}

/// Adding a summand of type `from` to a sum of type `to` is to convert it to `to` first.
bool converts_first(std::string_view from, std::string_view to) {
  if (from == to) return true;
  if (is_real(to)) return is_integer_type(from) || (from == "float" && to == "double");
  return is_integer_type(from);  // modulo 2^n
}

bool is_zero(const Unit& unit, const Expr& e) {
  const Expr& v = strip_casts(e);
  return v.is(ExprKind::number) && std::strtod(std::string(unit.text(v)).c_str(), nullptr) == 0;
}

/// Content of `arg` is a list of values that ascend from 0.
bool ascends_from_zero(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  const TensorSpec tensor = spec.tensor_of(arg, workload);
  if (const auto* rule = std::get_if<InitRule>(&tensor.content)) {
    using Kind = InitRule::Kind;
    return rule->kind == Kind::csr_row_pointers || rule->kind == Kind::zeros ||
           (rule->kind == Kind::arange && tensor.shape.size() == 1 && rule->start == 0 &&
            rule->step >= 0);
  }
  const auto* data = std::get_if<EmbeddedData>(&tensor.content);
  if (data == nullptr || data->tensor.elements() == 0 || data->tensor.at(0) != 0) return false;
  for (std::int64_t i = 1; i < data->tensor.elements(); ++i) {
    if (data->tensor.at(i) < data->tensor.at(i - 1)) return false;
  }
  return true;
}

class RangeSumFinder {
 public:
  RangeSumFinder(const MoveContext& context, const KernelModel& model, std::string& why)
      : context_(context), model_(model), unit_(model.unit), facts_(model.facts), why_(why) {}

  std::optional<RangeSum> find() {
    if (!plain_kernel() || !find_rows() || !find_statements() || !find_ranges() ||
        !find_summand() || !find_streams() || !find_extent())
      return std::nullopt;
    return out_;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  [[nodiscard]] const Array& array(const Access& a) const {
    return facts_.arrays[static_cast<std::size_t>(a.array)];
  }
  [[nodiscard]] const ArgSpec* argument(const Array& a) const {
    return context_.spec.io.find(a.spec_name);
  }

  bool plain_kernel() {
    if (auto veto = facts_.threads_veto(); !veto.empty()) return fail(std::move(veto));
    if (facts_.has_unknown_calls) return fail("the kernel calls what may write memory");
    if (has_own_plans(context_.spec)) return fail("workloads have launch plans of their own");
    if (context_.variant.has_extras())
      return fail("the launch has steps or scratch memory of its own");
    const LaunchPlan& plan = context_.variant.launch;
    for (const std::size_t axis : {1U, 2U}) {
      if (plan.grid[axis] != Expression(1) || plan.block[axis] != Expression(1))
        return fail("the launch has more than one axis");
    }
    if (plan.cluster != std::array{Expression(1), Expression(1), Expression(1)})
      return fail("blocks form clusters");
    if (facts_.loops.size() != 1) return fail("the kernel has not one loop");
    return true;
  }

  bool find_rows() {
    const auto body = guarded_body(facts_, 0, why_);
    if (!body) return false;
    if (!body->only_bound) return fail("the guard is more than a bound of the thread's index");
    body_ = *body;
    out_.row = body->index;
    out_.rows = bound_text(unit_, *body);
    for (const Workload* w : workloads_of(context_)) {
      const auto rows = facts_.resolved(*out_.row->bound).evaluate(facts_.values(*w));
      if (!rows) return fail("the number of rows is not known");
      if (*rows > std::numeric_limits<std::int32_t>::max() - kSlack)
        return fail("a 32-bit row could overflow");
    }
    return integer_type(*out_.row->declarator, out_.row_type);
  }

  bool integer_type(const Declarator& d, std::string& type) {
    type = unit_.plain_text(d.type);
    const std::string known = unit_.resolved_type(type);
    return (is_integer_type(known) && size_of_type(known) >= 4) ||
           fail(std::string(d.name) + " is no integer of at least 32 bits");
  }

  /// Declarations, the sum's zero, the loop, the sum's store: nothing else.
  bool find_statements() {
    const Loop& loop = *facts_.loops.front();
    out_.loop = &loop;
    if (loop.kind != LoopClass::reduction || loop.reductions.size() != 1)
      return fail(loop.reason.empty() ? "the loop is not one sum" : loop.reason);
    out_.sum = &loop.reductions.front();
    const Reduction& sum = *out_.sum;
    out_.type = sum.type;
    if (sum.op != ReduceOp::add || sum.prefix_used)
      return fail(sum.accumulator + " is no plain sum");
    if (!is_atomic_type(out_.type))
      return fail("atomicAdd takes no " + (out_.type.empty() ? "such type" : out_.type));
    const Stmt* zero = nullptr;
    bool behind = false;
    for (const Stmt* s : body_.statements) {
      if (s == loop.stmt) {
        behind = true;
      } else if (s->is(StmtKind::empty) ||
                 (!behind && s->is(StmtKind::declaration) && !s->text_only)) {
        continue;
      } else if (s->is(StmtKind::directive)) {
        if (s != loop.stmt->pragma) return fail("a preprocessor line stands in the kernel");
      } else if (!behind && zero == nullptr && sum.access >= 0 && s->is(StmtKind::expression) &&
                 s->expr->is_op(ExprKind::assign, "=")) {
        zero = s;
      } else if (behind && store_ == nullptr && sum.access < 0 && s->is(StmtKind::expression) &&
                 s->expr->is(ExprKind::assign)) {
        store_ = s;
      } else {
        return fail("the kernel does more than sum and store");
      }
    }
    if (!behind) return fail("the loop is not at the guarded code's top level");
    return (sum.access < 0 ? summed_in_local() : summed_in_place(zero)) && written_once(zero);
  }

  /// float sum = 0; ... out[row] = sum;
  bool summed_in_local() {
    const Reduction& sum = *out_.sum;
    if (sum.declarator == nullptr || sum.declarator->value() == nullptr ||
        !is_zero(unit_, *sum.declarator->value()))
      return fail(sum.accumulator + " does not start from zero");
    if (store_ == nullptr) return fail("the sum is not stored behind the loop");
    const Expr& e = *store_->expr;
    if ((e.op != "=" && e.op != "+=") || !strip_casts(e.arg(1)).is_name(sum.accumulator) ||
        type_of(facts_, e.arg(1)) != sum.type)
      return fail("the sum is not stored as it is");
    out_.adds = e.op == "+=";
    bool elsewhere = false;
    walk_expressions(*model_.kernel->body, [&](const Expr& x) {
      elsewhere |= x.is_name(sum.accumulator) && x.stmt != store_ && x.stmt != sum.stmt;
      return true;
    });
    return !elsewhere || fail(sum.accumulator + " is used for more than its store");
  }

  /// out[row] = 0; for (...) out[row] += f(j);
  bool summed_in_place(const Stmt* zero) {
    out_.adds = zero == nullptr;
    if (zero == nullptr) return true;
    const Access* const target = facts_.access_of(zero->expr->arg(0));
    const Access& updated = facts_.accesses[static_cast<std::size_t>(out_.sum->access)];
    return (target != nullptr && target->array == updated.array &&
            is_zero(unit_, zero->expr->arg(1))) ||
           fail(out_.sum->accumulator + " does not start from zero");
  }

  /// Memory is written at the row's own element alone, and what else is read cannot be there.
  bool written_once(const Stmt* zero) {
    const Access* written = nullptr;
    for (const Access& a : facts_.accesses) {
      if (!a.writes()) continue;
      const bool own = a.stmt != nullptr && (a.stmt == store_ || a.stmt == zero ||
                                             (out_.sum->access >= 0 && a.stmt == out_.sum->stmt));
      if (!own || !a.expr->is(ExprKind::subscript) || a.vector_width != 1 || a.in_helper)
        return fail("the kernel writes more than its sums");
      written = &a;
    }
    if (written == nullptr) return fail("the sum is not stored");
    out_.out = &array(*written);
    const ArgSpec* const arg = argument(*out_.out);
    if (out_.out->space != Space::global || !out_.out->is_parameter || arg == nullptr ||
        unit_.resolved_type(out_.out->type) != out_.type) {
      return fail(out_.out->name + " is no argument of the sum's type");
    }
    if (arg->role != (out_.adds ? ArgRole::inout : ArgRole::output))
      return fail(out_.out->name + (out_.adds
                                        ? " is added to, but is no inout"
                                        : " may keep elements that the kernel does not write"));
    for (const Access& a : facts_.accesses) {
      if (a.array == written->array) {
        const bool own = a.stmt == store_ || a.stmt == zero || a.stmt == out_.sum->stmt;
        if (!own || !(facts_.resolved(a.index) == facts_.resolved(out_.row->value)))
          return fail(out_.out->name + " is used elsewhere than at the thread's own row");
      } else if (facts_.may_alias(a.array, written->array)) {
        return fail(array(a).name + " and " + out_.out->name + " may be the same memory");
      }
    }
    return true;
  }

  /// The array element that the bound of the loop is, directly or by a local.
  const Access* loaded(const Expr* e) const {
    for (int depth = 0; e != nullptr && depth < 4; ++depth) {
      e = &strip_casts(*e);
      for (const Access& a : facts_.accesses) {
        if (replaceable(a) == e && a.kind == AccessKind::read && a.vector_width == 1) return &a;
      }
      const Declarator* const d = e->is(ExprKind::name) ? declaration_of(unit_, *e) : nullptr;
      if (d == nullptr || d->is_parameter || d->function == nullptr || is_set_again(d->name))
        return nullptr;
      e = d->value();
    }
    return nullptr;
  }

  [[nodiscard]] bool is_set_again(std::string_view name) const {
    const std::vector<std::string> written = facts_.names_written(*model_.kernel->body);
    return std::find(written.begin(), written.end(), name) != written.end();
  }

  bool find_ranges() {
    const Loop& loop = *out_.loop;
    if (!loop.counted || loop.descending || loop.inclusive || loop.exits_early ||
        !loop.declared_inside || loop.declarator == nullptr || !loop.stmt->is(StmtKind::for_) ||
        loop.stmt->body == nullptr || !(facts_.resolved(loop.step) == Polynomial(1))) {
      return fail("the loop does not run in steps of 1 from one bound to below the other");
    }
    if (!integer_type(*loop.declarator, out_.index_type)) return false;
    const Access* const first = loaded(loop.first_expr);
    const Access* const end = loaded(loop.bound_expr);
    if (first == nullptr || end == nullptr)
      return fail("the loop's bounds are no elements of an array");
    const Polynomial row = facts_.resolved(out_.row->value);
    if (first->array != end->array || !(facts_.resolved(first->index) == row) ||
        !(facts_.resolved(end->index) == row + Polynomial(1))) {
      return fail("the ranges of neighbouring rows do not lie end to end");
    }
    out_.pointers = &array(*first);
    const ArgSpec* const arg = argument(*out_.pointers);
    const std::string type = unit_.resolved_type(out_.pointers->type),
                      own = unit_.resolved_type(out_.index_type);
    if (out_.pointers->space != Space::global || !out_.pointers->is_parameter || arg == nullptr ||
        !arg->tensor || arg->role != ArgRole::input || !is_integer_type(type)) {
      return fail(out_.pointers->name + " is no input of integers");
    }
    if (size_of_type(type) > size_of_type(own))
      return fail(loop.variable + " is narrower than " + out_.pointers->name);
    for (const Workload* const w : all_workloads_of(context_)) {
      if (!ascends_from_zero(context_.spec, *arg, *w))
        return fail("the spec does not say that " + arg->name + " ascends from 0");
    }
    return true;
  }

  /// sum += f(j), f a pure expression over j, locals of the iteration, and what is the same for all
  /// threads.
  bool find_summand() {
    const Reduction& sum = *out_.sum;
    for (const Stmt* s : statements(*out_.loop->stmt->body)) {
      if (s == sum.stmt && s->is(StmtKind::expression)) {
        if (s != statements(*out_.loop->stmt->body).back())
          return fail("the loop does more than sum");
      } else if (s->is(StmtKind::declaration) && !s->text_only) {
        for (const Declarator* d : s->declarators) {
          if (d->value() == nullptr || d->is_array() || d->is_pointer() || d->reference ||
              d->has(kStatic) || d->has(kShared) || !is_pure(unit_, *d->value())) {
            return fail(std::string(d->name) + " is no plain local of an iteration");
          }
        }
        out_.locals.push_back(s);
      } else if (!s->is(StmtKind::empty)) {
        return fail("the loop does more than sum");
      }
    }
    for (const Expr* part : {sum.value, sum.factor_a, sum.factor_b}) {
      if (part == nullptr) continue;
      if (!is_pure(unit_, *part)) return fail("a summand has side effects");
      if (!converts_first(type_of(facts_, *part), sum.type))
        return fail("a summand is not of the sum's type");
    }
    if (sum.value == nullptr && (sum.factor_a == nullptr || sum.factor_b == nullptr))
      return fail("the sum is not written as one addition");
    bool same = true;
    walk_expressions(*out_.loop->stmt->body, [&](const Expr& e) {
      return same = same && (belongs_to_sum(e) || is_same_for_all(e, 0)), same;
    });
    if (!same) return false;
    if (!is_same_for_all_below(*rows_expr(), 0)) return false;
    std::sort(out_.kept.begin(), out_.kept.end(),
              [](const Stmt* a, const Stmt* b) { return a->span.begin < b->span.begin; });
    return true;
  }

  /// The accumulator as it is written to, not a part of what is added.
  [[nodiscard]] bool belongs_to_sum(const Expr& e) const {
    const auto within = [&](const Expr* part) {
      return part != nullptr && part->span.contains(e.span);
    };
    return e.stmt == out_.sum->stmt && !within(out_.sum->value) && !within(out_.sum->factor_a) &&
           !within(out_.sum->factor_b);
  }

  [[nodiscard]] const Expr* rows_expr() const {
    const Expr& c = *body_.guard->expr;
    return &c.arg(strip_casts(c.arg(0)).is_name(out_.row->name) ? 1 : 0);
  }

  bool is_same_for_all_below(const Expr& root, int depth) {
    bool same = true;
    walk(root, [&](const Expr& e) { return same = same && is_same_for_all(e, depth), same; });
    return same;
  }

  /// `e` itself, without what is below it, does not depend on the thread but by j.
  bool is_same_for_all(const Expr& e, int depth) {
    if (!e.is(ExprKind::name)) return true;
    const bool is_callee =
        e.parent != nullptr && e.parent->is(ExprKind::call) && &e.parent->arg(0) == &e;
    if (is_callee)
      return !may_know_thread(e.name, 0) || fail(std::string(e.name) + " may depend on the thread");
    if (is_thread_builtin(e.name))
      return fail("a summand depends on the thread by more than " + out_.loop->variable);
    const Declarator* const d = declaration_of(unit_, e);
    if (d == nullptr)
      return unit_.constants().contains(e.name) || fail(std::string(e.name) + " is not known");
    if (d == out_.loop->declarator || (d->stmt != nullptr && is_inside(*d->stmt, *out_.loop->stmt)))
      return true;
    if (d->function == nullptr)
      return d->is_constant() || d->has(kConstant) || fail(std::string(d->name) + " may change");
    if (is_set_again(d->name)) return fail(std::string(d->name) + " changes in the kernel");
    return d->is_parameter || keep(*d, depth);
  }

  bool keep(const Declarator& wanted, int depth) {
    if (wanted.stmt == nullptr || depth > 16)
      return fail(std::string(wanted.name) + " is not known");
    if (std::find(out_.kept.begin(), out_.kept.end(), wanted.stmt) != out_.kept.end()) return true;
    for (const Declarator* d : wanted.stmt->declarators) {
      if (d->value() == nullptr || d->is_array() || d->reference || d->has(kStatic) ||
          d->has(kShared) || !is_pure(unit_, *d->value()))
        return fail(std::string(d->name) + " is no plain local");
      if (!is_same_for_all_below(*d->value(), depth + 1)) return false;
    }
    out_.kept.push_back(wanted.stmt);
    return true;
  }

  /// A function of the file, or a macro, that reads the thread's place.
  [[nodiscard]] bool may_know_thread(std::string_view name, int depth) const {
    if (unit_.macro(name) != nullptr || depth > 8) return true;
    const Function* const f = unit_.find_function(name);
    if (f == nullptr || f->body == nullptr) return false;
    bool found = false;
    walk_expressions(*f->body, [&](const Expr& e) {
      if (e.is(ExprKind::name)) found = found || is_thread_builtin(e.name);
      if (e.is(ExprKind::call)) found = found || may_know_thread(callee(e), depth + 1);
      return !found;
    });
    return found;
  }

  /// Evaluated only under a condition before it.
  static bool is_conditional(const Expr& e) {
    for (const Expr *at = &e, *p = e.parent; p != nullptr; at = p, p = p->parent) {
      const bool chooses = p->is(ExprKind::conditional) || p->is_op(ExprKind::binary, "&&") ||
                           p->is_op(ExprKind::binary, "||");
      if (chooses && &p->arg(0) != at) return true;
    }
    return false;
  }

  bool find_streams() {
    const std::vector<const Access*> all = facts_.accesses_in(*out_.loop->stmt->body);
    for (const Access* a : all) {
      const Space space = array(*a).space;
      if (&array(*a) == out_.out) continue;
      if (space != Space::global && space != Space::constant)
        return fail(array(*a).name + " is memory of the thread's own");
      const Expr* const whole = replaceable(*a);
      if (whole == nullptr || a->vector_width != 1 || array(*a).type.empty() ||
          is_conditional(*whole) || !mentions(*whole, out_.loop->variable))
        continue;
      const bool leads = std::none_of(all.begin(), all.end(), [&](const Access* b) {
        return b != a && whole->span.contains(b->expr->span);
      });
      const bool local = std::any_of(out_.locals.begin(), out_.locals.end(), [&](const Stmt* s) {
        return std::any_of(s->declarators.begin(), s->declarators.end(),
                           [&](const Declarator* d) { return mentions(*whole, d->name); });
      });
      if (leads && !local) out_.streams.push_back(a);
    }
    return !out_.streams.empty() || fail("no element is loaded at " + out_.loop->variable);
  }

  /// Every j of a range is an index of some array, so none exceeds its size.
  bool find_extent() {
    for (const Access* a : out_.streams) {
      const ArgSpec* const arg = argument(array(*a));
      if (!(a->index == Polynomial::name(out_.loop->variable)) || arg == nullptr || !arg->tensor ||
          size_of_type(unit_.resolved_type(array(*a).type)) != info(arg->tensor->dtype).size_bytes)
        continue;
      std::string text;
      for (const Expression& e : arg->tensor->shape)
        text += (text.empty() ? "" : " * ") + as_factor(e.text());
      if (arg->tensor->shape.size() == 1) text = arg->tensor->shape.front().text();
      if (!text.empty() && holds_everywhere(*arg, Expression::parse(text, "shape")))
        return out_.extent = text, true;
    }
    return fail("no array of a known size is read at " + out_.loop->variable);
  }

  [[nodiscard]] bool holds_everywhere(const ArgSpec& arg, const Expression& extent) const {
    const bool narrow = size_of_type(unit_.resolved_type(out_.index_type)) < 8;
    return std::ranges::all_of(all_workloads_of(context_), [&](const Workload* w) {
      std::int64_t elements = 1;
      for (const std::int64_t n : context_.spec.shape_of(arg, *w)) elements *= n;
      const bool fits = !narrow || elements <= std::numeric_limits<std::int32_t>::max() - kSlack;
      return fits && extent.evaluate(context_.spec.bindings(*w, context_.variant.tunables),
                                     "shape") == elements;
    });
  }

  const MoveContext& context_;
  const KernelModel& model_;
  const Unit& unit_;
  const KernelFacts& facts_;
  std::string& why_;
  GuardedBody body_;
  const Stmt* store_ = nullptr;
  RangeSum out_;
};

}  // namespace

std::optional<RangeSum> find_range_sum(const MoveContext& context,
                                       const KernelModel& model,
                                       std::string& why) {
  return RangeSumFinder(context, model, why).find();
}

}  // namespace warpath
