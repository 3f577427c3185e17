#include <algorithm>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/pack_accesses.h"
#include "moves/edit/pack_text.h"
#include "moves/launch/lane_loops.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::int64_t kIlpFactors[] = {2, 3, 4, 6, 8, 16};
/// Values of `tail`: iterations that fill no round go to a loop behind, or each load and use is
/// tested.
constexpr std::int64_t kPeeled = 0, kTested = 1;

/// The body, split into the part that can run for several iterations ahead and the rest.
struct Stages {
  std::vector<const Stmt*> loads;  ///< leading declarations and the loads into them
  std::vector<const Stmt*> uses;
  std::vector<const Access*> inlined;  ///< loads that stand in `uses`
};

bool is_pure_load(const KernelFacts& facts,
                  const Stmt& stmt,
                  const std::vector<const Declarator*>& locals) {
  if (stmt.is(StmtKind::declaration)) {
    for (const Declarator* d : stmt.declarators) {
      if (d->is_pointer() || d->reference || d->has(kShared) || d->has(kStatic) ||
          d->has(kConstexpr) || d->has(kAuto))
        return false;
      if (d->is_array() ? d->init_form != InitForm::none
                        : d->value() == nullptr || !is_pure(*facts.unit, *d->value()))
        return false;
    }
    return !stmt.text_only && stmt.declarators.size() == 1;
  }
  if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr ||
      !stmt.expr->is_op(ExprKind::assign, "="))
    return false;
  const bool into_local = std::any_of(locals.begin(), locals.end(), [&](const Declarator* d) {
    return d->is_array() && mentions(stmt.expr->arg(0), d->name);
  });
  return into_local && is_pure(*facts.unit, stmt.expr->arg(1));
}

/// The iteration's own earlier statements may change what `load` reads: `y[j] = x[j]; z[j] =
/// y[j];`.
bool follows_own_store(const KernelFacts& facts,
                       const std::vector<const Access*>& all,
                       const Access& load) {
  return std::any_of(all.begin(), all.end(), [&](const Access* w) {
    if (!w->writes() || (w->array != load.array && !facts.may_alias(w->array, load.array)))
      return false;
    const Expr* const assign = w->expr->parent;  // y[j] = y[j] + 1 reads first
    const bool at_end = w->stmt == load.stmt && assign != nullptr &&
                        assign->is_op(ExprKind::assign, "=") && assign->parent == nullptr &&
                        &assign->arg(0) == w->expr;
    return !at_end && w->expr->span.begin < load.expr->span.begin;
  });
}

/// A name of the loop's body, or its index, that is declared again inside: what is renamed by its
/// name would be both.
std::string declared_twice(const Loop& loop) {
  std::set<std::string_view> own{loop.variable};
  std::string out;
  for (const Stmt* s : statements(*loop.stmt->body)) {
    for (const Declarator* d : s->declarators) {
      if (!own.insert(d->name).second && out.empty()) out = d->name;
    }
  }
  walk(*loop.stmt->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (s.parent != loop.stmt->body && &s != loop.stmt->body && own.contains(d->name) &&
          out.empty())
        out = d->name;
    }
    return true;
  });
  return out;
}

/// Global loads of the statement that may be done early: unconditional, of arrays that the loop
/// leaves alone.
std::optional<Stages> find_stages(const KernelFacts& facts, const Loop& loop, std::string& why) {
  Stages out;
  const std::vector<const Stmt*> body = statements(*loop.stmt->body);
  const std::vector<const Access*> all = facts.accesses_in(*loop.stmt->body);
  const bool ordered = loop.kind != LoopClass::parallel && loop.kind != LoopClass::reduction;
  for (const Access* w : all) {
    if (!w->writes()) continue;
    for (const Access* r : all) {
      if (r == w || !r->reads() || r->kind == AccessKind::atomic) continue;
      const bool apart = w->array == r->array ? !ordered : !facts.may_alias(w->array, r->array);
      const Space space = facts.arrays[static_cast<std::size_t>(r->array)].space;
      if (!apart && space == Space::global)
        return why = "a store could change a later iteration's load", std::nullopt;
    }
  }
  if (const std::string name = declared_twice(loop); !name.empty())
    return why = name + " has two meanings in the loop", std::nullopt;
  std::vector<const Declarator*> locals;
  const std::vector<std::string> written = facts.names_written(*loop.stmt->body);
  // what an iteration changes is not known before it; its own variables are until it does so
  const auto reads_changed = [&](const auto& part, const std::vector<const Declarator*>& own) {
    return std::ranges::any_of(written, [&](const std::string& name) {
      const bool is_own =
          std::ranges::any_of(own, [&](const Declarator* d) { return d->name == name; });
      return name != loop.variable && !is_own && mentions(part, name);
    });
  };
  std::size_t k = 0;
  for (;
       k < body.size() && is_pure_load(facts, *body[k], locals) && !reads_changed(*body[k], locals);
       ++k) {
    for (const Declarator* d : body[k]->declarators) locals.push_back(d);
    out.loads.push_back(body[k]);
  }
  out.uses.assign(body.begin() + static_cast<std::ptrdiff_t>(k), body.end());
  if (out.uses.empty()) return why = "the loop only loads", std::nullopt;
  for (const Stmt* s : out.uses) {
    for (const Access* access : facts.accesses_in(*s)) {
      const Array& array = facts.arrays[static_cast<std::size_t>(access->array)];
      if (array.space != Space::global || access->kind != AccessKind::read || access->in_helper ||
          access->vector_width != 1 || array.type.empty())
        continue;
      if (follows_own_store(facts, all, *access)) continue;
      if (enclosing_loop(*access->stmt) != loop.stmt ||
          access->guards.size() != facts.guards_at(*body.front()).size())
        continue;
      bool moves = mentions(*access->expr, loop.variable), nested = false;
      bool fixed_place = !reads_changed(*access->expr, {});
      for (const Declarator* d : locals) moves = moves || mentions(*access->expr, d->name);
      for (const Stmt* t : out.uses) {
        for (const Declarator* d : t->declarators)
          fixed_place = fixed_place && !mentions(*access->expr, d->name);
      }
      for (const Expr* p = access->expr->parent; p != nullptr; p = p->parent) {
        nested = nested || p->is(ExprKind::subscript) || p->is(ExprKind::conditional) ||
                 p->is_op(ExprKind::binary, "&&") || p->is_op(ExprKind::binary, "||") ||
                 p->is_op(ExprKind::unary, "&");
      }
      if (moves && !nested && fixed_place) out.inlined.push_back(access);
    }
  }
  bool loads = !out.inlined.empty();
  for (const Stmt* s : out.loads) {
    for (const Access* access : facts.accesses_in(*s))
      loads = loads || facts.arrays[static_cast<std::size_t>(access->array)].space == Space::global;
  }
  if (!loads) return why = "the loop has no global load that could be done early", std::nullopt;
  return out;
}

/// With a pragma the compiler already unrolls all iterations, so their loads are adjacent.
bool is_written_out(const Unit& unit, const Loop& loop, std::optional<std::int64_t> trips) {
  if (loop.stmt->pragma == nullptr || !trips) return false;
  std::string factor = unit.plain_text(loop.stmt->pragma->span);
  const std::size_t word = factor.find("unroll");
  if (word == std::string::npos || factor.find("nounroll") != std::string::npos) return false;
  factor.erase(0, word + 6);
  std::erase_if(factor, [](char c) { return c == ' ' || c == '\t' || c == '(' || c == ')'; });
  if (factor.empty()) return true;
  const auto copies = integer_value(factor);
  return copies && *copies >= *trips;
}

/// `factor` iterations at a time: all their loads first, then all uses, so that the loads are in
/// flight together. `tail` = 0: the iterations left over go to a loop behind; 1: loads and uses are
/// tested, no second loop. Site "loop:K".
class UnrollIlp final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "unroll_ilp"; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!is_loop_site(site)) return {};
    return {Tunable{"factor",
                    {std::begin(kIlpFactors), std::end(kIlpFactors)},
                    4,
                    "iterations whose loads are in flight together"},
            Tunable{"tail",
                    {kPeeled, kTested},
                    kPeeled,
                    "0: a loop for the rest; 1: tested loads and uses"}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel& model) const override {
    std::vector<MoveInstance> out;
    for (std::size_t k = 0; k < model.facts.loops.size(); ++k) {
      for (const std::int64_t factor : {4, 2, 8}) {
        for (const std::int64_t tail : {kPeeled, kTested}) {
          out.push_back({std::string(name()), loop_site(k), {{"factor", factor}, {"tail", tail}}});
        }
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    const std::int64_t factor = wanted.parameters.at("factor"), tail = wanted.parameters.at("tail");
    const KernelFacts& facts = model.facts;
    for (std::size_t k = 0; k < facts.loops.size(); ++k) {
      if (loop_site(k) == wanted.site)
        return for_loop(context, model, *facts.loops[k], factor, tail == kTested, why);
    }
    return why = "no loop at " + wanted.site, std::nullopt;
  }

  static std::optional<Variant> for_loop(const MoveContext& context,
                                         const KernelModel& model,
                                         const Loop& loop,
                                         std::int64_t factor,
                                         bool tested,
                                         std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const Stmt& stmt = *loop.stmt;
    why = facts.veto_at(stmt);
    if (!why.empty()) return std::nullopt;
    const auto head = loop_head(facts, loop, why);
    if (!head) return std::nullopt;
    for (const Stmt* s : statements(*stmt.body)) {
      if (jumps_out(*s)) return why = "the body leaves early", std::nullopt;
    }
    if (joins_threads(stmt)) return why = "the body joins threads", std::nullopt;
    if (stmt.parent == nullptr || !stmt.parent->is(StmtKind::block))
      return why = "the loop is the body of another statement without braces", std::nullopt;
    const auto stages = find_stages(facts, loop, why);
    if (!stages) return std::nullopt;
    if (size_of_type(unit.plain_text(loop.declarator->type)) < 8 &&
        !stays_small(context, facts, loop.end + loop.step * Polynomial(2 * factor))) {
      return why = "a 32-bit index could overflow", std::nullopt;
    }
    const auto trips = loop.trips ? fixed(facts, *loop.trips) : loop.trip_count;
    if (is_written_out(unit, loop, trips))
      return why = "the compiler writes out all iterations of the loop already", std::nullopt;
    if (trips && *trips < factor)
      return why = "the loop has fewer iterations than that", std::nullopt;
    const bool whole = trips && *trips % factor == 0;
    if (whole && tested) return why = "no iteration is left over", std::nullopt;

    Rewrite rewrite(model);
    const std::string count = rewrite.fresh("UNROLL"), u = rewrite.fresh("u"), j = loop.variable,
                      step = indent_unit(unit);
    const std::string type = unit.plain_text(loop.declarator->type);
    const std::string stride = stride_text(facts, loop, head->stride, type),
                      at = head->stride == "1" ? j + " + " + u : j + " + " + u + " * " + stride;

    // Early part: locals become arrays over u.
    std::string declared, loads;
    std::vector<Edit> edits;
    for (const Access* access : stages->inlined) {
      const Array& array = facts.arrays[static_cast<std::size_t>(access->array)];
      const std::string local = rewrite.fresh(array.name + "_next");
      std::vector<Edit> inside;
      rename_variable(*access->expr, j, at, inside);
      for (const Stmt* s : stages->loads) {
        for (const Declarator* d : s->declarators)
          rename_variable(*access->expr, d->name, std::string(d->name) + "[" + u + "]", inside);
      }
      declared += array.type + " " + local + "[" + count + "];\n";
      loads += (tested ? "if (" + at + " < " + head->end + ") " : "") + local + "[" + u +
               "] = " + substituted(unit, access->expr->span, inside) + ";\n";
      edits.push_back({access->expr->span.begin, access->expr->span.end, local + "[" + u + "]"});
    }
    std::vector<Edit> names;
    for (const Stmt* s : statements(*stmt.body)) {
      rename_variable(*s, j, at, names);
      for (const Stmt* l : stages->loads) {
        for (const Declarator* d : l->declarators)
          rename_variable(*s, d->name, std::string(d->name) + "[" + u + "]", names);
      }
    }
    std::string early;
    for (const Stmt* s : stages->loads) {
      if (s->is(StmtKind::declaration)) {
        const Declarator& d = *s->declarators.front();
        if (d.is_array()) {
          declared += std::string(unit.text({s->span.begin, d.name_span.end})) + "[" + count + "]" +
                      std::string(unit.text({d.name_span.end, s->span.end})) + "\n";
        } else {
          declared += unit.plain_text(d.type) + " " + std::string(d.name) + "[" + count + "];\n";
          early += (tested ? "if (" + at + " < " + head->end + ") " : "") + std::string(d.name) +
                   "[" + u + "] = " + substituted(unit, d.value()->outer, names) + ";\n";
        }
      } else {
        early += (tested ? "if (" + at + " < " + head->end + ") " : "") +
                 substituted(unit, s->span, names) + "\n";
      }
    }
    for (Edit& name : names) {
      const bool covered = std::any_of(edits.begin(), edits.end(), [&](const Edit& e) {
        return e.begin <= name.begin && name.end <= e.end;
      });
      if (!covered) edits.push_back(std::move(name));
    }
    const std::string each =
        "#pragma unroll\nfor (int " + u + " = 0; " + u + " < " + count + "; ++" + u + ") {\n";
    std::string round = declared + each + indented(early + loads, step) + "}\n";
    std::string uses = statements_text(unit, stages->uses, edits);
    if (tested) uses = "if (" + at + " < " + head->end + ") {\n" + indented(uses, step) + "}\n";
    round += each + indented(uses, step) + "}\n";

    const std::string limit = whole || tested
                                  ? j + " < " + head->end
                                  : j + " + (" + count + " - 1) * " + stride + " < " + head->end;
    const std::string advance = j + " += " + count + (head->stride == "1" ? "" : " * " + stride);
    const bool tail = !whole && !tested;
    std::string text = "constexpr int " + count + " = " + std::to_string(factor) +
                       ";  // iterations whose loads are in flight together\n";
    const std::string first = type + " " + j + " = " + head->first;
    text += tail ? first + ";\nfor (; " : "for (" + first + "; ";
    text += limit + "; " + advance + ") {\n" + indented(round, step) + "}\n";
    if (tail) {
      text += "for (; " + j + " < " + head->end + "; " +
              (head->stride == "1" ? "++" + j : j + " += " + head->stride) + ") {\n" +
              indented(statements_text(unit, statements(*stmt.body)), step) + "}\n";
    }
    const std::string indent = indentation(unit, stmt.span.begin);
    const Span span = whole_lines(
        unit, {(stmt.pragma != nullptr ? stmt.pragma : &stmt)->span.begin, stmt.span.end});
    std::string block = indent + "{\n" + indented(text, indent + step) + indent + "}";
    if (span.end > stmt.span.end) block += "\n";
    rewrite.replace(span, block);
    return rewrite.finish(context.variant);
  }

  /// The stride as a factor. One that is unsigned, as blockDim is, would make a sum unsigned that
  /// is compared with an end below 0.
  static std::string stride_text(const KernelFacts& facts,
                                 const Loop& loop,
                                 const std::string& stride,
                                 const std::string& type) {
    const bool is_signed = type.find("unsigned") == std::string::npos &&
                           type.find("uint") == std::string::npos && type != "size_t";
    const Expr* const step = loop.stmt->step;
    const bool literal = stride.find_first_not_of("0123456789") == std::string::npos;
    if (literal || !is_signed || step == nullptr || !step->is(ExprKind::assign) ||
        type_of(facts, step->arg(1)) == "int" ||
        facts.provably_nonnegative(loop.end, facts.guards_at(*loop.stmt), {}))
      return as_factor(stride);
    return "static_cast<" + type + ">(" + stride + ")";
  }

  /// Counts up by any step that the loop leaves alone.
  static std::optional<LoopDealing> loop_head(const KernelFacts& facts,
                                              const Loop& loop,
                                              std::string& why) {
    std::string ignored;
    if (auto dealing = loop_dealing(facts, loop, ignored)) return dealing;
    const Stmt& stmt = *loop.stmt;
    const bool plain = loop.counted && !loop.descending && loop.declared_inside &&
                       !loop.exits_early && stmt.is(StmtKind::for_) && stmt.body != nullptr &&
                       stmt.step != nullptr && loop.first_expr != nullptr &&
                       loop.bound_expr != nullptr && stmt.init != nullptr &&
                       stmt.init->declarators.size() == 1 && loop.declarator != nullptr;
    if (!plain) return why = "the loop does not count up with an index of its own", std::nullopt;
    if (loop.inclusive && !loop.source_end.is_known())
      return why = "the loop's bound has no plain form", std::nullopt;
    LoopDealing out;
    out.first = facts.unit->plain_text(loop.first_expr->outer);
    out.end =
        loop.inclusive ? loop.source_end.text() : facts.unit->plain_text(loop.bound_expr->outer);
    if (stmt.step->is_op(ExprKind::assign, "+=")) {
      out.stride = facts.unit->plain_text(stmt.step->arg(1).outer);
    } else if (stmt.step->is(ExprKind::unary) || stmt.step->is(ExprKind::postfix)) {
      out.stride = "1";
    } else {
      return why = "the loop's step has no plain form", std::nullopt;
    }
    return out;
  }
};

}  // namespace

void register_move_unroll_ilp(MoveRegistry& registry) {
  registry.add("unroll_ilp", "several iterations at a time, their loads first",
               [] { return std::make_unique<UnrollIlp>(); });
}

}  // namespace warpath
