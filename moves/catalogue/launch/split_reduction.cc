#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using model::Access;
using model::Expr;
using model::ExprKind;
using model::KernelModel;
using model::Loop;
using model::Reduction;
using model::Stmt;
using model::StmtKind;

constexpr std::array<std::int64_t, 7> kSplits{2, 4, 8, 16, 32, 64, 128};

/// A loop that sums, and the stores of its sums.
struct Split {
  std::size_t ordinal = 0;
  const Loop* loop = nullptr;
  std::vector<const Stmt*> stores;
  std::set<std::string> outputs;  ///< of the spec: to be zeroed
};

class SplitFinder {
 public:
  SplitFinder(const MoveContext& context, const KernelModel& model)
      : context_(context), model_(model), facts_(model.facts), unit_(model.unit) {}

  std::vector<Split> all(std::string& why) const {
    std::vector<Split> out;
    if (!facts_.veto.empty()) return why = facts_.veto, out;
    if (const std::string call = unknown_call(model_); !call.empty())
      return why = "the kernel calls " + call + ", which may write memory", out;
    if (has_own_plans(context_.spec)) return why = "workloads have launch plans of their own", out;
    const LaunchPlan& plan = context_.variant.launch;
    if (plan.grid[1] != Expression(1) || plan.cluster[0] != Expression(1) || uses_second_axis())
      return why = "the grid's y axis is taken", out;
    why = "no loop whose sums are stored as they are";
    for (std::size_t k = 0; k < facts_.loops.size(); ++k) {
      Split split{k, facts_.loops[k].get(), {}, {}};
      std::string reason;
      if (can_split(split, reason))
        out.push_back(std::move(split));
      else if (out.empty() && !split.loop->reductions.empty())
        why = reason;
    }
    return out;
  }

 private:
  /// blockIdx.y and gridDim.y, or all of blockIdx or gridDim at once.
  [[nodiscard]] bool uses_second_axis() const {
    bool out = false;
    for (const model::Function* f : unit_.functions()) {
      if (f->body == nullptr) continue;
      model::walk_expressions(*f->body, [&](const Expr& e) {
        if (!e.is_name("blockIdx") && !e.is_name("gridDim")) return true;
        out |= e.parent == nullptr || e.parent->kind != ExprKind::member ||
               (e.parent->name != "x" && e.parent->name != "z");
        return true;
      });
    }
    return out;
  }

  bool can_split(Split& split, std::string& why) const {
    const Loop& l = *split.loop;
    if (l.parent != nullptr || l.kind != model::LoopClass::reduction || !l.counted ||
        !l.stmt->is(StmtKind::for_) || l.descending || l.exits_early || l.has_barrier ||
        !l.declared_inside || l.first_expr == nullptr || l.bound_expr == nullptr ||
        l.stmt->step == nullptr) {
      return why = "the loop is no counted sum at the kernel's top level", false;
    }
    const auto step = facts_.resolved(l.step).constant();
    if (!step || *step < 1) return why = "the loop's step is no constant", false;
    for (const Reduction& r : l.reductions) {
      if (r.op != model::ReduceOp::add || r.access >= 0 || r.prefix_used || !is_atomic_type(r.type))
        return why = r.accumulator + " is no sum that atomics can add up", false;
      if (!starts_at_zero(r, l)) return why = r.accumulator + " does not start from zero", false;
    }
    std::set<std::string> changed(l.assigned.begin(), l.assigned.end());
    changed.erase(l.variable);
    for (const Reduction& r : l.reductions) changed.erase(r.accumulator);
    for (const std::string& name : l.private_scalars) changed.erase(name);
    if (!changed.empty())
      return why = *changed.begin() + " is carried from one iteration to the next", false;
    return find_stores(split, why) && only_summed(split, why);
  }

  static bool is_atomic_type(std::string_view type) {
    return type == "float" || type == "double" || type == "int" || type == "unsigned" ||
           type == "unsigned int" || type == "unsigned long long";
  }

  /// Nothing is added in front of the loop either: every part would count it again.
  [[nodiscard]] bool starts_at_zero(const Reduction& r, const Loop& loop) const {
    if (r.declarator == nullptr || r.declarator->value() == nullptr) return false;
    bool added = false;
    model::walk(*facts_.kernel->body, [&](const Stmt& s) {
      if (&s == r.declarator->stmt || s.span.begin >= loop.stmt->span.begin) return false;
      if (s.span.contains(loop.stmt->span)) return true;
      const std::vector<std::string> written = facts_.names_written(s);
      added = added || std::ranges::find(written, r.accumulator) != written.end();
      return false;
    });
    if (added) return false;
    const Expr& v = model::strip_casts(*r.declarator->value());
    return v.kind == ExprKind::number &&
           std::strtod(std::string(unit_.text(v)).c_str(), nullptr) == 0;
  }

  /// Every write to memory is a store of one of the sums, times or by something at most.
  bool find_stores(Split& split, std::string& why) const {
    for (const Access& a : facts_.accesses) {
      const model::Array& array = facts_.arrays[static_cast<std::size_t>(a.array)];
      if (!a.writes() || array.space == model::Space::local ||
          (array.space == model::Space::shared && !split.loop->stmt->span.contains(a.expr->span)))
        continue;
      const Stmt* s = a.stmt;
      const ArgSpec* arg = context_.spec.io.find(array.spec_name);
      const bool plain =
          array.space == model::Space::global && s != nullptr && s->is(StmtKind::expression) &&
          s->expr->kind == ExprKind::assign && &s->expr->arg(0) == a.expr &&
          (s->expr->op == "=" || s->expr->op == "+=") && s->span.begin > split.loop->stmt->span.end;
      if (!plain || !is_linear(s->expr->arg(1), *split.loop))
        return why = "the kernel writes more than its sums", false;
      if (model::enclosing_loop(*s) != nullptr) return why = "a sum is stored inside a loop", false;
      const std::string& type = split.loop->reductions.front().type;
      const bool narrower = array.type == "float" && type == "double";
      if (arg == nullptr || (array.type != type && !narrower))
        return why = array.name + " is no output of the sum's type", false;
      if (facts_.accesses_to(a.array).size() != 1)
        return why = array.name + " is used more than once", false;
      if (!is_stored_once(a))
        return why = "several threads may store the same element of " + array.name, false;
      if (s->expr->op == "=") {
        if (arg->role != ArgRole::output)
          return why = array.name + " may keep elements that the kernel does not write", false;
        split.outputs.insert(arg->name);
      }
      split.stores.push_back(s);
    }
    return split.stores.empty() ? (why = "no sum is stored", false) : true;
  }

  /// No two threads of neighbouring blocks write the same element.
  [[nodiscard]] bool is_stored_once(const Access& a) const {
    Bindings values = facts_.values(*workloads_of(context_).front());
    const LaunchNumbers launch =
        evaluate(context_.variant.launch,
                 context_.spec.bindings(*workloads_of(context_).front(), context_.variant.tunables),
                 "launch plan");
    std::set<std::int64_t> seen;
    for (std::int64_t block = 0; block < std::min<std::int64_t>(launch.grid[0], 2) *
                                             std::min<std::int64_t>(launch.grid[2], 2);
         ++block) {
      values["blockIdx.x"] = launch.grid[0] > 1 ? block % 2 : 0,
      values["blockIdx.z"] = launch.grid[0] > 1 ? block / 2 : block;
      for (std::int64_t thread = 0; thread < launch.block[0] * launch.block[1] * launch.block[2];
           ++thread) {
        values["threadIdx.x"] = thread % launch.block[0];
        values["threadIdx.y"] = thread / launch.block[0] % launch.block[1];
        values["threadIdx.z"] = thread / launch.block[0] / launch.block[1];
        const bool idle = std::any_of(a.guards.begin(), a.guards.end(), [&](const model::Guard* g) {
          return std::any_of(
              g->nonnegative.begin(), g->nonnegative.end(),
              [&](const model::Polynomial& p) { return p.evaluate(values).value_or(0) < 0; });
        });
        if (idle) continue;
        const auto index = a.index.evaluate(values);
        if (!index || !seen.insert(*index).second) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_sum(const Expr& e, const Loop& loop) const {
    const Expr& x = model::strip_casts(e);
    return std::any_of(loop.reductions.begin(), loop.reductions.end(), [&](const Reduction& r) {
      return x.is_name(r.accumulator) && r.type == loop.reductions.front().type;
    });
  }
  [[nodiscard]] bool is_free(const Expr& e, const Loop& loop) const {
    return std::none_of(loop.reductions.begin(), loop.reductions.end(),
                        [&](const Reduction& r) { return model::mentions(e, r.accumulator); });
  }
  [[nodiscard]] bool is_linear(const Expr& e, const Loop& loop) const {
    if (is_sum(e, loop)) return true;
    if (e.kind != ExprKind::binary || !loop.reductions.front().is_float) return false;
    if (e.op == "*")
      return (is_linear(e.arg(0), loop) && is_free(e.arg(1), loop)) ||
             (is_free(e.arg(0), loop) && is_linear(e.arg(1), loop));
    return e.op == "/" && is_linear(e.arg(0), loop) && is_free(e.arg(1), loop);
  }

  /// Behind the loop the sums are stored or combined over lanes, nothing else.
  bool only_summed(const Split& split, std::string& why) const {
    bool ok = true;
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      const bool sum = std::any_of(split.loop->reductions.begin(), split.loop->reductions.end(),
                                   [&](const Reduction& r) { return e.is_name(r.accumulator); });
      if (!sum || e.span.begin < split.loop->stmt->span.end || e.stmt == nullptr) return true;
      if (std::find(split.stores.begin(), split.stores.end(), e.stmt) != split.stores.end())
        return true;
      bool combines = false;
      model::walk_expressions(*e.stmt, [&](const Expr& x) {
        return combines = combines || model::callee(x).starts_with("__shfl"), true;
      });
      for (const Access* a : facts_.accesses_in(*e.stmt))
        combines |= facts_.arrays[static_cast<std::size_t>(a->array)].space == model::Space::shared;
      if (!combines && ok)
        why = std::string(e.name) + " is used for more than its store", ok = false;
      return true;
    });
    return ok;
  }

  const MoveContext& context_;
  const KernelModel& model_;
  const model::KernelFacts& facts_;
  const model::Unit& unit_;
};

/// Gives each block of the grid's y axis a part of a summing loop; the parts are added to the
/// output by atomics, which is zeroed before the launch. Sums of floats are taken in an order that
/// may change from launch to launch.
class SplitReduction final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "split_reduction"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    std::vector<MoveInstance> out;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return out;
    for (const Split& split : SplitFinder(context, *model).all(why)) {
      for (const std::int64_t parts : {8, 32, 4, 16, 2, 64})
        out.push_back({std::string(name()), site_of(split), {{"splits", parts}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    return {Tunable{"splits", {kSplits.begin(), kSplits.end()}, 8, "blocks that share one sum"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return std::nullopt;
    for (const Split& split : SplitFinder(context, *model).all(why)) {
      if (site_of(split) == wanted.site)
        return rewritten(context, *model, split, wanted.parameters.at("splits"));
    }
    if (why.empty()) why = "no sum to split at " + wanted.site;
    return std::nullopt;
  }

 private:
  static std::string site_of(const Split& split) { return loop_site(split.ordinal); }

  static Variant rewritten(const MoveContext& context,
                           const KernelModel& model,
                           const Split& split,
                           std::int64_t splits) {
    const model::Unit& unit = model.unit;
    const Loop& l = *split.loop;
    std::set<std::string, std::less<>> taken;
    const auto fresh = [&](std::string_view wish) {
      return *taken.insert(model::fresh_name(unit, wish, &taken)).first;
    };
    const std::string parts = fresh("SPLITS"), share = fresh("share"), first = fresh("first"),
                      end = fresh("part_end");
    const std::int64_t step = *model.facts.resolved(l.step).constant();
    const std::string type = l.declarator == nullptr ? "int"
                                                     : std::string(unit.text(l.declarator->type)),
                      s = std::to_string(step);
    const std::string bound =
        std::string(unit.text(l.bound_expr->outer)) + (l.inclusive ? " + 1" : "");
    std::string head = "constexpr int " + parts + " = " + std::to_string(splits) +
                       ";  // blocks that share the sum\n";
    head += "const " + type + " " + first + " = " + std::string(unit.text(l.first_expr->outer)) +
            ", " + end + " = " + bound + ";\n";
    const std::string whole = "(" + end + " - " + first + " + " + parts +
                              (step > 1 ? " * " + s : "") + " - 1) / " +
                              (step > 1 ? "(" + parts + " * " + s + ") * " + s : parts);
    head += "const " + type + " " + share + " = " + end + " > " + first + " ? " + whole + " : 0;\n";
    const std::size_t begin =
        l.stmt->pragma != nullptr ? l.stmt->pragma->span.begin : l.stmt->span.begin;
    const std::string indent = model::indentation(unit, begin), j = l.variable;
    const bool wrap = !l.stmt->parent->is(StmtKind::block);
    std::vector<Edit> edits{{begin, begin, (wrap ? "{ " : "") + hanging(head, indent) + indent}};
    const std::string from = first + " + blockIdx.y * " + share;
    edits.push_back({l.stmt->header.begin, l.stmt->header.end,
                     "for (" + type + " " + j + " = " + from + "; " + j + " < min(" + end + ", (" +
                         type + ")(" + from + " + " + share + ")); " +
                         (step == 1 ? "++" + j : j + " += " + s) + ")"});
    if (wrap) edits.push_back({l.stmt->span.end, l.stmt->span.end, " }"});
    for (const Stmt* store : split.stores) {
      const Expr &target = store->expr->arg(0), &value = store->expr->arg(1);
      const std::string stored = model::type_of(model.facts, target),
                        sum = std::string(unit.text(value));
      edits.push_back(
          {store->span.begin, store->span.end,
           "atomicAdd(&" + std::string(unit.text(target)) + ", " +
               (stored == l.reductions.front().type ? sum : "(" + stored + ")(" + sum + ")") +
               ");"});
    }
    Variant out = context.variant;
    out.source = edited(unit.source(), std::move(edits));
    out.launch.grid[1] = Expression(splits);
    if (!split.outputs.empty()) {
      LaunchStep zero;
      zero.arguments.assign(split.outputs.begin(), split.outputs.end());
      out.before.push_back(std::move(zero));
    }
    return out;
  }
};

}  // namespace

void register_move_split_reduction(MoveRegistry& registry) {
  registry.add("split_reduction", "several blocks share a sum and add their parts by atomics",
               [] { return on_known_shape(std::make_unique<SplitReduction>()); });
}

}  // namespace warpath
