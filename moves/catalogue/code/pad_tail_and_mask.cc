#include <algorithm>
#include <set>

#include "moves/edit/edge_free_loop.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kGuardSite = "guard";

/// Values of `form`.
constexpr std::int64_t kEnclose = 0, kDrop = 1, kClamp = 2, kGuard = 3;

/// The first `if (c) return;` in the kernel's body.
const Stmt* early_return(const Function& kernel) {
  for (const Stmt* s : kernel.body->children) {
    if (!s->is(StmtKind::if_) || s->otherwise != nullptr || s->body == nullptr ||
        s->init != nullptr)
      continue;
    const std::vector<const Stmt*> inside = statements(*s->body);
    if (inside.size() == 1 && inside[0]->is(StmtKind::return_) && inside[0]->expr == nullptr)
      return s;
  }
  return nullptr;
}

/// What happens to threads past the end. form = 0: an early return becomes an if around the rest,
/// so that all threads reach what follows it; 1: a guard that every thread passes is dropped; 2:
/// threads past the end redo the last item without storing, so that loads, barriers and shuffles in
/// between are reached by all; 3: a guard that every thread passes says how many items there are,
/// to other moves. Site "loop:K": tests in the loop that a thread passes in every iteration are
/// made once before it.
class PadTailAndMask final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "pad_tail_and_mask"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return out;
    for (const std::int64_t form : {kDrop, kEnclose, kClamp, kGuard}) {
      MoveInstance instance{std::string(name()), std::string(kGuardSite), {{"form", form}}};
      if (rewritten(context, *model, instance, why)) out.push_back(std::move(instance));
    }
    for (std::size_t i = 0; i < model->facts.loops.size(); ++i) {
      const Loop& loop = *model->facts.loops[i];
      if (loop.parent == nullptr && tested_before_loop(context, *model, loop, why))
        out.push_back({std::string(name()), loop_site(i), {}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kGuardSite) return {};
    return {Tunable{"form",
                    {kEnclose, kDrop, kClamp, kGuard},
                    kEnclose,
                    "0: if around the rest; 1: no guard; 2: the last item again, not stored; 3: a "
                    "guard that all pass"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto model = model_kernel(context.spec, context.variant, why);
    if (wanted.site != kGuardSite) {
      if (model == nullptr || !takes(wanted, {}, why)) return std::nullopt;
      const auto& loops = model->facts.loops;
      for (std::size_t i = 0; i < loops.size(); ++i) {
        if (loop_site(i) == wanted.site) return tested_before_loop(context, *model, *loops[i], why);
      }
      return why = "pad_tail_and_mask applies to guard and loop:K", std::nullopt;
    }
    if (!takes(wanted, {"form"}, why)) return std::nullopt;
    return model == nullptr ? std::nullopt : rewritten(context, *model, wanted, why);
  }

 private:
  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          const MoveInstance& wanted,
                                          std::string& why) {
    switch (wanted.parameters.at("form")) {
      case kEnclose:
        return enclose(context, model, why);
      case kDrop:
        return drop(context, model, why);
      case kClamp:
        return clamp(context, model, why);
      case kGuard:
        return guard(context, model, why);
      default:
        return why = "form is 0, 1, 2 or 3", std::nullopt;
    }
  }

  static std::optional<Variant> enclose(const MoveContext& context,
                                        const KernelModel& model,
                                        std::string& why) {
    const Unit& unit = model.unit;
    const Stmt* const guard = early_return(*model.kernel);
    if (guard == nullptr) return why = "no early return in the kernel's body", std::nullopt;
    const Span rest{guard->span.end, model.kernel->body->span.end - 1};
    std::string inner(unit.text(rest));
    while (!inner.empty() && (inner.back() == ' ' || inner.back() == '\n' || inner.back() == '\r' ||
                              inner.back() == '\t'))
      inner.pop_back();
    if (inner.find_first_not_of(" \t\r\n") == std::string::npos)
      return why = "nothing follows the early return", std::nullopt;
    while (inner.starts_with('\n') || inner.starts_with('\r')) inner.erase(0, 1);
    const std::string indent = indentation(unit, guard->span.begin);
    Rewrite rewrite(model);
    rewrite.replace({guard->span.begin, rest.end},
                    "if (" + negated(model.facts, *guard->expr) + ") {\n" +
                        indented(unindented(inner), indent + indent_unit(unit)) + indent + "}\n" +
                        indentation(unit, model.kernel->span.begin));
    return rewrite.finish(context.variant);
  }

  /// Threads of the launch cover the items exactly, by numbers that the source itself fixes.
  static std::optional<Variant> drop(const MoveContext& context,
                                     const KernelModel& model,
                                     std::string& why) {
    const Unit& unit = model.unit;
    const KernelFacts& facts = model.facts;
    const auto body = guarded_body(facts, 0, why);
    if (!body) return std::nullopt;
    if (!body->only_bound)
      return why = "the guard is more than a bound of the thread's index", std::nullopt;
    const auto bound = fixed(facts, *body->index->bound);
    if (!bound) return why = "the bound is not fixed in the source", std::nullopt;
    for (const Workload* w : workloads_of(context)) {
      const auto value =
          facts.resolved(body->index->value).evaluate(last_thread(context, facts, *w));
      if (!value || *value >= *bound) return why = "some threads stand past the end", std::nullopt;
    }
    Rewrite rewrite(model);
    if (body->early_exit) {
      rewrite.replace(whole_lines(unit, body->guard->span), "");
    } else if (body->guard->body->is(StmtKind::block)) {
      const std::string indent = indentation(unit, body->guard->span.begin);
      std::string text = indented(body_text(unit, *body->guard->body), indent);
      if (text.ends_with('\n')) text.pop_back();
      rewrite.replace(body->guard->span, text.substr(std::min(indent.size(), text.size())));
    } else {
      rewrite.replace(body->guard->header, "");
    }
    return rewrite.finish(context.variant);
  }

  static std::optional<Variant> clamp(const MoveContext& context,
                                      const KernelModel& model,
                                      std::string& why) {
    const Unit& unit = model.unit;
    const KernelFacts& facts = model.facts;
    const auto body = guarded_body(facts, 0, why);
    if (!body) return std::nullopt;
    if (!body->only_bound || !body->early_exit)
      return why = "no early return that is only a bound of the thread's index", std::nullopt;
    const Declarator& index = *body->index->declarator;
    std::vector<Edit> edits;
    if (!make_changeable(unit, index, edits) || index.value() == nullptr ||
        index.stmt->parent != facts.kernel->body)
      return why = "the thread's index cannot change", std::nullopt;
    for (const Stmt* s : facts.kernel->body->children) {
      if (s == body->guard) break;
      if (s != index.stmt && mentions(*s, body->index->name))
        return why = "a declaration before the guard depends on the index", std::nullopt;
    }
    Rewrite rewrite(model);
    rewrite.add(std::move(edits));
    const std::string inside = rewrite.fresh("inside");
    for (const Access& access : facts.accesses) {
      if (!access.writes() ||
          facts.arrays[static_cast<std::size_t>(access.array)].space != Space::global)
        continue;
      const Stmt& stmt = *access.stmt;
      if (access.kind == AccessKind::read_write || access.reads() ||
          !stmt.is(StmtKind::expression) || access.in_helper) {
        return why = "an update of memory would be done twice", std::nullopt;
      }
      for (const Access& read : facts.accesses) {
        if (read.reads() && facts.may_alias(read.array, access.array))
          return why = "the kernel reads what it writes", std::nullopt;
      }
      rewrite.insert(stmt.span.begin, "if (" + inside + ") ");
    }
    const std::string bound = as_factor(bound_text(unit, *body));
    const std::string name = body->index->name, indent = indentation(unit, body->guard->span.begin);
    rewrite.replace(body->guard->span, "const bool " + inside + " = " + name + " < " + bound +
                                           ";\n" + indent + "if (!" + inside + ") " + name + " = " +
                                           bound + " - 1;  // the last item again, not stored");
    return rewrite.finish(context.variant);
  }

  static std::optional<Variant> guard(const MoveContext& context,
                                      const KernelModel& model,
                                      std::string& why) {
    const Unit& unit = model.unit;
    const KernelFacts& facts = model.facts;
    const Stmt& body = *model.kernel->body;
    if (!facts.veto.empty()) return why = facts.veto, std::nullopt;
    if (facts.has_barrier || facts.has_warp_ops)
      return why = "threads of the kernel work together", std::nullopt;
    const ThreadIndex* index = nullptr;
    for (const ThreadIndex& one : facts.thread_indices) {
      if (one.bound) return why = "a guard bounds " + one.name, std::nullopt;
      const bool own = one.form == ThreadIndex::Form::global && one.axis == 0 &&
                       one.declarator != nullptr && one.declarator->stmt->parent == &body;
      if (own && index == nullptr) index = &one;
    }
    if (index == nullptr || index->declarator->stmt == body.children.back())
      return why = "no index of all threads at the head of the kernel", std::nullopt;
    const auto items = number_of_threads(context, model);
    if (!items) return why = "no argument is the number of threads", std::nullopt;
    const Stmt& first =
        **std::next(std::find(body.children.begin(), body.children.end(), index->declarator->stmt));
    const Span rest{whole_lines(unit, first.span, true).begin, body.children.back()->span.end};
    const std::string indent = indentation(unit, first.span.begin);
    Rewrite rewrite(model);
    rewrite.replace(rest, indent + "if (" + index->name + " < " + *items + ") {\n" +
                              indented(unindented(std::string(unit.text(rest)) + "\n"),
                                       indent + indent_unit(unit)) +
                              indent + "}");
    return rewrite.finish(context.variant);
  }

  /// That of the launch along the first axis: an argument that has this value in every workload, or
  /// the one number that it is in all of them.
  static std::optional<std::string> number_of_threads(const MoveContext& context,
                                                      const KernelModel& model) {
    std::vector<std::string> names;
    for (const Declarator* const parameter : model.kernel->parameters) {
      const ArgSpec* const arg = argument_of(context.spec, *model.kernel, *parameter);
      if (arg != nullptr && arg->type == ArgType::integer && !parameter->name.empty())
        names.emplace_back(parameter->name);
    }
    std::set<std::int64_t> counts;
    for (const Workload* w : workloads_of(context)) {
      const LaunchNumbers n =
          evaluate(launch_for(context.spec, context.variant, *w),
                   context.spec.bindings(*w, context.variant.tunables), "launch plan");
      const std::int64_t threads =
          static_cast<std::int64_t>(n.grid[0]) * static_cast<std::int64_t>(n.block[0]);
      counts.insert(threads);
      const Bindings values = model.facts.values(*w);
      std::erase_if(names, [&](const std::string& name) {
        const auto value = model.facts.resolved(Polynomial::name(name)).evaluate(values);
        return value != threads;
      });
    }
    if (!names.empty()) return names.front();
    return counts.size() == 1 ? std::optional(std::to_string(*counts.begin())) : std::nullopt;
  }
};

}  // namespace

std::optional<Variant> with_guard(const MoveContext& context) {
  return model::remembered(context, "pad_tail_and_mask", [&] {
    std::string why;
    return PadTailAndMask().apply(
        context, {"pad_tail_and_mask", std::string(kGuardSite), {{"form", kGuard}}}, why);
  });
}

void register_move_pad_tail_and_mask(MoveRegistry& registry) {
  registry.add("pad_tail_and_mask",
               "what threads past the end do: nothing, the last item again, or there are none",
               [] { return std::make_unique<PadTailAndMask>(); });
}

}  // namespace warpath
