#include <algorithm>
#include <array>

#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/pack_accesses.h"
#include "moves/edit/pack_text.h"
#include "moves/edit/repeated_body.h"
#include "moves/edit/sites.h"
#include "moves/launch/lane_loops.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// A number of elements a thread takes at once.
constexpr std::int64_t kWidths[] = {2, 4, 8, 16};

std::string site_of(const KernelFacts& facts, const Loop& loop) {
  std::size_t ordinal = 0;
  for (const auto& other : facts.loops)
    ordinal += other->stmt->span.begin < loop.stmt->span.begin ? 1U : 0U;
  return loop_site(ordinal);
}

/// Bytes of the widest pack, for the order of the widths: 16 is best.
std::int64_t bytes_of(const PackPlan& plan) {
  std::int64_t widest = 0;
  for (const Pack& p : plan.packs)
    widest = std::max(widest, static_cast<std::int64_t>(p.element_bytes) * p.stride);
  return widest * plan.width;
}

/// One element a thread becomes `width` consecutive ones, loaded and stored at once; likewise the
/// iterations of a loop that runs over consecutive elements, by one thread or dealt to lanes. Site
/// "thread" or "loop:K".
class VectorizeGlobalLoads final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "vectorize_global_loads"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    std::vector<MoveInstance> out;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return out;
    std::vector<std::string> sites{std::string(kThreadSite)};
    for (const auto& loop : model->facts.loops) sites.push_back(site_of(model->facts, *loop));
    for (const std::string& site : sites) {
      std::vector<std::pair<std::int64_t, MoveInstance>> found;
      for (const std::int64_t width : kWidths) {
        std::int64_t bytes = 0;
        MoveInstance instance{std::string(name()), site, {{"width", width}}};
        if (rewritten(context, *model, instance, bytes, why))
          found.emplace_back(bytes > 16 ? bytes + 16 : 32 - bytes, std::move(instance));
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto& [rank, instance] : found) out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kThreadSite && !is_loop_site(site)) return {};
    return {Tunable{"width",
                    {std::begin(kWidths), std::end(kWidths)},
                    4,
                    "consecutive elements that a thread takes at once"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {"width"}, why)) return std::nullopt;
    if (std::find(std::begin(kWidths), std::end(kWidths), wanted.parameters.at("width")) ==
        std::end(kWidths)) {
      return why = "width is 2, 4, 8 or 16", std::nullopt;
    }
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    std::int64_t bytes = 0;
    return rewritten(context, *model, wanted, bytes, why);
  }

 private:
  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          const MoveInstance& wanted,
                                          std::int64_t& bytes,
                                          std::string& why) {
    const std::int64_t width = wanted.parameters.at("width");
    if (wanted.site == kThreadSite) return for_thread(context, model, width, bytes, why);
    for (const auto& loop : model.facts.loops) {
      if (site_of(model.facts, *loop) == wanted.site)
        return for_loop(context, model, *loop, width, bytes, why);
    }
    return why = "no loop at " + wanted.site, std::nullopt;
  }

  /// Declarations before the guard that depend on the index: each element needs its own.
  static std::optional<std::vector<const Stmt*>> moved_declarations(const KernelFacts& facts,
                                                                    const GuardedBody& body,
                                                                    std::string& why) {
    std::vector<const Stmt*> out;
    std::vector<std::string> names{body.index->name};
    for (const Stmt* s : facts.kernel->body->children) {
      if (s == body.guard) break;
      if (!s->is(StmtKind::declaration) || s == body.index->declarator->stmt) continue;
      const bool depends = std::any_of(names.begin(), names.end(),
                                       [&](const std::string& n) { return mentions(*s, n); });
      if (!depends) continue;
      for (const Declarator* d : s->declarators) {
        if (d->is_pointer() || d->reference || d->is_array())
          return why = std::string(d->name) + " points to the thread's element", std::nullopt;
        names.emplace_back(d->name);
      }
      if (mentions(*body.guard->expr, s->declarators.front()->name))
        return why = "the guard needs more than the thread's index", std::nullopt;
      out.push_back(s);
    }
    return out;
  }

  static std::optional<Variant> for_thread(const MoveContext& context,
                                           const KernelModel& model,
                                           std::int64_t width,
                                           std::int64_t& bytes,
                                           std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    if (!facts.veto.empty()) return why = facts.veto, std::nullopt;
    const auto body = guarded_body(facts, 0, why);
    if (!body) return std::nullopt;
    if (has_own_plans(context.spec))
      return why = "workloads have launch plans of their own", std::nullopt;
    const Declarator& index = *body->index->declarator;
    if (index.value() == nullptr || index.reference)
      return why = "the thread's index is not set where it is declared", std::nullopt;
    for (const Stmt* s : body->statements) {
      if (jumps_out(*s) || joins_threads(*s))
        return why = "the body leaves early or joins threads", std::nullopt;
    }
    if (mentions(*facts.kernel->body, "gridDim"))
      return why = "the kernel asks for its grid", std::nullopt;
    const auto moved = moved_declarations(facts, *body, why);
    if (!moved) return std::nullopt;
    std::vector<const Stmt*> all = *moved;
    all.insert(all.end(), body->statements.begin(), body->statements.end());
    std::vector<std::string> own{body->index->name};
    for (const Stmt* s : all) {
      for (const Declarator* d : s->declarators) own.emplace_back(d->name);
    }
    for (const Stmt* s : all) {
      if (asks_for_thread(facts, *s, own))
        return why = "the body asks for its thread", std::nullopt;
    }
    if (const std::string name = carried_variable(model, all); !name.empty())
      return why = name + " would go from one element to the next", std::nullopt;
    const auto plan = plan_packs(facts, all, body->index->name, width, why);
    if (!plan) return std::nullopt;
    bytes = bytes_of(*plan);

    if (size_of_type(unit.plain_text(index.type)) < 8 &&
        !stays_small(context, facts,
                     *body->index->bound +
                         facts.resolved(Polynomial::name("blockDim.x")) * Polynomial(width))) {
      return why = "a 32-bit index could overflow", std::nullopt;
    }
    const bool whole = is_multiple(facts, *body->index->bound, width);
    if (!whole && !body->only_bound)
      return why = "the guard's bound is no multiple of " + std::to_string(width), std::nullopt;
    Rewrite rewrite(model);
    const std::string size = rewrite.fresh("PACK"), step = indent_unit(unit);
    rewrite.before(*index.stmt, "constexpr int " + size + " = " + std::to_string(width) +
                                    ";  // consecutive elements a thread\n");
    rewrite.replace(index.value()->outer, factor_of(unit, *index.value()) + " * " + size);
    std::string text = packed_body(facts, *plan, body->statements, *moved, size, rewrite);
    if (!whole) {
      const std::string i = rewrite.fresh("i"), bound = bound_text(unit, *body);
      std::vector<Edit> edits;
      for (const Stmt* s : all) rename_variable(*s, plan->variable, i, edits);
      std::string tail = "for (" + std::string(unit.plain_text(index.type)) + " " + i + " = " +
                         plan->variable + "; " + i + " < " + bound + "; ++" + i + ") {\n";
      for (const Stmt* s : *moved) tail += indented(statements_text(unit, {s}, edits), step);
      tail += indented(statements_text(unit, body->statements, edits), step) + "}\n";
      text = "if (" + plan->variable + " + " + size + " <= " + bound + ") {\n" +
             indented(text, step) + "} else {\n" + indented(tail, step) + "}\n";
    }
    for (const Stmt* s : *moved) rewrite.replace(whole_lines(unit, s->span), "");
    replace_statements(rewrite, unit, body->statements, text);
    Variant out = rewrite.finish(context.variant);
    out.launch.grid[0] = divided(out.launch.grid[0], width);
    return out;
  }

  /// Statements of one block become `text`, indented like the first of them; a lone statement
  /// without braces gets some.
  static void replace_statements(Rewrite& rewrite,
                                 const Unit& unit,
                                 const std::vector<const Stmt*>& body,
                                 const std::string& text) {
    const Stmt& first = *body.front();
    const Stmt* const parent = first.parent;
    const bool braces = parent != nullptr && parent->is(StmtKind::block);
    Span span{(first.pragma != nullptr ? first.pragma : &first)->span.begin, body.back()->span.end};
    if (!braces) {
      const std::string outer = parent == nullptr ? "" : indentation(unit, parent->span.begin);
      rewrite.replace(span, "{\n" + indented(text, outer + indent_unit(unit)) + outer + "}");
      return;
    }
    const Span lines = whole_lines(unit, span, true);
    const std::string_view source = unit.source();
    const bool own_lines = lines.begin == line_begin(source, lines.begin) && lines.begin > 0 &&
                           source[lines.begin - 1] == '\n' && lines.end >= span.end;
    const std::string indent = indentation(unit, span.begin);
    if (own_lines && lines.end > span.end) {
      rewrite.replace(lines, indented(text, indent));
    } else {  // shares its line with a brace
      const std::string inner = indent + indent_unit(unit);
      rewrite.replace(span, "\n" + indented(text, inner) + indent);
    }
  }

  /// Declares `head`: the first index from `from` on, not past `end`, at which the elements of the
  /// plan's first pack are aligned.
  static std::string head_text(const KernelFacts& facts,
                               const PackPlan& plan,
                               const std::string& type,
                               const std::string& head,
                               const std::string& skipped,
                               const std::string& from,
                               const std::string& end) {
    const Pack& pack = plan.packs.front();
    const std::string aligned = std::to_string(chunk_bytes(pack, plan.width) / pack.element_bytes),
                      begin = from == "0" ? skipped : from + " + " + skipped;
    const std::string element = address_at(facts, plan, pack, from);
    return "const int " + skipped + " = (" + aligned + " - reinterpret_cast<unsigned long long>(" +
           element + ") / sizeof(" + pack.type + ") % " + aligned + ") % " + aligned +
           ";  // elements before an aligned one\nconst " + type + " " + head + " = " + begin +
           " < " + end + " ? " + begin + " : " + end + ";\n";
  }

  static std::optional<Variant> for_loop(const MoveContext& context,
                                         const KernelModel& model,
                                         const Loop& loop,
                                         std::int64_t width,
                                         std::int64_t& bytes,
                                         std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    why = facts.veto_at(*loop.stmt);
    if (!why.empty()) return std::nullopt;
    const auto dealing = loop_dealing(facts, loop, why);
    if (!dealing) return std::nullopt;
    const Stmt& stmt = *loop.stmt;
    const std::vector<const Stmt*> body = statements(*stmt.body);
    if (body.empty()) return why = "the loop is empty", std::nullopt;
    for (const Stmt* s : body) {
      if (jumps_out(*s)) return why = "the body leaves early", std::nullopt;
    }
    if (joins_threads(stmt)) return why = "the body joins threads", std::nullopt;
    if (dealing->strided && !dealing->from_lane)
      return why = "the lanes' first indices have an offset", std::nullopt;
    if (dealing->strided && !lanes_may_swap(facts, loop, why)) return std::nullopt;
    std::vector<std::string> shared{loop.variable};
    for (const ThreadIndex& index : facts.thread_indices) {
      if (is_shared_by_lanes(facts, loop, index.value)) shared.push_back(index.name);
    }
    const bool of_block = std::ranges::all_of(
        std::to_array({"blockIdx.x", "blockIdx.y", "blockIdx.z"}),
        [&](const char* name) { return is_shared_by_lanes(facts, loop, Polynomial::name(name)); });
    if (of_block) shared.emplace_back("blockIdx");
    if (dealing->strided && asks_for_thread(facts, *stmt.body, shared))
      return why = "the body asks for its thread", std::nullopt;
    const auto first = fixed(facts, loop.first);
    const Access* start = nullptr;
    auto plan = !dealing->strided && *first % width != 0
                    ? std::nullopt
                    : plan_packs(facts, body, loop.variable, width, why);
    const bool anywhere = !plan;
    // the one with which most can be packed
    for (const Access* access : facts.accesses_in(*stmt.body)) {
      if (!anywhere || (dealing->strided &&
                        !is_shared_by_lanes(facts, loop, access->index.without(loop.variable))))
        continue;
      std::string refused;
      auto from = plan_packs(facts, body, loop.variable, width, refused, access);
      if (!from || (plan && from->packs.size() <= plan->packs.size())) continue;
      plan = std::move(from), start = access;
    }
    if (!plan)
      return why = why.empty() ? "the loop does not start at a whole pack" : why, std::nullopt;
    bytes = bytes_of(*plan);

    if (size_of_type(unit.plain_text(loop.declarator->type)) < 8 &&
        !stays_small(context, facts, loop.end + loop.step * Polynomial(2 * width))) {
      return why = "a 32-bit index could overflow", std::nullopt;
    }
    const bool whole = start == nullptr && (is_multiple(facts, dealing->bound, width) ||
                                            is_multiple(facts, loop.end, width));
    if (start == nullptr && !whole && !dealing->strided && *first != 0)
      return why = "the loop's bound is no multiple of " + std::to_string(width), std::nullopt;
    Rewrite rewrite(model);
    const std::string size = rewrite.fresh("PACK"), step = indent_unit(unit), j = loop.variable;
    const std::string type = unit.plain_text(loop.declarator->type);
    const std::string stride = dealing->strided ? as_factor(dealing->stride) + " * " + size : size;
    std::string begin =
        dealing->strided ? as_factor(dealing->first) + " * " + size : dealing->first;
    const std::string end = dealing->end;
    const std::string limit = whole ? end : rewrite.fresh("whole");
    const auto singly = [&](const std::string& from, const std::string& to) {
      return "for (" + type + " " + j + " = " + from + "; " + j + " < " + to + "; " +
             (dealing->stride == "1" ? "++" + j : j + " += " + dealing->stride) + ") {\n" +
             indented(statements_text(unit, body), step) + "}\n";
    };
    std::string text = "constexpr int " + size + " = " + std::to_string(width) +
                       ";  // consecutive elements at once\n";
    if (start != nullptr) {
      const std::string head = rewrite.fresh("head"), skipped = rewrite.fresh("skipped");
      text += head_text(facts, *plan, type, head, skipped, dealing->strided ? "0" : dealing->first,
                        end);
      text += "const " + type + " " + limit + " = " + head + " + (" + as_factor(end) + " - " +
              head + ") / " + size + " * " + size + ";\n";
      // At most one element less than a load holds: not a loop, which other moves would take for
      // one of many iterations.
      const auto lanes =
          dealing->strided ? fixed(facts, loop.step) : std::optional<std::int64_t>(1);
      const auto most = static_cast<std::int64_t>(chunk_bytes(plan->packs.front(), width) /
                                                  plan->packs.front().element_bytes) -
                        1;
      const std::int64_t rounds = lanes && *lanes > 0 ? (most + *lanes - 1) / *lanes : most;
      const std::string round = rounds == 1 ? "" : rewrite.fresh("e");
      const std::string further = round.empty() || dealing->stride == "1"
                                      ? round
                                      : round + " * " + as_factor(dealing->stride);
      const std::string at = further.empty()         ? dealing->first
                             : dealing->first == "0" ? further
                                                     : dealing->first + " + " + further;
      const std::string once =
          "if (" + j + " < " + head + ") {\n" + indented(statements_text(unit, body), step) + "}\n";
      const std::string each = "const " + type + " " + j + " = " + at + ";\n" + once;
      text += (round.empty() ? "{\n"
                             : "#pragma unroll\nfor (int " + round + " = 0; " + round + " < " +
                                   std::to_string(rounds) + "; ++" + round + ") {\n") +
              indented(each, step) + "}\n";
      begin = head + (dealing->strided ? " + " + begin : "");
    } else if (!whole) {
      text += "const " + type + " " + limit + " = " + as_factor(end) + " / " + size + " * " + size +
              ";\n";
    }
    text += "for (" + type + " " + j + " = " + begin + "; " + j + " < " + limit + "; " + j +
            " += " + stride + ") {\n";
    text += indented(packed_body(facts, *plan, body, {}, size, rewrite), step) + "}\n";
    if (!whole) text += singly(limit + (dealing->strided ? " + " + dealing->first : ""), end);
    if (stmt.parent != nullptr && !stmt.parent->is(StmtKind::block))
      return why = "the loop is the body of another statement without braces", std::nullopt;
    replace_statements(rewrite, unit, {&stmt}, text);
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_vectorize_global_loads(MoveRegistry& registry) {
  registry.add("vectorize_global_loads",
               "several consecutive elements in one load or store of up to 16 bytes",
               [] { return on_known_shape(std::make_unique<VectorizeGlobalLoads>()); });
}

}  // namespace warpath
