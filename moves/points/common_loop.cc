#include "moves/points/common_loop.h"

#include <algorithm>
#include <set>
#include <vector>

#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/points/common_points.h"
#include "moves/points/point_differences.h"
#include "moves/points/point_places.h"
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
              PointOrder order,
              std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        axis_(axis),
        count_(count),
        order_(order),
        why_(why),
        out_(indent_unit(kernel.unit)),
        differs_(kernel),
        written_(kernel.facts.names_written(*kernel.kernel->body)),
        places_(kernel, differs_, written_) {}

  std::optional<Variant> write() {
    auto found = common_points(context_, kernel_, axis_, count_, why_);
    if (!found) return std::nullopt;
    of_ = std::move(*found);
    const std::vector<const Stmt*>& list = of_.list;
    if (std::string veto = differs_.veto(); !veto.empty())
      return fail(std::move(veto)), std::nullopt;
    differs_.find(list, of_.index->name);
    if (!keeps_bound()) return std::nullopt;
    places_.of(of_.index->name);
    find_comments();
    u_ = fresh("u"), points_ = fresh("POINTS");
    out_.line("constexpr int " + points_ + " = " + number(count_) + ";  // of a thread, " +
              (order_ == PointOrder::apart ? "a block's width apart" : "neighbours"));
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

  [[nodiscard]] char letter() const { return "xyz"[axis_]; }

  /// The index and its bound mean the same in front of every run.
  bool keeps_bound() {
    std::set<std::string, std::less<>> names = {of_.index->name};
    if (!of_.exact) {
      for (const Token& token : tokenize(of_.index->bound->text()).tokens)
        names.insert(spelling(of_.index->bound->text(), token));
    }
    for (const std::string& name : names) {
      const bool index = name == of_.index->name;
      if (differs_.declarations(name) > 1) return fail(name + " means several things");
      if (std::ranges::count(written_, name) > 0 || (!index && differs_.names().contains(name)))
        return fail(name + " changes");
    }
    return true;
  }

  bool write_list(const std::vector<const Stmt*>& list, bool top) {
    const std::size_t known = places_.size();
    const bool done = write_statements(list, top);
    places_.shrink(known);  // those of the block end with it
    return done;
  }

  bool write_statements(const std::vector<const Stmt*>& list, bool top) {
    std::vector<const Stmt*> run;
    for (std::size_t i = 0; i <= list.size(); ++i) {
      if (top && of_.exits.contains(i)) {
        for (const auto& [condition, text] : of_.exits.at(i)) {
          if (differs_.varies(*condition)) return fail("a guard differs from point to point");
          out_.line("if (" + text + ") return;");
        }
      }
      if (i == list.size()) break;
      const Stmt& s = *list[i];
      const bool jumped = std::ranges::any_of(run, [](const Stmt* r) { return jumps_out(*r); });
      const bool masked = !mask_.empty(), splits = differs_.is_split(s, masked);
      if (splits || differs_.is_container(s, masked)) {
        if (!write_run(run, list, i, top)) return false;
        if (jumped) return fail("an iteration ends early before another loop");
        if (splits ? !write_split(s) : !write_container(s)) return false;
      } else if (s.is(StmtKind::empty) || is_pragma(s)) {
        continue;
      } else if (!jumped && s.is(StmtKind::declaration) && !declares_varying(s)) {
        const bool hides = std::ranges::any_of(run, [&](const Stmt* r) { return uses(*r, s); });
        if ((hides && !write_run(run, list, i, top)) || !shared_declaration(s)) return false;
      } else if (!jumped && differs_.is_shared(s, masked)) {
        if (!write_run(run, list, i, top)) return false;
        write_comments(s.span.begin);
        out_.lines(dedented_text(s, {}));
        skip_comments(s.span.end);
      } else if (differs_.varies(s) || s.is(StmtKind::declaration)) {
        if (!jumped && s.is(StmtKind::declaration) && !s.text_only && shares(s)) {
          const bool hides = std::ranges::any_of(run, [&](const Stmt* r) { return uses(*r, s); });
          if ((hides && !write_run(run, list, i, top)) || !share_declarators(s)) return false;
        }
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

  /// Names a variable that `declaration` declares.
  [[nodiscard]] static bool uses(const Stmt& s, const Stmt& declaration) {
    return std::ranges::any_of(declaration.declarators,
                               [&](const Declarator* d) { return mentions(s, d->name); });
  }

  [[nodiscard]] bool declares_varying(const Stmt& s) const {
    return std::ranges::any_of(
        s.declarators, [&](const Declarator* d) { return differs_.names().contains(d->name); });
  }

  bool shared_declaration(const Stmt& s) {
    if (s.text_only) return fail("a local type is declared");
    write_comments(s.span.begin);
    out_.lines(dedented_text(s, {}));
    skip_comments(s.span.end);
    return true;
  }

  /// Some variables of a declaration are the same for all points.
  [[nodiscard]] bool shares(const Stmt& s) const {
    return !std::ranges::all_of(
        s.declarators, [&](const Declarator* d) { return differs_.names().contains(d->name); });
  }

  /// Declares these in front of the others.
  bool share_declarators(const Stmt& s) {
    for (std::size_t i = 0; i < s.declarators.size(); ++i) {
      const Declarator* const d = s.declarators[i];
      if (differs_.names().contains(d->name)) continue;
      for (std::size_t before = 0; before < i; ++before) {
        for (const Expr* value : s.declarators[before]->init) {
          if (mentions(*value, d->name))
            return fail(std::string(d->name) + " means several things");
        }
      }
      out_.line(unit_.plain_text(d->specifiers) + " " + unit_.plain_text(d->span) + ";");
      shared_.insert(d);
    }
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
    const Loop* const loop = facts_.loop_of(s);
    const bool counts = loop != nullptr && loop->counted && loop->declared_inside;
    if (counts) places_.push_counter(loop->variable);
    const bool done = write_list(statements(*s.body), false);
    if (counts) places_.pop_counter();
    out_.close();
    return done;
  }

  /// A condition that all points share stays as it is. Of another each point keeps the outcome, or
  /// finds it again from its place, and the statements behind it are for the points where it holds.
  bool write_split(const Stmt& s) {
    write_comments(s.header.end);
    if (!differs_.varies(*s.expr)) {
      out_.open(unit_.plain_text(s.header));
      if (!write_list(statements(*s.body), false)) return false;
      out_.close();
      return true;
    }
    const std::string outer = mask_;
    const auto with_outer = [&](const std::string& test) {
      return outer.empty() ? test : "(" + outer + ") && (" + test + ")";
    };
    const bool of_place = places_.is_made_of_them(*s.expr);
    out_.block();  // what the statements declare is theirs
    if (of_place) {
      places_.push_test(*s.expr);
      mask_ = with_outer(unit_.plain_text(s.expr->span));
    } else {
      const std::string mask = fresh("inside");
      out_.line("bool " + mask + "[" + points_ + "];");
      open_points([&](std::string_view name) { return mentions(*s.expr, name); }, {}, false);
      std::vector<Edit> edits;
      for (const std::string& name : expanded_)
        rename_variable(*s.expr, name, name + "[" + u_ + "]", edits);
      out_.line(mask + "[" + u_ + "] = " + with_outer(substituted(unit_, s.expr->outer, edits)) +
                ";");
      out_.close();
      mask_ = mask + "[" + u_ + "]";
    }
    const bool done = write_list(statements(*s.body), false);
    if (of_place) places_.pop_test();
    mask_ = outer;
    out_.close();
    return done;
  }

  /// A loop over the points, with the index and the places that its statements need: those of
  /// `needs`, without what `run` declares itself.
  template <class Needs>
  void open_points(const Needs& needs, const std::vector<const Stmt*>& run, bool last) {
    const auto wanted = [&](std::string_view name) { return needs(name) || places_.tests(name); };
    const std::vector<const Declarator*> again = places_.needed(wanted, run);
    out_.line("#pragma unroll");
    out_.open("for (int " + u_ + " = 0; " + u_ + " < " + points_ + "; " + u_ + "++)");
    if (last || !again.empty() || wanted(of_.index->name)) write_index(last);
    for (const Declarator* d : again)
      out_.line(unit_.plain_text(d->specifiers) + " " + unit_.plain_text(d->span) + ";");
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
        if (shared_.contains(d)) continue;
        const bool later =
            std::any_of(list.begin() + static_cast<std::ptrdiff_t>(next), list.end(),
                        [&](const Stmt* after) { return mentions(*after, d->name); });
        if (!later) continue;
        if (places_.is_place(*d, top))
          places_.push(*d);
        else if (!expand(*d))
          return false;
      }
    }
    open_points(
        [&](std::string_view name) {
          return std::ranges::any_of(run, [&](const Stmt* s) { return mentions(*s, name); });
        },
        run, last);
    if (!mask_.empty()) out_.open("if (" + mask_ + ")");
    for (const Stmt* s : run) {
      if (!write_statement(*s)) return false;
    }
    if (!mask_.empty()) out_.close();
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
    if (!last && differs_.writes_memory(s))
      return fail("memory is written before the common loop ends");
    return true;
  }

  /// `name` becomes an array over the points, declared here.
  bool expand(const Declarator& d) {
    const std::string name(d.name);
    if ((d.is_array() && (d.is_pointer() || d.init_form != InitForm::none)) || d.reference ||
        d.is_function_pointer || d.has(kAuto) || d.has(kStatic | kVolatile))
      return fail(name + " cannot be kept for each point");
    const bool hidden = std::ranges::any_of(
        unit_.macros(), [&](const Macro& m) { return !m.value && mentions_text(m.body, name); });
    if (differs_.declarations(name) != 1 || hidden) return fail(name + " means several things");
    std::string type(unit_.text(d.type));
    if (d.is_pointer()) {
      type = (d.has(kConst) ? "const " : "") + type;
      type += std::string(static_cast<std::size_t>(d.pointer_depth), '*');
    }
    std::string extents = "[" + points_ + "]";
    for (const Expr* e : d.extents) {
      if (e == nullptr) return fail(name + " cannot be kept for each point");
      extents += "[" + unit_.plain_text(e->outer) + "]";
    }
    out_.line(type + " " + name + extents + ";");
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
    const std::string type(unit_.text(of_.index->declarator->type)), block(1, letter()),
        end = of_.index->bound->text();
    const std::string first = "((" + type + ")blockIdx." + block + " * ";
    out_.line(type + " " + of_.index->name + " = " +
              (order_ == PointOrder::apart ? first + points_ + " + " + u_ + ") * blockDim." +
                                                 block + " + threadIdx." + block
                                           : first + "blockDim." + block + " + threadIdx." + block +
                                                 ") * " + points_ + " + " + u_) +
              ";");
    if (of_.exact) return;
    if (last)
      out_.line("if (" + of_.index->name + " >= " + end + ") continue;");
    else
      out_.line("if (" + of_.index->name + " >= " + end + ") " + of_.index->name + " = " + end +
                " - 1;");
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
          return shared_.contains(d) || expanded_.contains(std::string(d->name));
        });
    if (!kept) {
      if (s.pragma != nullptr) out_.line(unit_.plain_text(s.pragma->span));
      out_.lines(dedented_text(s, edits));
      return skip_comments(s.span.end), true;
    }
    write_comments(s.span.end);
    for (const Declarator* d : s.declarators) {
      if (shared_.contains(d)) continue;
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
  PointOrder order_;
  std::string& why_;
  CodeWriter out_;
  CommonPoints of_;
  PointDifferences differs_;
  std::vector<std::string> written_;  ///< names that the kernel changes anywhere
  PointPlaces places_;
  Names expanded_;  ///< of those, the ones that are arrays now
  Names taken_;
  std::string u_, points_;
  std::set<const Declarator*> shared_;  ///< of declarations of others, too
  std::string mask_;                    ///< which points the statements are for; empty: all
  int containers_ = 0;
  std::vector<Span> comments_;  ///< of the body
  std::size_t comment_ = 0;     ///< the next of them
};

}  // namespace

std::optional<Variant> points_in_common_loop(const MoveContext& context,
                                             const KernelModel& kernel,
                                             int axis,
                                             std::int64_t count,
                                             PointOrder order,
                                             std::string& why) {
  return PointWriter(context, kernel, axis, count, order, why).write();
}

}  // namespace warpath
