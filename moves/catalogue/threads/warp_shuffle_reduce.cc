#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engine/text/source_edit.h"
#include "moves/blocks/block_reduction.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/loop_site.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using model::Declarator;
using model::Expr;
using model::KernelModel;
using model::Stmt;

bool is_within(const BlockReduction& r, model::Span span) {
  return r.statements.front()->span.begin <= span.begin &&
         span.end <= r.statements.back()->span.end;
}

/// A reduction at a site: that of its first loop, or its number among those without one.
struct ReductionSite {
  std::string site;
  BlockReduction reduction;
};

/// Writes a block's reduction as shuffles within warps and one shared element a warp.
class ShuffleWriter {
 public:
  ShuffleWriter(const MoveContext& context, const KernelModel& model, const BlockReduction& r)
      : context_(context),
        model_(model),
        unit_(model.unit),
        r_(r),
        again_(model::enclosing_loop(*r.statements.front()) != nullptr) {
    const auto block = block_extents(context.variant).value_or(std::array<std::int64_t, 3>{});
    group_.lanes = block[0] * block[1] * block[2];
    group_.lanes_name = std::to_string(kWarpLanes);
    index_ = thread_text(block);
    // A block that is a tunable may change later: then its size is asked for.
    if (!context.variant.launch.block[0].is_constant()) group_.warps = "blockDim.x / 32";
  }

  /// Barriers that a thread passes in what is written.
  [[nodiscard]] int barriers() const {
    const int within = group_.within_warp() && group_.warps.empty() ? 0 : again_ ? 2 : 1;
    return within + (r_.waits_first ? 1 : 0) + (waits_last() ? 1 : 0);
  }

  Variant written() {
    const std::string tab = model::indent_unit(unit_);
    group_.step = free_name(unit_, {"d", "step"}, taken_);
    std::vector<Partial> partials;
    std::vector<std::string> names;
    std::string text = group_.within_warp()
                           ? "// The warp combines its values by shuffles.\n"
                           : "// Warps combine their values by shuffles, then what they leave.\n";
    if (index_ != group_.thread) {
      group_.thread = fresh("thread");
      text += "const int " + group_.thread + " = " + index_ + ";\n";
    }
    if (r_.waits_first) text += "__syncthreads();\n";
    std::string behind, elements;
    std::vector<Edit> edits;
    for (const BlockTotal& t : r_.totals) {
      const std::string name = place_of(t, text, behind);
      partials.push_back({name, t.type, t.op});
      names.push_back(group_.within_warp() ? std::string() : fresh(name + "_warp"));
      for (const TotalElement& e : t.elements) {
        if (is_kept(e)) elements += tab + e.text + " = " + name + ";\n";
        for (const Expr* read : e.reads) edits.push_back({read->span.begin, read->span.end, name});
      }
    }
    text += combine_lanes(group_, partials, names, again_, tab) + behind;
    if (!elements.empty()) text += "if (" + group_.thread + " == 0) {\n" + elements + "}\n";
    if (waits_last()) text += "__syncthreads();\n";
    text.pop_back();
    const Stmt &first = *r_.statements.front(), &last = *r_.statements.back();
    const std::size_t begin = first.pragma != nullptr ? first.pragma->span.begin : first.span.begin;
    const std::string indent = model::indentation(unit_, begin);
    edits.push_back({begin, last.span.end, hanging(text, indent)});
    for (const Declarator* d : r_.arrays) remove(*d, edits);
    Variant out = context_.variant;
    out.source = edited(unit_.source(), std::move(edits));
    return out;
  }

 private:
  /// Others read what the first thread stores, or what it stored in memory beside.
  [[nodiscard]] bool waits_last() const {
    return (group_.within_warp() && r_.barriers > 0) ||
           std::ranges::any_of(r_.totals, [](const BlockTotal& t) {
             return std::ranges::any_of(t.elements, is_kept);
           });
  }

  /// The result is read from shared memory afterwards.
  static bool is_kept(const TotalElement& e) { return e.reads.empty(); }

  /// The variable keeps its value after the reduction for as long as the result is read.
  [[nodiscard]] bool stays(const Declarator& d, const BlockTotal& t) const {
    std::size_t last = 0;
    for (const TotalElement& e : t.elements) {
      for (const Expr* read : e.reads) last = std::max(last, read->span.begin);
    }
    const Stmt& end = *r_.statements.back();
    for (const Stmt* s : end.parent->children) {
      if (s->span.begin < end.span.end || s->span.begin > last) continue;
      const std::vector<std::string> written = model_.facts.names_written(*s);
      if (std::ranges::find(written, d.name) != written.end()) return false;
    }
    return true;
  }

  std::string fresh(std::string_view wish) {
    return *taken_.insert(model::fresh_name(unit_, wish, &taken_)).first;
  }

  [[nodiscard]] bool declares(const Declarator& d) const { return is_within(r_, d.span); }

  /// Another total starts from the variable.
  [[nodiscard]] bool is_needed(const Declarator& d, const BlockTotal& except) const {
    return std::ranges::any_of(
        r_.totals, [&](const BlockTotal& t) { return &t != &except && t.variable == &d; });
  }

  [[nodiscard]] bool has_type(const Declarator& d, const std::string& type) const {
    return unit_.resolved_type(unit_.plain_text(d.type)) == type && !d.has(model::kConst) &&
           !d.has(model::kConstexpr);
  }

  /// The variable in which a total is combined, with its value of the thread; what else holds the
  /// total goes to `behind`.
  std::string place_of(const BlockTotal& t, std::string& text, std::string& behind) {
    const Declarator* place = nullptr;
    const std::string value = t.whole ? t.value
                                      : group_.thread + " < " + std::to_string(t.threads) + " ? " +
                                            t.value + " : " + model::identity_text(t.op, t.type);
    if (t.whole && t.variable != nullptr && !declares(*t.variable) && t.free &&
        !is_needed(*t.variable, t) && has_type(*t.variable, t.type) && stays(*t.variable, t))
      place = t.variable;
    for (const Declarator* d : t.results) {
      if (place == nullptr && !is_needed(*d, t) && has_type(*d, t.type) && stays(*d, t)) place = d;
    }
    std::string name;
    if (place != nullptr) {
      name = std::string(place->name);
      if (place != t.variable || !t.whole)
        text += (declares(*place) ? t.type + " " : std::string()) + name + " = " + value + ";\n";
    } else {
      const std::string_view source = std::string_view(t.value).substr(0, t.value.find('['));
      name = fresh(std::string(source) + "_total");
      text += t.type + " " + name + " = " + value + ";\n";
    }
    for (const Declarator* d : t.results) {
      if (d == place) continue;
      const std::string type = declares(*d) ? unit_.plain_text(d->specifiers) + " " : "";
      behind += type + std::string(d->name) + " = " + name + ";\n";
    }
    return name;
  }

  /// A shared array that nothing uses any more.
  void remove(const Declarator& d, std::vector<Edit>& edits) const {
    if (declares(d) || d.stmt == nullptr || d.stmt->declarators.size() != 1 ||
        d.has(model::kExtern) || !d.stmt->parent->is(model::StmtKind::block))
      return;
    bool used = std::ranges::any_of(r_.totals, [&](const BlockTotal& t) {
      return t.value.starts_with(std::string(d.name) + "[");
    });
    const auto replaced = [&](const Expr& e) {
      return std::ranges::any_of(r_.totals, [&](const BlockTotal& t) {
        return std::ranges::any_of(t.elements, [&](const TotalElement& element) {
          return std::ranges::find(element.reads, &e) != element.reads.end();
        });
      });
    };
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      if (replaced(e)) return false;
      used = used || (e.is_name(d.name) && !is_within(r_, e.span));
      return !used;
    });
    if (used) return;
    const model::Span lines = model::whole_lines(unit_, d.stmt->span);
    edits.push_back({lines.begin, lines.end, ""});
  }

  const MoveContext& context_;
  const KernelModel& model_;
  const model::Unit& unit_;
  const BlockReduction& r_;
  bool again_;  ///< the statements run more than once
  LaneGroup group_;
  std::string index_;  ///< of a thread in its block
  std::set<std::string, std::less<>> taken_;
};

std::vector<ReductionSite> reduction_sites(const MoveContext& context,
                                           const KernelModel& model,
                                           std::string& why) {
  std::vector<ReductionSite> out;
  int without_loop = 0;
  // A block of one warp may have more than one later if it is a tunable.
  if (!context.variant.launch.block[0].is_constant() &&
      threads_per_row_block(context.variant) == kWarpLanes)
    return why = "the block is one warp now, and need not stay so", out;
  for (BlockReduction& r : block_reductions(context, model, why)) {
    std::string site;
    for (std::size_t k = 0; k < model.facts.loops.size() && site.empty(); ++k) {
      if (is_within(r, model.facts.loops[k]->stmt->span)) site = loop_site(k);
    }
    if (site.empty()) site = "reduction:" + std::to_string(without_loop++);
    const ShuffleWriter writer(context, model, r);
    if (writer.barriers() < r.barriers)
      out.push_back({std::move(site), std::move(r)});
    else
      why = "the block's reduction has no more barriers than shuffles need";
  }
  return out;
}

/// Replaces what a block does to combine a value of each of its threads, in whatever way, by
/// shuffles: within warps, then among the warps' values. Sums of floats are taken in another order.
class WarpShuffleReduce final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "warp_shuffle_reduce"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    std::vector<MoveInstance> out;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return out;
    for (ReductionSite& s : reduction_sites(context, *model, why))
      out.push_back({std::string(name()), std::move(s.site), {}});
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!wanted.parameters.empty())
      return why = "warp_shuffle_reduce takes no parameters", std::nullopt;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return std::nullopt;
    const std::vector<ReductionSite> sites = reduction_sites(context, *model, why);
    for (const ReductionSite& s : sites) {
      if (wanted.site == s.site) return ShuffleWriter(context, *model, s.reduction).written();
    }
    if (!sites.empty())
      why = "no reduction of the block at " + (wanted.site.empty() ? "the kernel" : wanted.site);
    return std::nullopt;
  }
};

}  // namespace

void register_move_warp_shuffle_reduce(MoveRegistry& registry) {
  registry.add("warp_shuffle_reduce",
               "shuffles in place of a block's reduction through shared memory",
               [] { return on_known_shape(std::make_unique<WarpShuffleReduce>()); });
}

}  // namespace warpath
