#include "moves/tiles/common_loop.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

using Names = std::set<std::string, std::less<>>;

/// Writes the kernel's statements again, in order. Those that are equal for all points of a thread
/// stay as they are; others go, in runs, into loops over the points. Locals that one run hands to
/// another become arrays of one element a point.
class PointWriter {
 public:
  PointWriter(const MoveContext& context,
              const KernelModel& kernel,
              int axis,
              std::int64_t count,
              std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        axis_(axis),
        count_(count),
        why_(why),
        out_(indent_unit(kernel.unit)) {}

  std::optional<Variant> write() {
    if (!admits() || !find_index()) return std::nullopt;
    std::vector<const Stmt*> list;
    if (!flatten(*kernel_.kernel->body, list)) return std::nullopt;
    if (!index_seen_ || !bounded_)
      return fail("the guard of " + index_->name + " does not stand around the kernel's work"),
             std::nullopt;
    find_varying(list);
    find_comments();
    u_ = fresh("u"), points_ = fresh("POINTS");
    out_.line("constexpr int " + points_ + " = " + number(count_) + ";  // of a thread, " +
              (axis_ == 0 ? "a block's width apart" : "neighbours"));
    if (!write_list(list, true)) return std::nullopt;
    if (containers_ == 0) return fail("the points run no common loop"), std::nullopt;
    write_comments(kernel_.kernel->body->span.end);
    Variant variant = context_.variant;
    const Span body = kernel_.kernel->body->span;
    variant.source = edited(unit_.source(), {{body.begin + 1, body.end - 1, "\n" + out_.text()}});
    auto& grid = variant.launch.grid[static_cast<std::size_t>(axis_)];
    grid = divided(grid, count_);
    return variant;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  std::string fresh(std::string_view wish) { return fresh_name(unit_, wish, &taken_); }

  bool admits() {
    if (has_own_plans(context_.spec)) return fail("workloads have launch plans of their own");
    if (auto veto = facts_.threads_veto(); !veto.empty()) return fail(std::move(veto));
    if (facts_.has_unknown_calls)
      return fail("the kernel calls " + facts_.unknown_calls.front() + ", which may write memory");
    for (const Array& array : facts_.arrays) {
      if (array.space != Space::global) return fail("the kernel keeps " + array.name + " on chip");
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
    if (index_ == nullptr)
      return fail("no bounded index of a thread along " + std::string(1, letter()));
    // The last point stands in for those beyond it: there must be one.
    exact_ = facts_.resolved(*index_->bound).constant().has_value();
    for (const Workload* w : workloads_of(context_)) {
      const auto points = facts_.resolved(*index_->bound).evaluate(facts_.values(*w));
      if (!points || *points < 1) return fail("the number of points is not known to be above 0");
      const LaunchNumbers n =
          evaluate(launch_for(context_.spec, context_.variant, *w),
                   context_.spec.bindings(*w, context_.variant.tunables), "launch plan");
      const auto axis = static_cast<std::size_t>(axis_);
      const std::int64_t blocks = n.grid[axis], threads = n.block[axis];
      exact_ = exact_ && blocks % count_ == 0 && blocks * threads == *points;
    }
    bool other = false;
    walk_expressions(*kernel_.kernel->body, [&](const Expr& e) {
      const bool defines = is_inside(e, *index_->declarator->stmt);
      other = other || (!defines && e.is(ExprKind::member) && e.name == std::string(1, letter()) &&
                        (e.arg(0).is_name("threadIdx") || e.arg(0).is_name("blockIdx") ||
                         e.arg(0).is_name("gridDim")));
      return true;
    });
    return other ? fail("the kernel uses its place in the launch beyond its index") : true;
  }

  [[nodiscard]] char letter() const { return "xyz"[axis_]; }

  /// The statements under the kernel's guards, without them.
  bool flatten(const Stmt& block, std::vector<const Stmt*>& list) {
    const std::vector<const Stmt*> all = statements(block);
    for (const Stmt* s : all) {
      if (s == index_->declarator->stmt) index_seen_ = true;
      if (s->is(StmtKind::empty) || s == index_->declarator->stmt) continue;
      if (!s->is(StmtKind::if_) || s->init != nullptr || s->otherwise != nullptr) {
        list.push_back(s);
        continue;
      }
      const std::vector<const Stmt*> inner = statements(*s->body);
      const bool exit = inner.size() == 1 && inner[0]->is(StmtKind::return_);
      if (exit && !list_has_loop(list)) {
        if (!guard(*s->expr, true, *s, list)) return false;
      } else if (!exit && s == all.back() && !list_has_loop(list)) {
        return guard(*s->expr, false, *s, list) && flatten(*s->body, list);
      } else {
        list.push_back(s);
      }
    }
    return true;
  }

  static bool list_has_loop(const std::vector<const Stmt*>& list) {
    return std::ranges::any_of(list, [](const Stmt* s) { return s->is_loop(); });
  }

  /// The operands of a guard: the index's bound, or what holds for all points of a thread or none.
  bool guard(const Expr& e, bool negated, const Stmt& stmt, std::vector<const Stmt*>& list) {
    if (e.is_op(ExprKind::binary, negated ? "||" : "&&"))
      return guard(e.arg(0), negated, stmt, list) && guard(e.arg(1), negated, stmt, list);
    if (!mentions(e, index_->name)) {
      const std::string text = unit_.plain_text(e.span);
      exits_[list.size()].push_back(&e);
      exit_texts_[&e] = negated ? text : "!(" + text + ")";
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

  void find_varying(const std::vector<const Stmt*>& list) {
    varying_.insert(index_->name);
    for (std::size_t before = 0; before != varying_.size();) {
      before = varying_.size();
      for (const Stmt* s : list) mark(*s);
    }
  }

  void mark(const Stmt& s) {
    if (s.is(StmtKind::declaration)) {
      for (const Declarator* d : s.declarators) {
        for (const Expr* value : d->init) {
          if (varies(*value)) varying_.insert(std::string(d->name));
        }
      }
    } else if (is_container(s)) {
      for (const Stmt* inner : statements(*s.body)) mark(*inner);
    } else if (varies(s)) {
      for (const std::string& name : facts_.names_written(s)) varying_.insert(name);
      walk(s, [&](const Stmt& inner) {
        for (const Declarator* d : inner.declarators) varying_.insert(std::string(d->name));
        return true;
      });
    }
  }

  template <class Node>
  [[nodiscard]] bool varies(const Node& node) const {
    return std::ranges::any_of(varying_, [&](const std::string& n) { return mentions(node, n); });
  }

  /// A loop that runs alike for all points and does something for each.
  [[nodiscard]] bool is_container(const Stmt& s) const {
    const Loop* loop = s.is(StmtKind::for_) ? facts_.loop_of(s) : nullptr;
    if (loop == nullptr || !loop->counted || !loop->declared_inside || loop->exits_early ||
        loop->has_barrier || s.body == nullptr || s.expr == nullptr || s.step == nullptr ||
        varies(*s.expr) || varies(*s.step) || s.init == nullptr || varies(*s.init))
      return false;
    return std::ranges::none_of(facts_.accesses_in(s),
                                [](const Access* access) { return access->writes(); });
  }

  bool write_list(const std::vector<const Stmt*>& list, bool top) {
    std::vector<const Stmt*> run;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (top && exits_.contains(i)) {
        for (const Expr* e : exits_.at(i)) {
          if (varies(*e)) return fail("a guard differs from point to point");
          out_.line("if (" + exit_texts_.at(e) + ") return;");
        }
      }
      if (i == list.size()) break;
      const Stmt& s = *list[i];
      const bool jumped = std::ranges::any_of(run, [](const Stmt* r) { return jumps_out(*r); });
      if (is_container(s)) {
        if (!write_run(run, list, i, top)) return false;
        if (jumped) return fail("an iteration ends early before another loop");
        if (!write_container(s)) return false;
      } else if (s.is(StmtKind::empty) || is_pragma(s)) {
        continue;
      } else if (!jumped && s.is(StmtKind::declaration) && !declares_varying(s)) {
        if (!shared_declaration(s)) return false;
      } else if (varies(s) || s.is(StmtKind::declaration)) {
        run.push_back(&s);
      } else {
        return fail("line " + std::to_string(line_of(unit_, s.span.begin)) +
                    " changes what the points share");
      }
    }
    return write_run(run, list, list.size(), top);
  }

  [[nodiscard]] static bool is_pragma(const Stmt& s) {
    return s.is(StmtKind::directive) && s.name == "pragma";
  }

  [[nodiscard]] bool declares_varying(const Stmt& s) const {
    return std::ranges::any_of(s.declarators, [&](const Declarator* d) {
      return varying_.contains(std::string(d->name));
    });
  }

  bool shared_declaration(const Stmt& s) {
    if (s.text_only) return fail("a local type is declared");
    write_comments(s.span.begin);
    out_.lines(dedented_text(s, {}));
    skip_comments(s.span.end);
    return true;
  }

  // Comments between statements keep their order, and stand in front of what they stood before.

  void find_comments() {
    const Span body = kernel_.kernel->body->span;
    for (const Token& token : tokenize(unit_.source()).tokens) {
      if (token.kind == TokenKind::comment && body.contains({token.begin, token.end}))
        comments_.push_back({token.begin, token.end});
    }
  }

  void write_comments(std::size_t until) {
    for (; comment_ < comments_.size() && comments_[comment_].begin < until; ++comment_)
      out_.lines(unit_.text(comments_[comment_]));
  }

  void skip_comments(std::size_t until) {
    while (comment_ < comments_.size() && comments_[comment_].begin < until) ++comment_;
  }

  bool write_container(const Stmt& s) {
    ++containers_;
    write_comments(s.header.end);
    if (s.pragma != nullptr) out_.line(unit_.plain_text(s.pragma->span));
    out_.open(unit_.plain_text(s.header));
    if (!write_list(statements(*s.body), false)) return false;
    out_.close();
    return true;
  }

  /// A loop over the points with the statements of `run`, which stand before list[next].
  bool write_run(std::vector<const Stmt*>& run,
                 const std::vector<const Stmt*>& list,
                 std::size_t next,
                 bool top) {
    if (run.empty()) return true;
    const bool last = top && next == list.size();
    for (const Stmt* s : run) {
      if (!is_plain(*s, last)) return false;
      for (const Declarator* d : s->declarators) {
        const bool later =
            std::any_of(list.begin() + static_cast<std::ptrdiff_t>(next), list.end(),
                        [&](const Stmt* after) { return mentions(*after, d->name); });
        if (!later) continue;
        if (top && is_place(*d))
          places_.push_back(d);
        else if (!expand(*d))
          return false;
      }
    }
    const std::vector<const Declarator*> again = places_for(run);
    out_.line("#pragma unroll");
    out_.open("for (int " + u_ + " = 0; " + u_ + " < " + points_ + "; " + u_ + "++)");
    if (last || !again.empty() ||
        std::ranges::any_of(run, [&](const Stmt* s) { return mentions(*s, index_->name); }))
      write_index(last);
    for (const Declarator* d : again)
      out_.line(unit_.plain_text(d->specifiers) + " " + unit_.plain_text(d->span) + ";");
    for (const Stmt* s : run) {
      if (!write_statement(*s)) return false;
    }
    out_.close();
    run.clear();
    return true;
  }

  bool is_plain(const Stmt& s, bool last) {
    if (s.text_only || joins_threads(s)) return fail("a statement of the kernel is not understood");
    bool leaves = false;
    walk(s, [&](const Stmt& inner) {
      leaves = leaves || inner.is(StmtKind::goto_) || inner.is(StmtKind::label) ||
               (inner.is(StmtKind::return_) && (!last || enclosing_loop(inner) != nullptr));
      return true;
    });
    if (leaves) return fail("a point leaves the kernel early");
    if (last) return true;
    for (const Access* access : facts_.accesses_in(s)) {
      if (access->writes()) return fail("memory is written before the common loop ends");
    }
    return true;
  }

  /// An integer made of the index and of what the points share: it is computed again in place of
  /// being kept.
  [[nodiscard]] bool is_place(const Declarator& d) const {
    if (d.is_array() || d.is_pointer() || d.reference || d.init_form != InitForm::assign ||
        d.value() == nullptr || !is_integer_type(unit_.plain_text(d.type)) || d.has(kStatic))
      return false;
    bool plain = is_pure(unit_, *d.value());
    walk(*d.value(), [&](const Expr& e) {
      if (e.is(ExprKind::subscript) || e.is(ExprKind::call) || e.is(ExprKind::unary)) plain = false;
      const bool own =
          e.is(ExprKind::name) && varying_.contains(e.name) && e.name != index_->name &&
          std::ranges::none_of(places_, [&](const Declarator* p) { return p->name == e.name; });
      plain = plain && !own;
      return plain;
    });
    walk_expressions(*kernel_.kernel->body, [&](const Expr& e) {
      const bool changes = e.is(ExprKind::assign) || e.is(ExprKind::postfix) ||
                           e.is_op(ExprKind::unary, "++") || e.is_op(ExprKind::unary, "--") ||
                           e.is_op(ExprKind::unary, "&");
      if (changes && !e.args.empty() && e.arg(0).is_name(d.name)) plain = false;
      return plain;
    });
    return plain;
  }

  /// Those that the statements need and do not declare, in order.
  [[nodiscard]] std::vector<const Declarator*> places_for(
      const std::vector<const Stmt*>& run) const {
    std::vector<const Declarator*> out;
    for (auto at = places_.rbegin(); at != places_.rend(); ++at) {
      const Declarator& d = **at;
      const bool own = std::ranges::any_of(run, [&](const Stmt* s) { return s == d.stmt; });
      const bool needed =
          std::ranges::any_of(run, [&](const Stmt* s) { return mentions(*s, d.name); }) ||
          std::ranges::any_of(
              out, [&](const Declarator* other) { return mentions(*other->value(), d.name); });
      if (!own && needed) out.insert(out.begin(), &d);
    }
    return out;
  }

  /// `name` becomes an array over the points, declared here.
  bool expand(const Declarator& d) {
    const std::string name(d.name);
    if (d.is_array() || d.reference || d.is_function_pointer || d.has(kAuto) ||
        d.has(kStatic | kVolatile))
      return fail(name + " cannot be kept for each point");
    std::size_t declared = 0;
    walk(*kernel_.kernel->body, [&](const Stmt& s) {
      declared += static_cast<std::size_t>(std::ranges::count_if(
          s.declarators, [&](const Declarator* other) { return other->name == d.name; }));
      return true;
    });
    const bool hidden = std::ranges::any_of(
        unit_.macros(), [&](const Macro& m) { return !m.value && mentions_text(m.body, name); });
    if (declared != 1 || hidden) return fail(name + " means several things");
    std::string type(unit_.text(d.type));
    if (d.is_pointer()) {
      type = (d.has(kConst) ? "const " : "") + type;
      type += std::string(static_cast<std::size_t>(d.pointer_depth), '*');
    }
    out_.line(type + " " + name + "[" + points_ + "];");
    expanded_.insert(name);
    return true;
  }

  [[nodiscard]] static bool mentions_text(const std::string& text, const std::string& name) {
    const CodeText code(text);
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is(i, name)) return true;
    }
    return false;
  }

  void write_index(bool last) {
    const std::string type(unit_.text(index_->declarator->type)), block(1, letter()),
        end = index_->bound->text();
    const std::string first = "((" + type + ")blockIdx." + block + " * ";
    out_.line(type + " " + index_->name + " = " +
              (axis_ == 0 ? first + points_ + " + " + u_ + ") * blockDim." + block +
                                " + threadIdx." + block
                          : first + "blockDim." + block + " + threadIdx." + block + ") * " +
                                points_ + " + " + u_) +
              ";");
    if (exact_) return;
    if (last)
      out_.line("if (" + index_->name + " >= " + end + ") continue;");
    else
      out_.line("if (" + index_->name + " >= " + end + ") " + index_->name + " = " + end + " - 1;");
  }

  bool write_statement(const Stmt& s) {
    write_comments(s.span.begin);
    std::vector<Edit> edits;
    for (const std::string& name : expanded_)
      rename_variable(s, name, name + "[" + u_ + "]", edits);
    walk(s, [&](const Stmt& inner) {
      if (inner.is(StmtKind::return_))
        edits.push_back({inner.span.begin, inner.span.begin + 6, "continue"});
      return true;
    });
    const bool kept =
        s.is(StmtKind::declaration) && std::ranges::any_of(s.declarators, [&](const Declarator* d) {
          return expanded_.contains(std::string(d->name));
        });
    if (!kept) {
      out_.lines(dedented_text(s, edits));
      return skip_comments(s.span.end), true;
    }
    write_comments(s.span.end);
    for (const Declarator* d : s.declarators) {
      if (!expanded_.contains(std::string(d->name))) {
        out_.line(unit_.plain_text(d->specifiers) + " " + substituted(unit_, d->span, edits) + ";");
      } else if (d->init_form != InitForm::none) {
        if (d->value() == nullptr || d->init_form == InitForm::braces)
          return fail("the initialiser of " + std::string(d->name) + " is no single value");
        out_.line(std::string(d->name) + "[" + u_ +
                  "] = " + substituted(unit_, d->value()->outer, edits) + ";");
      }
    }
    return true;
  }

  /// The statement's lines, from the margin.
  [[nodiscard]] std::string dedented_text(const Stmt& s, const std::vector<Edit>& edits) const {
    return unindented(indentation(unit_, s.span.begin) + substituted(unit_, s.span, edits));
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const Unit& unit_;
  const KernelFacts& facts_;
  int axis_;
  std::int64_t count_;
  std::string& why_;
  CodeWriter out_;
  const ThreadIndex* index_ = nullptr;
  Names varying_;   ///< locals that differ among the points of a thread
  Names expanded_;  ///< of those, the ones that are arrays now
  Names taken_;
  std::string u_, points_;
  std::map<std::size_t, std::vector<const Expr*>> exits_;  ///< by the statement they stand before
  std::map<const Expr*, std::string> exit_texts_;
  std::vector<const Declarator*> places_;  ///< in order
  bool exact_ = false;                     ///< no thread has points beyond the end
  bool index_seen_ = false, bounded_ = false;
  int containers_ = 0;
  std::vector<Span> comments_;  ///< of the body
  std::size_t comment_ = 0;     ///< the next of them
};

}  // namespace

std::optional<Variant> points_in_common_loop(const MoveContext& context,
                                             const KernelModel& kernel,
                                             int axis,
                                             std::int64_t count,
                                             std::string& why) {
  return PointWriter(context, kernel, axis, count, why).write();
}

}  // namespace warpath
