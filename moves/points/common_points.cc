#include "moves/points/common_points.h"

#include <algorithm>
#include <set>

#include "engine/text/tokens.h"
#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// Finds the index and takes the guards apart.
class GuardReader {
 public:
  GuardReader(const MoveContext& context,
              const KernelModel& kernel,
              int axis,
              std::int64_t count,
              std::string& why)
      : context_(context),
        kernel_(kernel),
        facts_(kernel.facts),
        axis_(axis),
        count_(count),
        why_(why) {}

  std::optional<CommonPoints> read() {
    if (!admits() || !find_index() || !flatten(*kernel_.kernel->body)) return std::nullopt;
    if (!index_seen_ || !bounded_)
      return fail("the guard of " + index_->name + " does not stand around the kernel's work"),
             std::nullopt;
    out_.index = index_;
    return std::move(out_);
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  [[nodiscard]] std::string letter() const { return std::string(1, "xyz"[axis_]); }

  bool admits() {
    if (has_own_plans(context_.spec)) return fail("workloads have launch plans of their own");
    if (auto veto = facts_.threads_veto(); !veto.empty()) return fail(std::move(veto));
    if (facts_.has_unknown_calls)
      return fail("the kernel calls " + facts_.unknown_calls.front() + ", which may write memory");
    for (const Array& array : facts_.arrays) {
      // a thread's own arrays are kept for each point as its variables are
      if (array.space != Space::global && array.space != Space::local)
        return fail("the kernel keeps " + array.name + " on chip");
      if (array.escapes) return fail("the address of " + array.name + " leaves the kernel");
    }
    return true;
  }

  bool find_index() {
    for (const ThreadIndex& t : facts_.thread_indices) {
      if (t.form == ThreadIndex::Form::global && t.axis == axis_ && !t.name.empty() && t.bound &&
          t.declarator != nullptr && t.declarator->stmt->declarators.size() == 1 &&
          !t.declarator->has(kAuto))
        index_ = &t;
    }
    if (index_ == nullptr) return fail("no bounded index of a thread along " + letter());
    // The last point stands in for those beyond it: there must be one.
    out_.exact = facts_.resolved(*index_->bound).constant().has_value();
    for (const Workload* w : workloads_of(context_)) {
      const auto points = facts_.resolved(*index_->bound).evaluate(facts_.values(*w));
      if (!points || *points < 1) return fail("the number of points is not known to be above 0");
      const LaunchNumbers n =
          evaluate(launch_for(context_.spec, context_.variant, *w),
                   context_.spec.bindings(*w, context_.variant.tunables), "launch plan");
      const auto axis = static_cast<std::size_t>(axis_);
      const std::int64_t blocks = n.grid[axis], threads = n.block[axis];
      out_.exact = out_.exact && blocks % count_ == 0 && blocks * threads == *points;
    }
    return asks_place() ? fail("the kernel uses its place in the launch beyond its index") : true;
  }

  /// The text asks for the place along the axis, or hands all of it on: in the kernel but for the
  /// index, in any function that is no kernel, or in a macro. A kernel's other kernels are not its.
  [[nodiscard]] bool asks_place() const {
    const std::string_view source = kernel_.unit.source();
    const auto is_left_out = [&](std::size_t at) {
      const Span index = index_->declarator->stmt->span;
      return (index.begin <= at && at < index.end) ||
             std::ranges::any_of(kernel_.unit.functions(), [&](const Function* f) {
               return f->is_global && f != kernel_.kernel && f->span.begin <= at &&
                      at < f->span.end;
             });
    };
    std::vector<std::string> words;
    for (const Token& t : tokenize(source).tokens) {
      if (t.kind == TokenKind::comment || is_left_out(t.begin)) continue;
      if (t.kind != TokenKind::directive) {
        words.push_back(spelling(source, t));
        continue;
      }
      for (const Token& part : tokenize_directive(source, t).tokens) {
        if (part.kind != TokenKind::comment) words.push_back(spelling(source, part));
      }
      words.emplace_back();  // the line's end
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word != "threadIdx" && word != "blockIdx" && word != "gridDim") continue;
      const bool other = i + 2 < words.size() && words[i + 1] == "." && words[i + 2] != letter() &&
                         words[i + 2].size() == 1 && words[i + 2].find_first_of("xyz") == 0;
      if (!other) return true;
    }
    return false;
  }

  /// The statements under the kernel's guards, without them.
  bool flatten(const Stmt& block) {
    const std::vector<const Stmt*> all = statements(block);
    for (const Stmt* s : all) {
      if (!is_new_here(*s)) return fail("blocks under the guards declare the same name");
      if (s == index_->declarator->stmt) index_seen_ = true;
      if (s->is(StmtKind::empty) || s == index_->declarator->stmt) continue;
      if (!s->is(StmtKind::if_) || s->init != nullptr || s->otherwise != nullptr) {
        out_.list.push_back(s);
        continue;
      }
      const std::vector<const Stmt*> inner = statements(*s->body);
      const bool exit = inner.size() == 1 && inner[0]->is(StmtKind::return_);
      if (exit && !list_has_loop()) {
        if (!guard(*s->expr, true, *s)) return false;
      } else if (!exit && s == all.back() && !list_has_loop()) {
        return guard(*s->expr, false, *s) && flatten(*s->body);
      } else {
        out_.list.push_back(s);
      }
    }
    return true;
  }

  /// What the statement declares means nothing else in the blocks that become one.
  bool is_new_here(const Stmt& s) {
    if (names_.empty()) {
      for (const Declarator* p : kernel_.kernel->parameters) names_.emplace(p->name);
    }
    if (s.text_only && s.parent != kernel_.kernel->body) return false;
    for (const Declarator* d : s.declarators) {
      if (!names_.emplace(d->name).second) return false;
      const auto means_other = [&](const Stmt* before) { return mentions(*before, d->name); };
      if (s.parent != kernel_.kernel->body && std::ranges::any_of(out_.list, means_other))
        return false;
    }
    return true;
  }

  [[nodiscard]] bool list_has_loop() const {
    return std::ranges::any_of(out_.list, [](const Stmt* s) { return s->is_loop(); });
  }

  /// The operands of a guard: the index's bound, or what holds for all points of a thread or none.
  /// `leaves`: the thread does nothing where it holds, otherwise where it does not.
  bool guard(const Expr& e, bool leaves, const Stmt& stmt) {
    if (e.is_op(ExprKind::binary, leaves ? "||" : "&&"))
      return guard(e.arg(0), leaves, stmt) && guard(e.arg(1), leaves, stmt);
    if (e.is_op(ExprKind::unary, "!")) return guard(e.arg(0), !leaves, stmt);
    if (!mentions(e, index_->name)) {
      const std::string text = leaves ? kernel_.unit.plain_text(e.span) : negated(facts_, e);
      out_.exits[out_.list.size()].push_back({&e, text});
      return true;
    }
    const bool own = index_->guard->stmt == &stmt && e.is(ExprKind::binary);
    const bool comparison = own && (e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=") &&
                            (strip_casts(e.arg(0)).is_name(index_->name) ||
                             strip_casts(e.arg(1)).is_name(index_->name));
    const bool bounded = comparison && !bounded_;
    bounded_ = bounded_ || comparison;
    return bounded ? true : fail("a guard is more than a bound of " + index_->name);
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const KernelFacts& facts_;
  int axis_;
  std::int64_t count_;
  std::string& why_;
  CommonPoints out_;
  const ThreadIndex* index_ = nullptr;
  std::set<std::string_view> names_;  // declared in the blocks that become one
  bool index_seen_ = false, bounded_ = false;
};

}  // namespace

std::optional<CommonPoints> common_points(const MoveContext& context,
                                          const KernelModel& kernel,
                                          int axis,
                                          std::int64_t count,
                                          std::string& why) {
  return GuardReader(context, kernel, axis, count, why).read();
}

}  // namespace warpath
