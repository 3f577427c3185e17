#include <algorithm>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/model/syntax_query.h"
#include "moves/model/words.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "register_moves.h"

namespace warpath {
namespace {

using model::Access;
using model::Expr;
using model::ExprKind;
using model::KernelModel;
using model::Polynomial;
using model::ReduceOp;
using model::Stmt;
using model::StmtKind;

/// `array[tid] = array[tid] op array[tid + s]`.
struct TreeUpdate {
  const model::Array* array = nullptr;
  int array_index = 0;
  ReduceOp op = ReduceOp::add;
};

/// A loop over halving or doubling distances that reduces shared arrays of one element a thread to
/// element 0.
struct Tree {
  std::size_t ordinal = 0;  ///< among the kernel's loops
  const Stmt* loop = nullptr;
  std::int64_t threads = 0;
  std::vector<TreeUpdate> updates;
};

std::optional<ReduceOp> op_of(const Expr& value) {
  if (value.kind == ExprKind::binary) {
    if (value.op == "+") return ReduceOp::add;
    if (value.op == "*") return ReduceOp::multiply;
    if (value.op == "&") return ReduceOp::bit_and;
    if (value.op == "|") return ReduceOp::bit_or;
    if (value.op == "^") return ReduceOp::bit_xor;
    return std::nullopt;
  }
  const std::string_view name = model::callee(value);
  if (value.args.size() != 3) return std::nullopt;
  if (name == "fmaxf" || name == "fmax" || name == "max") return ReduceOp::maximum;
  if (name == "fminf" || name == "fmin" || name == "min") return ReduceOp::minimum;
  return std::nullopt;
}

class TreeFinder {
 public:
  TreeFinder(const MoveContext& context, const KernelModel& model)
      : facts_(model.facts), threads_(threads_per_row_block(context.variant)) {}

  std::vector<Tree> all(std::string& why) const {
    std::vector<Tree> out;
    why = "no loop halves the distance at which a shared array is summed";
    if (!threads_ || *threads_ % kWarpLanes != 0 || (*threads_ & (*threads_ - 1)) != 0) return out;
    for (std::size_t k = 0; k < facts_.loops.size(); ++k) {
      Tree tree{k, facts_.loops[k]->stmt, *threads_, {}};
      if (read(tree)) out.push_back(std::move(tree));
    }
    return out;
  }

 private:
  bool read(Tree& tree) const {
    const Stmt& s = *tree.loop;
    if (!s.is(StmtKind::for_) || s.init == nullptr || s.init->declarators.size() != 1 ||
        s.expr == nullptr || s.step == nullptr)
      return false;
    const model::Declarator& d = *s.init->declarators[0];
    if (d.value() == nullptr || !facts_.uniformly_reached(s)) return false;
    const bool halves = steps_by(*s.step, d.name, "/", ">>"),
               doubles = steps_by(*s.step, d.name, "*", "<<");
    const auto first = facts_.resolved(facts_.polynomial(*d.value()))
                           .substituted("blockDim.x", *threads_)
                           .constant();
    if (!first || !(halves ? *first == *threads_ / 2 && ends_at_zero(s, d.name)
                           : doubles && *first == 1 && ends_at_block(s, d.name)))
      return false;
    int barriers = 0;
    const Stmt* update = nullptr;
    for (const Stmt* child : model::statements(*s.body)) {
      if (child->is(StmtKind::expression) && model::callee(*child->expr) == "__syncthreads")
        ++barriers;
      else if (child->is(StmtKind::if_) && child->otherwise == nullptr && child->expr != nullptr &&
               update == nullptr)
        update = child;
      else
        return false;
    }
    if (barriers == 0 || update == nullptr || !is_condition(*update->expr, d.name, halves))
      return false;
    for (const Stmt* u : model::statements(*update->body)) {
      if (!read_update(*u, d.name, tree)) return false;
    }
    return !tree.updates.empty() &&
           std::all_of(tree.updates.begin(), tree.updates.end(),
                       [&](const TreeUpdate& u) { return first_only(u, s); });
  }

  /// `s /= 2`, `s >>= 1`, `s = s / 2`.
  [[nodiscard]] bool steps_by(const Expr& step,
                              std::string_view name,
                              std::string_view op,
                              std::string_view shift) const {
    if (step.kind != ExprKind::assign || !step.arg(0).is_name(name)) return false;
    const Expr* amount = &step.arg(1);
    std::string_view by = step.op.substr(0, step.op.size() - 1);
    if (step.op == "=") {
      if (amount->kind != ExprKind::binary || !amount->arg(0).is_name(name)) return false;
      by = amount->op, amount = &amount->arg(1);
    }
    const auto n = facts_.polynomial(*amount).constant();
    return (by == op && n == 2) || (by == shift && n == 1);
  }

  [[nodiscard]] bool ends_at_zero(const Stmt& s, std::string_view name) const {
    if (s.expr->kind != ExprKind::binary || !s.expr->arg(0).is_name(name)) return false;
    const auto n = facts_.polynomial(s.expr->arg(1)).constant();
    return (s.expr->op == ">" && n == 0) || (s.expr->op == ">=" && n == 1) ||
           (s.expr->op == "!=" && n == 0);
  }

  [[nodiscard]] bool ends_at_block(const Stmt& s, std::string_view name) const {
    if (s.expr->kind != ExprKind::binary || !s.expr->arg(0).is_name(name) || s.expr->op != "<")
      return false;
    return facts_.resolved(facts_.polynomial(s.expr->arg(1)))
               .substituted("blockDim.x", *threads_)
               .constant() == *threads_;
  }

  /// `tid < s` of a halving tree; `tid % (2 * s) == 0` of a doubling one.
  [[nodiscard]] bool is_condition(const Expr& e, std::string_view name, bool halves) const {
    if (e.kind != ExprKind::binary) return false;
    if (halves) return e.op == "<" && is_tid(e.arg(0)) && e.arg(1).is_name(name);
    if (e.op != "==" || facts_.polynomial(e.arg(1)).constant() != 0 ||
        !e.arg(0).is_op(ExprKind::binary, "%") || !is_tid(e.arg(0).arg(0)))
      return false;
    const Expr& twice = e.arg(0).arg(1);
    return twice.is_op(ExprKind::binary, "*") &&
           ((twice.arg(0).is_name(name) && facts_.polynomial(twice.arg(1)).constant() == 2) ||
            (twice.arg(1).is_name(name) && facts_.polynomial(twice.arg(0)).constant() == 2));
  }

  [[nodiscard]] bool is_tid(const Expr& e) const {
    return facts_.polynomial(e) == Polynomial::name("threadIdx.x");
  }

  bool read_update(const Stmt& u, std::string_view name, Tree& tree) const {
    if (!u.is(StmtKind::expression) || u.expr->kind != ExprKind::assign) return false;
    const Access* target = facts_.access_of(u.expr->arg(0));
    if (target == nullptr || !is_own(*target)) return false;
    const model::Array& array = facts_.arrays[static_cast<std::size_t>(target->array)];
    if (array.space != model::Space::shared || model::size_of_type(array.type) < 4) return false;
    TreeUpdate out{&array, target->array, ReduceOp::add};
    const Expr& value = u.expr->arg(1);
    if (u.expr->op == "=") {
      const auto op = op_of(value);
      if (!op) return false;
      out.op = *op;
      const std::size_t at = value.kind == ExprKind::call ? 1 : 0;
      const Expr &a = value.arg(at), &b = value.arg(at + 1);
      if (!(is_own(a, target->array) && is_partner(b, target->array, name)) &&
          !(is_own(b, target->array) && is_partner(a, target->array, name)))
        return false;
    } else {
      if (u.expr->op == "+=")
        out.op = ReduceOp::add;
      else if (u.expr->op == "*=")
        out.op = ReduceOp::multiply;
      else if (u.expr->op == "&=")
        out.op = ReduceOp::bit_and;
      else if (u.expr->op == "|=")
        out.op = ReduceOp::bit_or;
      else if (u.expr->op == "^=")
        out.op = ReduceOp::bit_xor;
      else
        return false;
      if (!is_partner(value, target->array, name)) return false;
    }
    tree.updates.push_back(out);
    return true;
  }

  static bool is_own(const Access& a) {
    return a.subscripts.size() <= 1 && a.index == Polynomial::name("threadIdx.x");
  }
  [[nodiscard]] bool is_own(const Expr& e, int array) const {
    const Access* a = facts_.access_of(model::strip_casts(e));
    return a != nullptr && a->array == array && is_own(*a);
  }
  [[nodiscard]] bool is_partner(const Expr& e, int array, std::string_view name) const {
    const Expr& x = model::strip_casts(e);
    const Access* a = facts_.access_of(x);
    if (a == nullptr || a->array != array || x.kind != ExprKind::subscript) return false;
    // The distance may stand in the index under any version.
    const Polynomial distance = a->index - Polynomial::name("threadIdx.x");
    const auto text = distance.as_name();
    return text && (*text == name || text->starts_with(std::string(name) + "'"));
  }

  /// Behind the tree only element 0 is read before a thread writes its own again.
  [[nodiscard]] bool first_only(const TreeUpdate& u, const Stmt& tree) const {
    for (const Access* a : facts_.accesses_to(u.array_index)) {
      if (tree.span.contains(a->expr->span) || !a->reads()) continue;
      if (model::enclosing_loop(tree) == nullptr && a->expr->span.begin < tree.span.begin) continue;
      if (!(a->index.is_zero() || other_tree_reads(*a))) return false;
    }
    return true;
  }
  /// A later tree over the same array reads what its threads wrote before it.
  static bool other_tree_reads(const Access& a) {
    return !a.loops.empty() && a.loops.back()->has_barrier;
  }

  const model::KernelFacts& facts_;
  std::optional<std::int64_t> threads_;
};

/// Replaces a tree of barriers over a shared array by shuffles: within warps, then among the warps'
/// values. Sums of floats are taken in another order.
class WarpShuffleReduce final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "warp_shuffle_reduce"; }
  [[nodiscard]] std::vector<std::string> aliases() const override { return {"M3"}; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    std::vector<MoveInstance> out;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return out;
    for (const Tree& tree : TreeFinder(context, *model).all(why)) {
      out.push_back({std::string(name()), loop_site(tree.ordinal), {}});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!wanted.parameters.empty())
      return why = "warp_shuffle_reduce takes no parameters", std::nullopt;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return std::nullopt;
    for (const Tree& tree : TreeFinder(context, *model).all(why)) {
      if (wanted.site == loop_site(tree.ordinal)) return rewritten(context, *model, tree);
    }
    return why = "no tree over a shared array at " +
                 (wanted.site.empty() ? "the kernel" : wanted.site),
           std::nullopt;
  }

 private:
  static Variant rewritten(const MoveContext& context, const KernelModel& model, const Tree& tree) {
    // A block that is a tunable may change later: then its size is asked for.
    const bool fixed = context.variant.launch.block[0].is_constant();
    const std::string warps = fixed ? std::to_string(tree.threads / kWarpLanes) : "blockDim.x / 32",
                      tab = model::indent_unit(model.unit);
    std::set<std::string, std::less<>> taken;
    std::vector<Partial> partials;
    for (const TreeUpdate& u : tree.updates) {
      partials.push_back(
          {model::fresh_name(model.unit, u.array->name + "_lane", &taken), u.array->type, u.op});
      taken.insert(partials.back().variable);
    }
    const auto each = [&](std::string_view indent, const auto& line) {
      std::string out;
      for (std::size_t k = 0; k < partials.size(); ++k)
        out += std::string(indent) + line(partials[k], tree.updates[k].array->name) + "\n";
      return out;
    };
    LaneGroup warp;
    warp.lanes = kWarpLanes;
    warp.step = free_name(model.unit, {"d", "step"}, taken);
    const auto tree_of = [&](const std::string& lanes) {
      warp.lanes_name = lanes;
      return combine_lanes(warp, partials, {}, false, tab);
    };
    std::string text = "// Warps reduce by shuffles, then the first warp what they leave.\n";
    text += each("", [](const Partial& p, const std::string& array) {
      return p.type + " " + p.variable + " = " + array + "[threadIdx.x];";
    });
    text += "__syncthreads();\n" + tree_of("32");
    text += "if (threadIdx.x % 32 == 0) {\n" +
            each(tab,
                 [](const Partial& p, const std::string& array) {
                   return array + "[threadIdx.x / 32] = " + p.variable + ";";
                 }) +
            "}\n";
    text += "__syncthreads();\nif (threadIdx.x < 32) {\n";
    std::string first = each("", [&](const Partial& p, const std::string& array) {
      return p.variable + " = " + array + "[threadIdx.x % (" + warps + ")];";
    });
    first += "__syncwarp();\n";
    if (!fixed || tree.threads > kWarpLanes) first += tree_of(warps);
    first +=
        "if (threadIdx.x == 0) {\n" +
        each(tab, [](const Partial& p,
                     const std::string& array) { return array + "[0] = " + p.variable + ";"; }) +
        "}\n";
    text += model::indented(first, tab) + "}\n__syncthreads();";
    const std::size_t begin =
        tree.loop->pragma != nullptr ? tree.loop->pragma->span.begin : tree.loop->span.begin;
    const std::string indent = model::indentation(model.unit, begin);
    std::string lines = hanging(text, indent);
    if (!tree.loop->parent->is(StmtKind::block))
      lines = "{\n" + indent + lines + "\n" + indent + "}";
    Variant out = context.variant;
    out.source = edited(model.unit.source(), {{begin, tree.loop->span.end, lines}});
    return out;
  }
};

}  // namespace

void register_move_warp_shuffle_reduce(MoveRegistry& registry) {
  registry.add("warp_shuffle_reduce", "shuffles in place of a tree over a shared array",
               [] { return on_known_shape(std::make_unique<WarpShuffleReduce>()); });
}

}  // namespace warpath
