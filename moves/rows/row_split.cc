#include "moves/rows/row_split.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/row_plan.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Expr;
using model::ExprKind;
using model::KernelFacts;
using model::Loop;
using model::LoopClass;
using model::Reduction;
using model::Stmt;
using model::StmtKind;
using model::Unit;

bool is_idempotent(model::ReduceOp op) {
  using model::ReduceOp;
  return op != ReduceOp::add && op != ReduceOp::multiply && op != ReduceOp::bit_xor;
}

bool is_identity(const Unit& unit, const Reduction& r, const Expr& value) {
  const Expr& e = model::strip_casts(value);
  if (e.kind != ExprKind::number) return false;
  const std::string text(unit.text(e));
  const double number = std::strtod(text.c_str(), nullptr);
  return number == (r.op == model::ReduceOp::multiply ? 1.0 : 0.0) &&
         r.op != model::ReduceOp::bit_and;
}

/// Writes a plan into the kernel's text.
class RowRewriter {
 public:
  RowRewriter(const MoveContext& context,
              const model::KernelModel& model,
              const RowPlan& plan,
              const ScanShape* scan)
      : context_(context),
        model_(model),
        unit_(model.unit),
        facts_(model.facts),
        body_(*model.kernel->body),
        kernel_(*model.kernel),
        plan_(plan),
        scan_(scan) {}

  std::optional<Variant> rewrite(LaneGroup group, std::string& why) {
    if (group.cluster > 1 && !plan_.barriers.empty())
      return why = "lanes of several blocks would exchange memory between loops", std::nullopt;
    for (const RowCombine& c : plan_.combines) {
      if (group.cluster > 1 && model::enclosing_loop(*c.stmt) != nullptr) {
        return why = "a cluster combines no values inside a loop", std::nullopt;
      }
      if (group.cluster > 1 && !c.extrema.empty())
        return why = "a cluster does not say where an extremum is", std::nullopt;
    }
    name_things(group);
    edit_index(group);
    for (const Stmt* s : plan_.barriers) {
      insert_before(*s, (group.within_warp() ? warp_barrier(group) : "__syncthreads();") +
                            "  // what other lanes wrote is read next");
    }
    for (const Loop* split : plan_.splits) {
      if (!edit_loop(*split, group, why)) return std::nullopt;
    }
    for (const RowCombine& c : plan_.combines) edit_combine(c, group);
    for (const Stmt* s : plan_.single) edit_single(*s, group);
    Variant out = context_.variant;
    close_statements();
    out.source = edited(unit_.source(), std::move(edits_));
    if (!set_plan(out.launch, group, why)) return std::nullopt;
    return out;
  }

 private:
  void name_things(LaneGroup& group) {
    group.step = free_name(unit_, {"d", "step"}, taken_);
    group.part = free_name(unit_, {"k", "part"}, taken_);
    group.lane = fresh("lane");
    group.lanes_name = fresh("LANES");
    group.mask = fresh("row_mask");
    group.send = fresh("cluster_send");
    group.barrier = fresh("cluster_barrier");
  }

  std::string fresh(std::string_view wish) {
    std::string out = model::fresh_name(unit_, wish, &taken_);
    taken_.insert(out);
    return out;
  }

  void edit_index(const LaneGroup& group) {
    const std::string tab = model::indent_unit(unit_),
                      item = plan_.index->name.empty() ? "item" : plan_.index->name;
    std::string head = "constexpr int " + group.lanes_name + " = " + std::to_string(group.lanes) +
                       ";  // threads that share one " + item + "\n";
    const std::string block = plan_.factor.factor_text();
    std::string index;
    if (group.within_warp()) {
      head += "const int " + group.lane + " = threadIdx.x % " + group.lanes_name + ";\n";
      if (group.lanes < kWarpLanes && needs_mask()) {
        head += "const unsigned " + group.mask + " = ((1u << " + group.lanes_name +
                ") - 1) << (threadIdx.x % 32 / " + group.lanes_name + " * " + group.lanes_name +
                ");\n";
      }
      index = "blockIdx.x * (" + block + " / " + group.lanes_name + ") + threadIdx.x / " +
              group.lanes_name;
    } else if (group.cluster == 1) {
      head += "const int " + group.lane + " = threadIdx.x;\n";
      index = "blockIdx.x";
    } else {
      const std::string blocks = std::to_string(group.cluster);
      head += "const int " + group.lane + " = blockIdx.x % " + blocks + " * " +
              std::to_string(group.block()) + " + threadIdx.x;\n";
      index = "blockIdx.x / " + blocks;
    }
    for (const Expr* e : plan_.indices) replace(*e, index);
    const std::string all =
        group.within_warp()
            ? "gridDim.x * (" + block + " / " + group.lanes_name + ")"
            : "gridDim.x" +
                  (group.cluster > 1 ? " / " + std::to_string(group.cluster) : std::string());
    for (const Expr* e : plan_.strides) replace(*e, all);
    if (!kernel_.launch_bounds_args.empty() && !group.within_warp()) {
      const model::Span span = kernel_.launch_bounds_args[0]->span;
      edits_.push_back({span.begin, span.end, std::to_string(group.block())});
    }
    if (group.cluster > 1) {
      const model::Span whole = model::whole_lines(unit_, kernel_.span, true);
      edits_.push_back({whole.begin, whole.begin, cluster_helpers(group, tab)});
      head += group.barrier + "();  // every block of the cluster runs from here on\n";
    }
    const Stmt* place = plan_.indices.front()->stmt;
    if (place == nullptr || place->parent != &body_ || group.cluster > 1)
      place = body_.children.front();
    if (group.cluster > 1 || place->span.begin > plan_.indices.front()->span.begin)
      place = body_.children.front();
    head.pop_back();
    insert_before(*place, head);
  }

  [[nodiscard]] bool needs_mask() const {
    return scan_ != nullptr || !plan_.combines.empty() || !plan_.barriers.empty();
  }

  void replace(const Expr& e, std::string text) {
    const std::string type = model::type_of(facts_, e);
    const bool wide = model::size_of_type(type) == 8 && model::is_integer_type(type);
    const bool alone =
        e.stmt != nullptr && e.stmt->is(StmtKind::declaration) && e.parent == nullptr;
    if (wide && !alone) text = "(" + type + ")(" + text + ")";
    if (!alone && !wide && e.parent != nullptr && !e.parenthesised &&
        e.parent->kind != ExprKind::assign)
      text = "(" + text + ")";
    edits_.push_back({e.span.begin, e.span.end, std::move(text)});
  }

  bool edit_loop(const Loop& loop, const LaneGroup& group, std::string& why) {
    if (loop.kind == LoopClass::scan) {
      const std::string indent = model::indentation(unit_, loop.stmt->span.begin);
      const auto text = scan_text(model_, loop, group, *scan_, taken_);
      if (!text)
        return why = "no array of the loop moves in packs of " + std::to_string(scan_->vector),
               false;
      const std::size_t begin =
          loop.stmt->pragma != nullptr ? loop.stmt->pragma->span.begin : loop.stmt->span.begin;
      edits_.push_back(
          {begin, loop.stmt->span.end, open_wrap(*loop.stmt) + hanging(*text, indent)});
      return true;
    }
    const std::int64_t step = *loop.step.constant(), size = step < 0 ? -step : step;
    const std::string places = size == 1 ? group.lane : group.lane + " * " + std::to_string(size);
    std::string first(unit_.text(loop.first_expr->outer));
    if (step > 0 && model::constant_value(unit_, *loop.first_expr) == 0)
      first = places;
    else
      first += (step > 0 ? " + " : " - ") + places;
    edits_.push_back({loop.first_expr->outer.begin, loop.first_expr->outer.end, first});
    const std::string stride =
        size == 1 ? group.lanes_name : group.lanes_name + " * " + std::to_string(size);
    const model::Span old = loop.stmt->step->outer;
    edits_.push_back({old.begin, old.end, loop.variable + (step > 0 ? " += " : " -= ") + stride});
    return true;
  }

  void edit_combine(const RowCombine& c, const LaneGroup& group) {
    std::vector<Partial> partials;
    std::vector<std::string> names;
    for (const Reduction* r : c.reductions) {
      partials.push_back({r->accumulator, r->type, r->op});
      names.push_back(group.within_warp() ? std::string() : fresh(r->accumulator + "_warp"));
      if (!is_idempotent(r->op) && !starts_neutral(*r, *c.stmt)) {
        insert_before(*c.stmt, "if (" + group.lane + " != 0) " + r->accumulator + " = " +
                                   model::identity_text(r->op, r->type) +
                                   ";  // only the first lane starts from its value");
      }
    }
    const bool again = model::enclosing_loop(*c.stmt) != nullptr;
    const std::string tab = model::indent_unit(unit_);
    std::string text;
    if (!partials.empty()) text = combine_lanes(group, partials, names, again, tab);
    for (const model::Extremum* e : c.extrema) text += combined(*e, group, again, tab);
    text.pop_back();
    insert_behind(*c.stmt, text);
  }

  std::string combined(const model::Extremum& e,
                       const LaneGroup& group,
                       bool again,
                       const std::string& tab) {
    PartialExtremum partial{{}, {}, {}, e.greatest, e.order, e.ascends};
    std::vector<std::string> names;
    for (const model::Declarator* d : e.variables) {
      partial.variables.emplace_back(d->name);
      partial.types.push_back(unit_.resolved_type(unit_.plain_text(d->type)));
      partial.others.push_back(fresh(std::string(d->name) + "_other"));
      names.push_back(group.within_warp() ? std::string() : fresh(std::string(d->name) + "_warp"));
    }
    return combine_lanes(group, partial, names, again, tab);
  }

  /// The accumulator's value before the loop is the operator's neutral element, by the statements
  /// before it in its block.
  [[nodiscard]] bool starts_neutral(const Reduction& r, const Stmt& loop) const {
    if (loop.parent == nullptr || !loop.parent->is(StmtKind::block)) return false;
    const auto& list = loop.parent->children;
    auto at = std::find(list.begin(), list.end(), &loop);
    while (at != list.begin()) {
      const Stmt& s = **--at;
      if (s.is(StmtKind::declaration)) {
        for (const model::Declarator* d : s.declarators) {
          if (d == r.declarator) return d->value() != nullptr && is_identity(unit_, r, *d->value());
        }
      }
      const std::vector<std::string> written = facts_.names_written(s);
      if (std::find(written.begin(), written.end(), r.accumulator) == written.end()) continue;
      const Expr* e = s.is(StmtKind::expression) ? s.expr : nullptr;
      return e != nullptr && e->is_op(ExprKind::assign, "=") && e->arg(0).is_name(r.accumulator) &&
             is_identity(unit_, r, e->arg(1));
    }
    return false;
  }

  void edit_single(const Stmt& stmt, const LaneGroup& group) {
    edits_.push_back(
        {stmt.span.begin, stmt.span.begin, open_wrap(stmt) + "if (" + group.lane + " == 0) "});
  }

  static std::string warp_barrier(const LaneGroup& group) {
    return "__syncwarp(" + (group.lanes < kWarpLanes ? group.mask : std::string()) + ");";
  }

  // --- insertion
  // ------------------------------------------------------------------------------------------------------

  /// "{ " once for a statement that is the whole body of an if or a loop.
  std::string open_wrap(const Stmt& stmt) {
    if (stmt.parent == nullptr || stmt.parent->is(StmtKind::block) ||
        stmt.parent->is(StmtKind::switch_))
      return {};
    return wrapped_.insert(&stmt).second ? "{ " : "";
  }

  /// What was put behind a statement comes after the braces of those that end with it, before its
  /// own.
  void close_statements() {
    const auto close = [&](const Stmt& s) { edits_.push_back({s.span.end, s.span.end, " }"}); };
    for (const Stmt* s : wrapped_) {
      if (!behind_.contains(s)) close(*s);
    }
    for (const auto& [s, text] : behind_) {
      edits_.push_back({s->span.end, s->span.end, text});
      if (wrapped_.contains(s)) close(*s);
    }
  }

  void insert_before(const Stmt& stmt, const std::string& text) {
    const std::size_t at = stmt.pragma != nullptr ? stmt.pragma->span.begin : stmt.span.begin;
    const std::string indent = model::indentation(unit_, at);
    std::string shifted = hanging(text, indent);
    edits_.push_back({at, at, open_wrap(stmt) + shifted + "\n" + indent});
  }

  void insert_behind(const Stmt& stmt, const std::string& text) {
    if (const std::string open = open_wrap(stmt); !open.empty())
      edits_.push_back({stmt.span.begin, stmt.span.begin, open});
    const std::string indent = model::indentation(unit_, stmt.span.begin);
    behind_[&stmt] += "\n" + model::indented(text, indent);
  }

  // --- the launch
  // -----------------------------------------------------------------------------------------------------

  bool set_plan(LaunchPlan& plan, const LaneGroup& group, std::string& why) const {
    const auto items = items_of(plan);
    const std::string block = plan.block[0].text(), grid = plan.grid[0].text();
    try {
      if (group.within_warp()) {
        const std::string lanes = std::to_string(group.lanes);
        plan.grid[0] = Expression::parse(
            items ? "ceil_div((" + items->text() + ") * " + lanes + ", " + block + ")"
                  : "(" + grid + ") * " + lanes,
            "grid");
        return true;
      }
      if (plan.dynamic_smem_bytes != Expression(0))
        return why = "the kernel has dynamic shared memory", false;
      const std::string rows = items                   ? items->text()
                               : plan_.strides.empty() ? "(" + grid + ") * (" + block + ")"
                                                       : grid;
      plan.grid[0] = Expression::parse(
          group.cluster == 1 ? rows : "(" + rows + ") * " + std::to_string(group.cluster), "grid");
      plan.block[0] = Expression(group.block());
      plan.cluster[0] = Expression(group.cluster);
      return true;
    } catch (const Error&) {
      return why = "the launch plan cannot be changed", false;
    }
  }

  const MoveContext& context_;
  const model::KernelModel& model_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const Stmt& body_;
  const model::Function& kernel_;
  const RowPlan& plan_;
  const ScanShape* scan_;  ///< null: no scan loops
  std::set<std::string, std::less<>> taken_;
  std::set<const Stmt*> wrapped_;  ///< now in braces of their own
  std::map<const Stmt*, std::string> behind_;
  std::vector<Edit> edits_;
};

}  // namespace

bool can_split_rows(const MoveContext& context,
                    const model::KernelModel& model,
                    const ScanShape* scan,
                    std::string& why) {
  return plan_rows(context, model, scan, why).has_value();
}

std::optional<Variant> split_rows(const MoveContext& context,
                                  const model::KernelModel& model,
                                  LaneGroup group,
                                  const ScanShape* scan,
                                  std::string& why) {
  const auto plan = plan_rows(context, model, scan, why);
  if (!plan) return std::nullopt;
  return RowRewriter(context, model, *plan, scan).rewrite(std::move(group), why);
}

double typical_trips(const MoveContext& context, const model::KernelModel& model) {
  double most = 0;
  for (const Workload* const workload : all_workloads_of(context)) {
    const Bindings values = model.facts.values(*workload);
    for (const auto& loop : model.facts.loops) {
      const bool serial = loop->kind == LoopClass::serial && loop->extrema.empty();
      if (!loop->counted || !loop->trips || serial) continue;
      if (const auto trips = loop->trips->evaluate(values))
        most = std::max(most, static_cast<double>(*trips));
    }
  }
  return most;
}

}  // namespace warpath
