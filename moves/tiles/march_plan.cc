#include "moves/tiles/march_plan.h"

#include <algorithm>

#include "engine/spec/parameters.h"
#include "engine/text/function_text.h"
#include "engine/text/tokens.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/repeated_body.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using namespace model;

class MarchPlanner {
 public:
  MarchPlanner(const MoveContext& context,
               const KernelModel& kernel,
               std::int64_t width,
               std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        width_(width),
        why_(why) {}

  std::optional<MarchPlan> plan() {
    auto found = find_stencil(context_, kernel_, why_);
    if (!found) return std::nullopt;
    plan_.stencil = std::move(*found);
    if (!choose_axes() || !find_region() || (width_ > 1 && !wide_is_legal())) return std::nullopt;
    if (const std::string carried = carried_variable(kernel_, plan_.region); !carried.empty())
      return why_ = carried + " would go from one point to the next", std::nullopt;
    return std::move(plan_);
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool choose_axes() {
    const StencilAxis& z = plan_.stencil.axes.front();
    const auto column =
        std::find_if(plan_.stencil.lines.begin(), plan_.stencil.lines.end(),
                     [](const StencilLine& l) { return l.axis == 0 && l.low > 0 && l.high > 0; });
    if (plan_.stencil.axes.size() < 2 || column == plan_.stencil.lines.end())
      return fail("no slow thread axis has loads on both sides of its point");
    if (with_constants(kernel_, z.stride) == Polynomial(1))
      return fail("the points of the slowest axis lie side by side");
    plan_.slow = {z.index->name, "", static_cast<std::size_t>(z.index->axis)};
    if (width_ > 1) {
      const StencilAxis& x = plan_.stencil.axes.back();
      if (!(with_constants(kernel_, x.stride) == Polynomial(1)) || x.on_blocks)
        return fail("no thread axis has its points side by side");
      plan_.side = {x.index->name, "", static_cast<std::size_t>(x.index->axis)};
      plan_.side_first = fresh_name(unit_, plan_.side.name + "_first", &plan_.taken);
    }
    const ArgSpec* out = context_.spec.io.find(
        facts_.arrays[static_cast<std::size_t>(plan_.stencil.stores[0]->array)].spec_name);
    for (const StencilLine& line : plan_.stencil.lines) {
      const ArgSpec* in = context_.spec.io.find(line.array->spec_name);
      if (out == nullptr || in == nullptr || !out->tensor || !in->tensor ||
          out->tensor->shape != in->tensor->shape)
        return fail(line.array->name + " and the output have different shapes");
    }
    return true;
  }

  [[nodiscard]] bool is_marked(const Stmt& stmt) const {
    return mentions(stmt, plan_.slow.name) || (width_ > 1 && mentions(stmt, plan_.side.name));
  }

  [[nodiscard]] bool defines_axis(const Stmt& stmt) const {
    return &stmt == axis_statement(0) ||
           (width_ > 1 && &stmt == axis_statement(plan_.stencil.axes.size() - 1));
  }
  [[nodiscard]] const Stmt* axis_statement(std::size_t axis) const {
    return plan_.stencil.axes[axis].index->declarator->stmt;
  }

  /// Finds the first statement that the loops must hold; guards before it lose what they say of the
  /// marched index.
  bool find_region() {
    const Stmt* block = kernel_.kernel->body;
    for (std::size_t i = 0; i < block->children.size();) {
      const Stmt& stmt = *block->children[i];
      if (defines_axis(stmt) || !is_marked(stmt)) {
        ++i;
        continue;
      }
      const bool plain =
          stmt.is(StmtKind::if_) && stmt.otherwise == nullptr && stmt.init == nullptr;
      const bool exits = plain && statements(*stmt.body).size() == 1 &&
                         statements(*stmt.body)[0]->is(StmtKind::return_);
      const bool last = plain && i + 1 == block->children.size() && stmt.body->is(StmtKind::block);
      if (exits && take_bounds(*stmt.expr, true, stmt)) {
        ++i;
      } else if (last && !exits && take_bounds(*stmt.expr, false, stmt)) {
        block = stmt.body, i = 0;
      } else {
        plan_.region = {block->children.begin() + static_cast<std::ptrdiff_t>(i),
                        block->children.end()};
        break;
      }
    }
    if (plan_.region.empty()) return fail("nothing depends on " + plan_.slow.name);
    if (plan_.slow.end.empty() && !end_from_launch())
      return fail("the extent of " + plan_.slow.name + " is not known");
    for (const Stmt* stmt : plan_.region) {
      bool bad = false;
      walk(*stmt, [&](const Stmt& s) {
        if (s.is(StmtKind::return_))
          plan_.returns.push_back(&s), bad = bad || enclosing_loop(s) != nullptr;
        bad = bad || s.is(StmtKind::goto_) || s.is(StmtKind::label);
        return true;
      });
      if (bad) return fail("the kernel leaves from inside a loop");
    }
    return true;
  }

  /// Takes `z < end` out of the terms of a condition (of `z >= end` under a return), notes `x <
  /// end`. False: it says more of them.
  bool take_bounds(const Expr& condition, bool negated, const Stmt& stmt) {
    std::vector<const Expr*> terms;
    split_terms(condition, negated ? "||" : "&&", terms);
    std::vector<std::string> kept;
    std::string z_end = plan_.slow.end, x_end = plan_.side.end;
    for (const Expr* term : terms) {
      const bool on_z = mentions(*term, plan_.slow.name),
                 on_x = width_ > 1 && mentions(*term, plan_.side.name);
      const std::string text = unit_.plain_text(term->outer.empty() ? term->span : term->outer);
      if (!on_z && !on_x) {
        kept.push_back(text);
        continue;
      }
      const std::string& name = on_z ? plan_.slow.name : plan_.side.name;
      std::string& end = on_z ? z_end : x_end;
      const bool upper = term->is_op(ExprKind::binary, negated ? ">=" : "<") &&
                         term->arg(0).is_name(name) &&
                         facts_.uniformity(term->arg(1)) != Uniformity::thread;
      if (!upper || !end.empty() || (on_z && on_x)) return false;
      end = unit_.plain_text(term->arg(1).outer.empty() ? term->arg(1).span : term->arg(1).outer);
      if (on_x)
        kept.push_back(with_names(text, {{plan_.side.name, plan_.side_first}})),
            x_bound_ = facts_.source_polynomial(term->arg(1));
    }
    if (!negated && kept.empty()) return false;
    plan_.slow.end = z_end, plan_.side.end = x_end;
    std::string text;
    for (const std::string& term : kept)
      text += (text.empty() ? "" : negated ? " || " : " && ") + term;
    if (kept.empty()) {
      const Span line = whole_lines(unit_, stmt.span);
      plan_.guards.push_back({line.begin, line.end, ""});
    } else {
      plan_.guards.push_back({condition.span.begin, condition.span.end, text});
    }
    return true;
  }

  static void split_terms(const Expr& e, std::string_view op, std::vector<const Expr*>& out) {
    if (!e.is_op(ExprKind::binary, op)) return out.push_back(&e);
    split_terms(e.arg(0), op, out);
    split_terms(e.arg(1), op, out);
  }

  /// The number of blocks along a block axis, where it is one argument or a constant.
  bool end_from_launch() {
    if (!plan_.stencil.axes.front().on_blocks) return false;
    const Expression& grid = context_.variant.launch.grid[plan_.slow.axis];
    if (grid.is_constant()) return plan_.slow.end = grid.text(), true;
    std::size_t at = 0;
    for (const ArgSpec* const arg : parameter_arguments(context_.spec)) {
      if (at == kernel_.kernel->parameters.size()) break;
      const Declarator& parameter = *kernel_.kernel->parameters[at++];
      if (arg != nullptr && arg->name == grid.text() && arg->type == ArgType::integer &&
          !parameter.name.empty())
        return plan_.slow.end = std::string(parameter.name), true;
    }
    return false;
  }

  /// Wide accesses are aligned and inside, and every point is stored to exactly once at the end of
  /// its work.
  bool wide_is_legal() {
    const Access& store = *plan_.stencil.stores[0];
    const std::string atom = std::string("threadIdx.") + "xyz"[plan_.side.axis];
    const Bindings multiples = facts_.multiples();
    if (plan_.side.end.empty() || !x_bound_.is_known() ||
        !with_constants(kernel_, x_bound_).divisible_by(kMarchWidth, multiples))
      return fail("the extent of " + plan_.side.name + " is no multiple of " + number(kMarchWidth));
    Polynomial rest = with_constants(kernel_, store.index)
                          .without(atom)
                          .without(std::string("blockIdx.") + "xyz"[plan_.side.axis]);
    if (!rest.divisible_by(kMarchWidth, multiples))
      return fail("rows do not start at multiples of " + number(kMarchWidth));
    const Array& out = facts_.arrays[static_cast<std::size_t>(store.array)];
    if (std::any_of(plan_.stencil.stores.begin(), plan_.stencil.stores.end(),
                    [](const Access* a) { return replaceable(*a) == nullptr; }))
      return fail("a cache hint stores by the output's address");
    if (out.type != "float" || out.alignment_bytes % 16 != 0 || out.alignment_bytes == 0)
      return fail("the output is not float and aligned");
    for (const StencilLine& line : plan_.stencil.lines) {
      if (line.array->type != "float" || line.array->alignment_bytes % 16 != 0 ||
          line.array->alignment_bytes == 0)
        return fail(line.array->name + " is not float and aligned");
      const bool across = line.axis > 0 && line.axis + 1 < plan_.stencil.axes.size();
      if (across && !plan_.stencil.axes[line.axis].index->bound)
        return fail("the extent of " + plan_.stencil.axes[line.axis].index->name + " is not known");
      if (line.low > kMarchWidth || line.high > kMarchWidth)
        return fail("the stencil reaches beyond " + number(kMarchWidth) + " points");
    }
    const auto stores_here = [&](const Stmt& stmt) {
      return stmt.is(StmtKind::expression) &&
             std::any_of(plan_.stencil.stores.begin(), plan_.stencil.stores.end(),
                         [&](const Access* a) { return is_inside(*a->expr, stmt); });
    };
    bool good = stores_here(*plan_.region.back()) &&
                plan_.stencil.stores.size() == plan_.returns.size() + 1;
    for (const Stmt* stmt : plan_.returns) {
      const std::vector<const Stmt*> siblings =
          stmt->parent == nullptr ? std::vector<const Stmt*>{} : statements(*stmt->parent);
      const auto at = std::find(siblings.begin(), siblings.end(), stmt);
      good = good && at != siblings.end() && at != siblings.begin() && stores_here(**(at - 1));
    }
    return good || fail("not every point is stored to as the last thing");
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const Unit& unit_;
  const KernelFacts& facts_;
  std::int64_t width_;
  std::string& why_;
  MarchPlan plan_;
  Polynomial x_bound_ = Polynomial::unknown();
};

}  // namespace

std::optional<MarchPlan> plan_march(const MoveContext& context,
                                    const KernelModel& kernel,
                                    std::int64_t width,
                                    std::string& why) {
  return MarchPlanner(context, kernel, width, why).plan();
}

std::string with_names(const std::string& text,
                       const std::vector<std::pair<std::string, std::string>>& names) {
  const CodeText code(text);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    for (const auto& [from, to] : names) {
      if (code.is(i, from) && code.is_name(i) && !is_member(code, i))
        edits.push_back({code.tokens[i].begin, code.tokens[i].end, to});
    }
  }
  return edited(text, std::move(edits));
}

}  // namespace warpath
