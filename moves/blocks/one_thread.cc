#include "moves/blocks/one_thread.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "moves/blocks/known_calls.h"
#include "moves/blocks/thread_values.h"
#include "moves/model/facts.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Loop;
using model::LoopClass;
using model::Polynomial;
using model::Reduction;
using model::Stmt;
using model::StmtKind;

/// Goes through the statements that all threads run, tracks the variables whose values differ
/// between threads, and collects the edits that leave a single thread.
class OneThread {
 public:
  OneThread(const model::KernelModel& model, const std::vector<BlockReduction>& reductions)
      : model_(model),
        unit_(model.unit),
        facts_(model.facts),
        reductions_(reductions),
        values_(model, reductions) {}

  bool run(std::string& why) {
    if (!visit_list(*model_.kernel->body)) return why = why_, false;
    if (used_.size() != reductions_.size()) return why = "a reduction stands in a branch", false;
    if (loops_ == 0) return why = "the block's threads stride through no loop", false;
    return true;
  }
  std::vector<Edit> edits;

 private:
  using Names = std::set<const Declarator*>;

  bool stop(const Stmt& s, const std::string& what) {
    if (why_.empty())
      why_ = "line " + std::to_string(model::line_of(unit_, s.span.begin)) + ": " + what;
    return false;
  }

  void replace(model::Span span, std::string text) {
    edits.push_back({span.begin, span.end, std::move(text)});
  }
  void remove(const Stmt& s) {
    const model::Span lines = model::whole_lines(unit_, s.span);
    const bool listed = s.parent != nullptr && s.parent->is(StmtKind::block);
    listed ? replace(lines, "") : replace(s.span, ";");
  }

  bool visit_list(const Stmt& block) {
    const auto& list = block.children;
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (const BlockReduction* r = starting(*list[k])) {
        if (!combine(*r)) return false;
        k += r->statements.size() - 1;
      } else if (!visit(*list[k])) {
        return false;
      }
    }
    return true;
  }

  bool visit(const Stmt& s) {
    if (values_.changes(s)) return keep(s) || stop(s, "a value of each thread changes");
    if ((s.is(StmtKind::if_) || is_own_loop(s)) && !is_all_clean(s) && keep(s)) return true;
    switch (s.kind) {
      case StmtKind::block:
        return visit_list(s);
      case StmtKind::declaration:
        return s.text_only || declare(s);
      case StmtKind::expression:
        return execute(s);
      case StmtKind::if_:
        return branch(s);
      case StmtKind::for_:
        return loop(s);
      case StmtKind::return_:
        return s.expr == nullptr || stop(s, "a value is returned");
      case StmtKind::empty:
      case StmtKind::directive:
        return true;
      default:
        return stop(s, "a statement that threads may not share");
    }
  }

  [[nodiscard]] const BlockReduction* starting(const Stmt& s) const {
    const auto found = std::ranges::find_if(
        reductions_, [&](const BlockReduction& r) { return r.statements.front() == &s; });
    return found == reductions_.end() ? nullptr : &*found;
  }

  // --- which values differ between threads

  [[nodiscard]] const Declarator* variable(const Expr& e) const {
    return e.is(ExprKind::name) ? model::declaration_of(unit_, e) : nullptr;
  }

  /// The thread's number or the block's size goes into the value, or a variable with a value of
  /// each thread.
  [[nodiscard]] bool is_clean(const Expr& root) const {
    bool clean = true;
    model::walk(root, [&](const Expr& e) {
      if (is_replaced(e)) return false;
      const Declarator* const d = variable(e);
      if (d != nullptr && (differ_.contains(d) || d->has(model::kShared))) clean = false;
      const std::string_view name = e.is(ExprKind::call) ? model::callee(e) : e.name;
      if (is_of_thread(name) || !is_known(unit_, e)) clean = false;
      if (e.is(ExprKind::lambda) || e.is(ExprKind::statement) || e.is(ExprKind::opaque) ||
          e.is(ExprKind::launch))
        clean = false;
      return clean;
    });
    return clean;
  }

  /// The statement computes values of each thread, which a loop over the threads can compute.
  bool keep(const Stmt& s) {
    const std::vector<const Stmt*> taken = take(s);
    for (const Stmt* part : taken) {
      for (const Declarator* d : part->declarators) differ_.insert(d), ops_.erase(d);
      remove(*part);
    }
    return !taken.empty();
  }
  std::vector<const Stmt*> take(const Stmt& s) {
    return values_.take(s, [&](const Expr& e) {
      const Declarator* const d = variable(e);
      return !is_replaced(e) &&
             (d == nullptr || !differ_.contains(d) || values_.has(*d) || s.span.contains(d->span));
    });
  }

  [[nodiscard]] bool is_own_loop(const Stmt& s) const {
    const Loop* const l = s.is(StmtKind::for_) ? facts_.loop_of(s) : nullptr;
    return l != nullptr && l->thread_axis != 0;
  }

  [[nodiscard]] bool is_all_clean(const Stmt& s) const {
    bool clean = true;
    model::walk_expressions(s, [&](const Expr& e) {
      clean = clean && is_clean(e);
      return false;
    });
    return clean;
  }

  [[nodiscard]] bool is_replaced(const Expr& e) const { return replaced_.contains(&e); }

  bool declare(const Stmt& s) {
    bool shared = false;
    std::vector<const Expr*> numbers;
    for (const Declarator* d : s.declarators) {
      if (d->reference) return stop(s, std::string(d->name) + " is another name of a variable");
      if (d->has(model::kShared)) {
        shared = true;
        if (!is_gone(*d))
          return stop(s, std::string(d->name) + " holds more than sums of the block");
        continue;
      }
      for (const Expr* e : d->init) {
        if (is_clean(*e)) continue;
        const bool number =
            model::is_integer_type(unit_.resolved_type(unit_.plain_text(d->type))) &&
            !d->is_pointer() && !d->is_array() && !d->reference;
        if (!number || !model::is_pure(unit_, *e) || loads(*e))
          return keep(s) || stop(s, std::string(d->name) + " is another one in each thread");
        differ_.insert(d), numbers.push_back(e);
      }
    }
    if (!numbers.empty()) take(s);
    if (shared || (!numbers.empty() && s.declarators.size() == 1)) return remove(s), true;
    for (const Expr* e : numbers) replace(e->outer, "0");
    return true;
  }

  /// The shared array serves reductions only, which one thread does not need.
  [[nodiscard]] bool is_gone(const Declarator& d) const {
    const auto serves = [&](const model::Access* a) {
      return values_.is_slot(*a) || std::ranges::any_of(reductions_, [&](const BlockReduction& r) {
               if (r.statements.front()->span.begin <= a->expr->span.begin &&
                   a->expr->span.end <= r.statements.back()->span.end)
                 return true;
               return std::ranges::any_of(r.totals, [&](const BlockTotal& t) {
                 return std::ranges::any_of(t.elements, [&](const TotalElement& e) {
                   return std::ranges::find(e.reads, a->expr) != e.reads.end();
                 });
               });
             });
    };
    for (std::size_t k = 0; k < facts_.arrays.size(); ++k) {
      if (facts_.arrays[k].declarator == &d)
        return std::ranges::all_of(facts_.accesses_to(static_cast<int>(k)), serves);
    }
    return false;
  }

  static bool loads(const Expr& root) {
    bool found = false;
    model::walk(root, [&](const Expr& e) {
      found = found || e.is(ExprKind::subscript) || e.is_op(ExprKind::unary, "*") ||
              e.is(ExprKind::call);
      return !found;
    });
    return found;
  }

  bool execute(const Stmt& s) {
    if (model::callee(*s.expr) == "__syncthreads") return remove(s), true;
    const Declarator* const d =
        s.expr->is_op(ExprKind::assign, "=") ? variable(s.expr->arg(0)) : nullptr;
    if (d != nullptr && !d->has(model::kShared) && is_clean(s.expr->arg(1)))
      return differ_.erase(d), ops_.erase(d), true;
    return is_clean(*s.expr) || keep(s) || stop(s, "threads do different things outside of loops");
  }

  // --- statements for all threads, or one

  bool branch(const Stmt& s) {
    if (s.init != nullptr || s.expr == nullptr)
      return stop(s, "a condition declares what it tests");
    const Names before = differ_;
    if (is_clean(*s.expr)) {
      if (!visit(*s.body)) return false;
      Names either = std::exchange(differ_, before);
      if (s.otherwise != nullptr && !visit(*s.otherwise)) return false;
      for (const Declarator* d : either) {
        if (differ_.insert(d).second) ops_.erase(d);  // how far it is accumulated is open
      }
      for (const Declarator* d : differ_) {
        if (!either.contains(d)) ops_.erase(d);
      }
      return true;
    }
    if (s.otherwise != nullptr || !is_first_thread(s))
      return stop(s, "some threads do what others do not");
    replace({s.span.begin, s.body->span.begin}, "");
    const bool outer = std::exchange(alone_, true);
    if (!visit(*s.body)) return false;
    alone_ = outer;
    for (const std::string& name : facts_.names_written(s)) {
      const Declarator* const d = model::visible(unit_, *model_.kernel, name, s.span.begin);
      if (d != nullptr && !s.span.contains(d->span)) return stop(s, name + " is set by one thread");
    }
    return differ_ == before || stop(s, "one thread sets what others do not know");
  }

  /// `threadIdx.x == 0`, in any of its forms.
  [[nodiscard]] bool is_first_thread(const Stmt& s) const {
    const Expr& e = *s.expr;
    const auto is_thread = [&](const Expr& x) {
      return facts_.polynomial(x) == Polynomial::name("threadIdx.x");
    };
    if (e.is_op(ExprKind::unary, "!")) return is_thread(e.arg(0));
    if (!e.is(ExprKind::binary)) return false;
    const auto right = facts_.polynomial(e.arg(1)).constant();
    return is_thread(e.arg(0)) && ((e.op == "==" && right == 0) || (e.op == "<" && right == 1) ||
                                   (e.op == "<=" && right == 0));
  }

  // --- loops

  bool loop(const Stmt& s) {
    const Loop* const l = facts_.loop_of(s);
    if (l == nullptr || !l->counted || l->exits_early || s.step == nullptr ||
        l->first_expr == nullptr || l->descending)
      return stop(s, "a loop that is not counted");
    return l->thread_axis == 0 ? strided(s, *l) : common(s, *l);
  }

  /// All threads run it alike.
  bool common(const Stmt& s, const Loop& l) {
    if (!is_clean(*l.first_expr) || !is_clean(*s.expr) || !is_clean(*s.step))
      return stop(s, "a loop that threads run differently");
    const Names before = differ_;
    if (!visit(*s.body)) return false;
    std::erase_if(differ_, [&](const Declarator* d) { return s.span.contains(d->span); });
    return differ_ == before || stop(s, "threads' values pass from one iteration to the next");
  }

  /// From the thread's number on, a block apart.
  bool strided(const Stmt& s, const Loop& l) {
    if (alone_) return stop(s, "one thread does its share of a loop alone");
    if (!(l.first == Polynomial::name("threadIdx.x")) || !l.declared_inside ||
        !is_clean(*l.bound_expr) || l.inclusive || l.has_barrier)
      return stop(s, "a loop of threads that does not begin with their numbers");
    if (l.kind != LoopClass::parallel && l.kind != LoopClass::reduction)
      return stop(s, l.reason.empty() ? "a loop whose iterations depend on each other" : l.reason);
    if (!is_clean_body(*s.body, l)) return false;
    std::set<std::string> changed(l.assigned.begin(), l.assigned.end());
    for (const Reduction& r : l.reductions) {
      const Declarator* const d = r.declarator;
      if (r.access >= 0 || r.prefix_used || d == nullptr || d->has(model::kShared))
        return stop(s, r.accumulator + " is accumulated in memory");
      if (!differ_.contains(d) && !starts_neutral(*d, r.op, s))
        return stop(s, r.accumulator + " starts from a value in each thread");
      const auto known = ops_.find(d);
      if (differ_.contains(d) && (known == ops_.end() || known->second != r.op))
        return stop(s, r.accumulator + " is accumulated in several ways");
      ops_[d] = r.op, differ_.insert(d);
      changed.erase(r.accumulator);
    }
    changed.erase(l.variable);
    for (const std::string& name : changed) {
      const Declarator* const d = model::visible(unit_, *model_.kernel, name, s.span.begin);
      if (d == nullptr) return stop(s, name + " is not known");
      const auto& own = l.private_scalars;
      if (std::ranges::find(own, name) == own.end())
        return stop(s, name + " is carried from one iteration to the next");
      differ_.insert(d), ops_.erase(d);
    }
    replace(l.first_expr->outer, "0");
    replace(s.step->outer, "++" + l.variable);
    ++loops_;
    return true;
  }

  /// Threads differ there only by the loop's variable.
  bool is_clean_body(const Stmt& body, const Loop& l) {
    bool clean = true;
    model::walk_expressions(body, [&](const Expr& e) {
      if (is_replaced(e)) return false;
      const Declarator* const d = variable(e);
      const bool accumulates =
          std::ranges::any_of(l.reductions, [&](const Reduction& r) { return r.declarator == d; });
      const bool own =
          d != nullptr && std::ranges::find(l.private_scalars, d->name) != l.private_scalars.end();
      if (d != nullptr && ((differ_.contains(d) && !accumulates && !own) || d->has(model::kShared)))
        clean = false;
      const std::string_view name = e.is(ExprKind::call) ? model::callee(e) : e.name;
      if (is_of_thread(name) || !is_known(unit_, e) || e.is(ExprKind::lambda) ||
          e.is(ExprKind::statement))
        clean = false;
      return clean;
    });
    model::walk(body, [&](const Stmt& s) {
      clean = clean && !s.is(StmtKind::assembly) && !s.is(StmtKind::return_);
      return clean;
    });
    return clean || stop(body, "threads are told apart in a loop");
  }

  /// The initial value, which all threads share, is counted once.
  [[nodiscard]] bool starts_neutral(const Declarator& d,
                                    model::ReduceOp op,
                                    const Stmt& loop) const {
    using model::ReduceOp;
    const bool again = op != ReduceOp::add && op != ReduceOp::multiply && op != ReduceOp::bit_xor;
    const Expr* value = nullptr;
    for (const Stmt* at = &loop; at != nullptr && value == nullptr; at = at->parent) {
      if (at->parent == nullptr || !at->parent->is(StmtKind::block)) {
        if (at->parent != nullptr && at->parent->is_loop()) return false;
        continue;
      }
      const auto& list = at->parent->children;
      for (auto s = std::find(list.begin(), list.end(), at); s != list.begin();) {
        const Stmt& before = **--s;
        if (d.stmt == &before) {
          value = d.value();
          if (value == nullptr) return false;
          break;
        }
        const std::vector<std::string> written = facts_.names_written(before);
        if (std::ranges::find(written, d.name) == written.end()) continue;
        const Expr* const e = before.is(StmtKind::expression) ? before.expr : nullptr;
        if (e == nullptr || !e->is_op(ExprKind::assign, "=") || variable(e->arg(0)) != &d)
          return false;
        value = &e->arg(1);
        break;
      }
    }
    if (value == nullptr) return false;
    if (again) return true;  // the same in all threads, as it is no value that differs
    const Expr& e = model::strip_casts(*value);
    if (!e.is(ExprKind::number)) return false;
    return std::strtod(std::string(e.name).c_str(), nullptr) == (op == ReduceOp::multiply ? 1 : 0);
  }

  // --- reductions

  /// Names of the totals whose values a loop over the block's threads now adds up, in `text`.
  std::map<const BlockTotal*, std::string> add_up(const BlockReduction& r, std::string& text) {
    std::map<const BlockTotal*, std::string> out;
    std::vector<const BlockTotal*> totals;
    std::vector<std::string> names;
    for (const BlockTotal& t : r.totals) {
      if (r.statements.front()->parent != model_.kernel->body || !values_.has_value(t)) continue;
      const std::string value = t.value.substr(0, t.value.find('['));
      totals.push_back(&t), names.push_back(fresh(value + "_total"));
    }
    if (totals.empty()) return out;
    text = values_.combined(r, totals, names, taken_);
    if (text.empty()) return out;
    for (std::size_t k = 0; k < totals.size(); ++k) out.emplace(totals[k], names[k]);
    ++loops_;
    return out;
  }

  bool combine(const BlockReduction& r) {
    const Stmt& first = *r.statements.front();
    used_.insert(&r);
    std::string text;
    const auto is_own = [&](const Declarator& d) {
      return first.span.begin <= d.span.begin && d.span.end <= r.statements.back()->span.end;
    };
    std::vector<const Declarator*> results;
    const std::map<const BlockTotal*, std::string> names = add_up(r, text);
    for (const BlockTotal& t : r.totals) {
      const auto sum = names.find(&t);
      const bool summed = sum != names.end();
      const auto op = t.variable == nullptr ? ops_.end() : ops_.find(t.variable);
      if (!summed &&
          (op == ops_.end() || op->second != t.op || !t.whole || !differ_.contains(t.variable)))
        return stop(first, t.value + " is no sum of a loop's iterations");
      const std::string name = summed ? sum->second : std::string(t.variable->name);
      for (const Declarator* d : t.results) {
        results.push_back(d);
        if (d == t.variable && !summed) continue;
        const bool declared = is_own(*d) || values_.has(*d);
        text += (declared ? unit_.plain_text(d->specifiers) + " " : std::string()) +
                std::string(d->name) + " = " + name + ";\n";
      }
      for (const TotalElement& e : t.elements) {
        if (e.reads.empty()) return stop(first, e.text + " is read elsewhere");
        const auto set_again = [&](const Stmt* s) {
          const std::vector<std::string> written = facts_.names_written(*s);
          return s->span.begin > first.span.begin && s->span.begin < e.reads.back()->span.begin &&
                 s != &first && std::ranges::find(r.statements, s) == r.statements.end() &&
                 std::ranges::find(written, name) != written.end();
        };
        const bool stays = std::ranges::none_of(first.parent->children, set_again);
        const std::string holder = stays ? name : fresh(name + "_total");
        if (!stays) text += "const " + t.type + " " + holder + " = " + name + ";\n";
        for (const Expr* read : e.reads) {
          replaced_.insert(read);
          replace(read->span, holder);
        }
      }
    }
    for (const Declarator* d : results) differ_.erase(d), ops_.erase(d);
    values_.combine(r);
    if (!text.empty()) text.pop_back();
    const std::size_t begin = first.pragma != nullptr ? first.pragma->span.begin : first.span.begin;
    const model::Span all{begin, r.statements.back()->span.end};
    if (text.empty())
      replace(model::whole_lines(unit_, all), "");
    else
      replace(all, hanging(text, model::indentation(unit_, begin)));
    return true;
  }

  std::string fresh(const std::string& wish) {
    return *taken_.insert(model::fresh_name(unit_, wish, &taken_)).first;
  }

  const model::KernelModel& model_;
  const model::Unit& unit_;
  const model::KernelFacts& facts_;
  const std::vector<BlockReduction>& reductions_;
  ThreadValues values_;
  Names differ_;                                      ///< have a value of each thread
  std::map<const Declarator*, model::ReduceOp> ops_;  ///< of what loops accumulate
  std::set<const BlockReduction*> used_;
  std::set<const Expr*> replaced_;
  std::set<std::string, std::less<>> taken_;
  int loops_ = 0;
  bool alone_ = false;  ///< only the first thread is there
  std::string why_;
};

}  // namespace

std::optional<std::vector<Edit>> edits_for_one_thread(const model::KernelModel& model,
                                                      const std::vector<BlockReduction>& reductions,
                                                      std::string& why) {
  OneThread one(model, reductions);
  if (!one.run(why)) return std::nullopt;
  return std::move(one.edits);
}

}  // namespace warpath
