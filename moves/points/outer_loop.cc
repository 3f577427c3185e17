#include "moves/points/outer_loop.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/pack_accesses.h"
#include "moves/edit/pack_text.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/points/outer_place.h"
#include "moves/points/outer_split.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// Writes a kernel's statements again: first what is the same for all outer indices, then a loop
/// over those of the thread with the rest.
class OuterWriter {
 public:
  OuterWriter(const MoveContext& context,
              const KernelModel& kernel,
              const OuterAxis& axis,
              std::int64_t count,
              std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        axis_(axis),
        count_(count),
        why_(why),
        split_(kernel, axis),
        before_(indent_unit(kernel.unit)),
        inside_(indent_unit(kernel.unit), 2) {}

  std::optional<Variant> write() {
    auto place = place_outer(context_, kernel_, axis_, count_, why_);
    if (!place || !split_.find(why_)) return std::nullopt;
    place_ = std::move(*place);
    if (is_flat() && std::ranges::none_of(split_.items, &OuterItem::bound))
      return fail("the bound of the index does not stand around the kernel's work"), std::nullopt;
    points_ = fresh("POINTS"), u_ = fresh("u"), outer_ = fresh("outer");
    if (is_flat()) {
      plane_ = fresh("INNER"), full_ = fresh("full_" + axis_.index->name);
      thread_ = fresh("thread");
    }
    before_.line("constexpr int " + points_ + " = " + number(count_) +
                 ";  // outer indices of a thread");
    for (const OuterItem& item : split_.items) {
      if (!write_item(item)) return std::nullopt;
    }
    if (!split_.work && hoisted_.empty())
      return fail("nothing that takes time is the same for all outer indices"), std::nullopt;
    Variant out = context_.variant;
    out.launch = place_.launch;
    const Span body = kernel_.kernel->body->span;
    out.source = edited(unit_.source(), {{body.begin + 1, body.end - 1, "\n" + whole_text()}});
    return out;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  std::string fresh(std::string_view wish) { return fresh_name(unit_, wish, &taken_); }
  [[nodiscard]] bool is_flat() const { return axis_.grid_axis < 0; }
  [[nodiscard]] bool is_definition(const Stmt& s) const {
    return is_flat() && &s == axis_.index->declarator->stmt;
  }

  // The text.

  [[nodiscard]] std::string whole_text() {
    CodeWriter head(indent_unit(unit_));
    const std::string block = !is_flat()
                                  ? std::string("blockIdx.") + "xyz"[axis_.grid_axis]
                                  : (place_.beside ? "blockIdx.y" : thread_ + " / " + plane_);
    head.line("#pragma unroll");
    head.open("for (int " + u_ + " = 0; " + u_ + " < " + points_ + "; " + u_ + "++)");
    head.line("const " + place_.type + " " + outer_ + " = " + block + " * " + points_ + " + " + u_ +
              ";");
    if (!place_.exact) head.line("if (" + outer_ + " >= " + place_.extent + ") break;");
    if (uses_full_)
      head.line("const " + place_.type + " " + full_ + " = " + axis_.index->name + " + " + outer_ +
                " * " + plane_ + ";");
    return before_.text() + head.text() + inside_.text() + indent_unit(unit_) + "}\n";
  }

  bool write_item(const OuterItem& item) {
    if (item.bound) {
      if (is_flat() && place_.beside)
        before_.line("if (" + axis_.index->name + " >= " + plane_ + ") return;");
      return true;
    }
    if (item.exit != nullptr) {
      const bool twice = item.negated && item.exit->is_op(ExprKind::unary, "!");
      const Expr& condition = twice ? item.exit->arg(0) : *item.exit;
      std::vector<Edit> edits;
      if (item.varies) rename(condition, edits);
      const std::string text = substituted(unit_, condition.span, edits);
      const std::string test = "if (" + (item.negated && !twice ? "!(" + text + ")" : text) + ") ";
      item.varies ? inside_.line(test + "continue;") : before_.line(test + "return;");
      return true;
    }
    const Stmt& s = *item.stmt;
    if (is_definition(s)) return write_definition(s), true;
    if (s.is(StmtKind::declaration)) return write_declaration(s);
    if (split_.is_lanes(s)) return write_lanes(s);
    if (!item.varies) return before_.lines(statements_text(unit_, {&s})), true;
    return write_varying(s, inside_, "");
  }

  void write_definition(const Stmt& s) {
    const auto elements = axis_.inner.constant();
    before_.line((elements ? "constexpr " : "const ") + place_.type + " " + plane_ + " = " +
                 (elements ? number(*elements) : axis_.inner.text()) +
                 ";  // elements from one outer index to the next");
    if (place_.beside) return static_cast<void>(before_.lines(statements_text(unit_, {&s})));
    const Declarator& index = *axis_.index->declarator;
    const std::string groups =
        axis_.extent.constant()
            ? number((*axis_.extent.constant() + count_ - 1) / count_)
            : "((" + place_.extent + " + " + points_ + " - 1) / " + points_ + ")";
    before_.line("const " + place_.type + " " + thread_ + " = " +
                 unit_.plain_text(index.value()->outer) + ";");
    before_.line("if (" + thread_ + " >= " + groups + " * " + plane_ + ") return;");
    before_.line("const " + place_.type + " " + axis_.index->name + " = " + thread_ + " % " +
                 plane_ + ";");
  }

  bool write_declaration(const Stmt& s) {
    const bool all_same = !split_.varies(s);
    if (all_same) return before_.lines(statements_text(unit_, {&s})), true;
    const bool plain = std::ranges::all_of(s.declarators, [&](const Declarator* d) {
      const OuterStep* step = split_.steps.step_of(d->name);
      return step != nullptr && !step->step;
    });
    if (plain) return write_varying(s, inside_, "");
    for (const Declarator* d : s.declarators) {
      const std::string words = unit_.plain_text(d->specifiers) + " ";
      const bool varies = split_.steps.varies(d->name);
      if (!varies || split_.first.contains(std::string(d->name)))
        before_.line(words + unit_.plain_text(d->span) + ";");
      if (varies) write_declarator(*d, inside_, {});
    }
    return true;
  }

  /// The value for the outer index: by what it grows, where that saves a division.
  void write_declarator(const Declarator& d, CodeWriter& out, const std::vector<Edit>& more) {
    const std::string words = unit_.plain_text(d.specifiers) + " ";
    const OuterStep* step = split_.steps.step_of(d.name);
    const std::string name(d.name);
    if (is_flat() && step != nullptr && step->step && step->step->operations().empty()) {
      const std::string by =
          *step->step == Polynomial(1) ? outer_ : outer_ + " * " + step->step->factor_text();
      const Expr& value = *d.value();
      if (step->most && *step->most == 0)
        return static_cast<void>(out.line(words + name + " = " + by + ";"));
      bool own = true;
      walk(value, [&](const Expr& e) {
        own = own && !(e.is(ExprKind::name) && split_.steps.varies(e.name));
        return own;
      });
      const bool sum =
          value.is(ExprKind::binary) && (value.op == "+" || value.op == "-" || value.op == "*" ||
                                         value.op == "/" || value.op == "%");
      if (own)
        return static_cast<void>(out.line(
            words + name + " = " +
            (sum ? unit_.plain_text(value.span) : "(" + unit_.plain_text(value.span) + ")") +
            " + " + by + ";"));
    }
    std::vector<Edit> edits = more;
    for (const Expr* e : d.init) rename(*e, edits);
    out.lines(words + substituted(unit_, d.span, without_covered(edits)) + ";");
  }

  /// A statement within the loop over outer indices; with `lane`, within one of its loops, too.
  bool write_varying(const Stmt& s, CodeWriter& out, const std::string& lane) {
    if (s.is(StmtKind::declaration) && s.text_only) return fail("a local type is declared");
    std::vector<Edit> edits;
    bool inside_loop = false;
    walk(s, [&](const Stmt& inner) {
      if (!inner.is(StmtKind::return_)) return true;
      inside_loop = inside_loop || enclosing_loop(inner) != nullptr;
      edits.push_back({inner.span.begin, inner.span.begin + 6, "continue"});
      return true;
    });
    if (inside_loop) return fail("the kernel leaves from inside a loop");
    if (lane.empty() && !split_.exits_in_loop) hoist(s, edits);
    for (const std::string& name : kept_) rename_variable(s, name, name + "[" + lane + "]", edits);
    walk_expressions(s, [&](const Expr& e) { return rename_one(e, edits), true; });
    edits = without_covered(edits);
    const bool stepping =
        s.is(StmtKind::declaration) && std::ranges::any_of(s.declarators, [&](const Declarator* d) {
          const OuterStep* step = split_.steps.step_of(d->name);
          return step != nullptr && step->step;
        });
    if (!stepping) return out.lines(statements_text(unit_, {&s}, edits)), true;
    for (const Declarator* d : s.declarators) write_declarator(*d, out, edits);
    return true;
  }

  /// Loads and calls of a statement that are the same for all outer indices.
  void hoist(const Stmt& s, std::vector<Edit>& edits) {
    if (!s.is(StmtKind::declaration) && !s.is(StmtKind::expression)) return;
    walk_expressions(s, [&](const Expr& e) {
      const bool candidate = e.is(ExprKind::subscript) || e.is(ExprKind::call);
      if (!candidate) return true;
      const Access* const access = e.is(ExprKind::subscript) ? facts_.access_of(e) : nullptr;
      if (e.is(ExprKind::subscript) && (access == nullptr || access->vector_width != 1))
        return true;
      if (access != nullptr &&
          facts_.arrays[static_cast<std::size_t>(access->array)].space == Space::local)
        return true;
      const bool same = split_.steps.of(e).is_same() && split_.is_quiet(e) &&
                        !split_.mentions_varying(e) && is_always_evaluated(e) && split_.is_work(e);
      const std::string type = same ? type_of(facts_, e) : "";
      if (type.empty()) return true;
      const std::string text = unit_.plain_text(e.span);
      auto known = hoisted_.find(text);
      if (known == hoisted_.end()) {
        known = hoisted_.emplace(text, fresh(name_for(e))).first;
        before_.line("const " + type + " " + known->second + " = " + text + ";");
      }
      edits.push_back({e.span.begin, e.span.end, known->second});
      return false;
    });
  }

  static std::string name_for(const Expr& e) {
    const Expr* at = &e;
    while (at->is(ExprKind::subscript) || at->is(ExprKind::call)) at = &at->arg(0);
    const bool plain = at->is(ExprKind::name) && at->name.find_first_of(":<") == at->name.npos;
    return (plain ? std::string(at->name) : "value") + "_here";
  }

  void rename(const Expr& root, std::vector<Edit>& edits) {
    walk(root, [&](const Expr& e) { return rename_one(e, edits), true; });
  }

  void rename_one(const Expr& e, std::vector<Edit>& edits) {
    if (split_.steps.is_block_number(e)) edits.push_back({e.span.begin, e.span.end, outer_});
    if (!is_flat() || !e.is_name(axis_.index->name)) return;
    uses_full_ = true;
    edits.push_back({e.span.begin, e.span.end, full_});
  }

  /// Without edits inside others, and without those made twice.
  static std::vector<Edit> without_covered(const std::vector<Edit>& edits) {
    std::vector<Edit> out;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      bool covered = false;
      for (std::size_t j = 0; j < edits.size(); ++j) {
        const bool inside = edits[j].begin <= edits[i].begin && edits[i].end <= edits[j].end;
        const bool equal = edits[j].begin == edits[i].begin && edits[i].end == edits[j].end;
        covered = covered || (i != j && inside && (!equal || j < i));
      }
      if (!covered) out.push_back(edits[i]);
    }
    return out;
  }

  /// A loop of fixed length: first its iterations' values that are the same for all outer indices,
  /// kept in arrays, then in the loop over those what is left.
  bool write_lanes(const Stmt& s) {
    const Loop& loop = *facts_.loop_of(s);
    std::vector<const Stmt*> same, rest;
    for (const Stmt* inner : s.body->children) {
      if (inner->is(StmtKind::empty) || (inner->is(StmtKind::directive) && inner->name == "pragma"))
        continue;
      const bool mixed = inner->is(StmtKind::declaration) && inner->declarators.size() > 1 &&
                         split_.varies(*inner) &&
                         std::ranges::any_of(inner->declarators, [&](const Declarator* d) {
                           return !split_.steps.varies(d->name);
                         });
      if (mixed) return fail("one declaration has names that vary and names that do not");
      (split_.varies(*inner) ? rest : same).push_back(inner);
    }
    for (const Stmt* inner : same) {
      for (const Declarator* d : inner->declarators) {
        if (split_.first.contains(std::string(d->name)))
          return fail("a loop needs its outer index before it");
        const bool later =
            std::ranges::any_of(rest, [&](const Stmt* r) { return mentions(*r, d->name); });
        if (later) kept_.insert(std::string(d->name));
      }
    }
    for (const Stmt* inner : rest) {
      for (const Declarator* d : inner->declarators) {
        if (split_.first.contains(std::string(d->name)))
          return fail("a loop needs " + std::string(d->name) + " before it");
      }
    }
    if (!same.empty()) write_same(s, same, loop.variable, *loop.trip_count);
    if (rest.empty()) return kept_.clear(), true;
    if (s.pragma != nullptr) inside_.line(unit_.plain_text(s.pragma->span));
    inside_.open(unit_.plain_text(s.header));
    for (const Stmt* inner : rest) {
      if (!write_varying(*inner, inside_, loop.variable)) return false;
    }
    inside_.close();
    return kept_.clear(), true;
  }

  void write_same(const Stmt& s,
                  const std::vector<const Stmt*>& same,
                  const std::string& lane,
                  std::int64_t lanes) {
    // What does not depend on the lane either needs neither loop nor array.
    std::set<std::string, std::less<>> own{lane};
    std::vector<const Stmt*> left;
    for (const Stmt* inner : same) {
      for (const std::string& name : facts_.names_written(*inner)) own.insert(name);
    }
    for (const Stmt* inner : same) {
      const bool depends =
          !inner->is(StmtKind::declaration) ||
          std::ranges::any_of(own, [&](const std::string& name) {
            return mentions(*inner, name) ||
                   std::ranges::any_of(inner->declarators,
                                       [&](const Declarator* d) { return d->name == name; });
          });
      if (!depends) {
        before_.lines(statements_text(unit_, {inner}));
        for (const Declarator* d : inner->declarators) kept_.erase(std::string(d->name));
        continue;
      }
      for (const Declarator* d : inner->declarators) own.insert(std::string(d->name));
      left.push_back(inner);
    }
    if (left.empty()) return;
    for (const Stmt* inner : left) {
      for (const Declarator* d : inner->declarators) {
        if (!kept_.contains(std::string(d->name))) continue;
        std::string type = unit_.plain_text(d->type);
        if (d->is_pointer())
          type = (d->has(kConst) ? "const " : "") + type +
                 std::string(static_cast<std::size_t>(d->pointer_depth), '*');
        before_.line(type + " " + std::string(d->name) + "[" + number(lanes) + "];");
      }
    }
    if (s.pragma != nullptr) before_.line(unit_.plain_text(s.pragma->span));
    before_.open(unit_.plain_text(s.header));
    for (const Stmt* inner : left) {
      std::vector<Edit> edits;
      for (const std::string& name : kept_)
        rename_variable(*inner, name, name + "[" + lane + "]", edits);
      if (!inner->is(StmtKind::declaration)) {
        before_.lines(statements_text(unit_, {inner}, edits));
        continue;
      }
      for (const Declarator* d : inner->declarators) {
        const std::string name(d->name);
        if (!kept_.contains(name))
          before_.line(unit_.plain_text(d->specifiers) + " " + substituted(unit_, d->span, edits) +
                       ";");
        else if (d->value() != nullptr)
          before_.line(name + "[" + lane + "] = " + substituted(unit_, d->value()->outer, edits) +
                       ";");
      }
    }
    before_.close();
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const OuterAxis& axis_;
  std::int64_t count_;
  std::string& why_;
  OuterSplit split_;
  CodeWriter before_, inside_;
  OuterPlace place_;
  std::set<std::string, std::less<>> taken_;
  std::string points_, u_, outer_, plane_, full_, thread_;
  std::map<std::string, std::string> hoisted_;  ///< names of loads and calls, by their text
  std::set<std::string> kept_;                  ///< arrays of the loop at hand, one element a lane
  bool uses_full_ = false;                      ///< the loop needs the flat index itself
};

}  // namespace

std::optional<Variant> points_in_outer_loop(const MoveContext& context,
                                            const KernelModel& kernel,
                                            std::int64_t count,
                                            std::string& why) {
  why = outer_obstacle(context, kernel);
  if (!why.empty()) return std::nullopt;
  const LaunchPlan& plan = context.variant.launch;
  std::vector<OuterAxis> axes;
  bool flat = true;
  for (const int axis : {2, 1}) {
    const auto at = static_cast<std::size_t>(axis);
    if (!(plan.grid[at] == Expression(1))) {
      axes.emplace_back().grid_axis = axis;
      axes.back().extent = blocks_along(context, kernel, at);
    }
    flat = flat && plan.grid[at] == Expression(1) && plan.block[at] == Expression(1);
  }
  if (flat) {
    axes = flat_axes(kernel, why);
  } else if (axes.empty()) {
    why = "no axis of the grid but x has several blocks";
  }
  std::string first;
  for (const OuterAxis& axis : axes) {
    if (auto out = OuterWriter(context, kernel, axis, count, why).write()) return out;
    if (first.empty()) first = why;
  }
  if (!first.empty()) why = first;
  return std::nullopt;
}

}  // namespace warpath
