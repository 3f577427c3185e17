#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using model::Access;
using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::KernelModel;
using model::Loop;
using model::Stmt;

constexpr std::string_view kArrayPrefix = "array:";
constexpr std::int64_t kMostCopies = 256;  ///< copies of an innermost body

enum Place : std::int64_t { register_array, shared_array, place_count };

/// A local array that is indexed by run-time values lives in local memory. Unrolling every loop
/// that indexes it makes the indices constant, so that it becomes registers; or it moves to shared
/// memory, one column a thread.
class LocalArrayPlacement final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "local_array_placement"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return out;
    for (const model::Array& array : model->facts.arrays) {
      if (array.space != model::Space::local || array.declarator == nullptr) continue;
      for (std::int64_t place = 0; place < place_count; ++place) {
        if (rewritten(context, *model, array, place, why))
          out.push_back(
              {std::string(name()), std::string(kArrayPrefix) + array.name, {{"place", place}}});
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.starts_with(kArrayPrefix)) return {};
    return {Tunable{"place",
                    {register_array, shared_array},
                    register_array,
                    "0: registers, by unrolling; 1: shared memory, a column a thread"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (!model) return std::nullopt;
    for (const model::Array& array : model->facts.arrays) {
      if (array.space != model::Space::local || array.declarator == nullptr ||
          std::string(kArrayPrefix) + array.name != wanted.site)
        continue;
      return rewritten(context, *model, array, wanted.parameters.at("place"), why);
    }
    return why = "no local array at " + (wanted.site.empty() ? "the kernel" : wanted.site),
           std::nullopt;
  }

 private:
  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          const model::Array& array,
                                          std::int64_t place,
                                          std::string& why) {
    if (array.escapes) return why = "the address of " + array.name + " is taken", std::nullopt;
    switch (place) {
      case register_array:
        return unrolled(context, model, array, why);
      case shared_array:
        return in_shared(context, model, array, why);
      default:
        return why = std::to_string(place) + " is no place of local_array_placement", std::nullopt;
    }
  }

  static std::vector<const Access*> accesses(const KernelModel& model, const model::Array& array) {
    return model.facts.accesses_to(model.facts.array_index(array.name));
  }

  static std::optional<Variant> unrolled(const MoveContext& context,
                                         const KernelModel& model,
                                         const model::Array& array,
                                         std::string& why) {
    std::vector<Edit> edits;
    std::set<const Loop*> indexing;
    for (const Access* a : accesses(model, array)) {
      model::Polynomial rest = model.facts.resolved(a->index);
      for (const Loop* loop : a->loops) {
        const std::string atom = loop_atom(rest, *loop);
        if (!rest.mentions(atom)) continue;
        indexing.insert(loop);
        rest = rest.substituted(atom, 0);
      }
      if (!rest.constant())
        return why = array.name + " is indexed by more than counted loops", std::nullopt;
    }
    for (const Loop* loop : indexing) {
      std::int64_t copies = 1;
      for (const Loop* l = loop; l != nullptr; l = l->parent) {
        if (indexing.contains(l)) copies *= trips(model, *l).value_or(kMostCopies + 1);
      }
      if (copies > kMostCopies)
        return why = "a loop over " + array.name +
                     " is too long to unroll, or its length no constant: specialise_shape",
               std::nullopt;
      const Stmt& s = *loop->stmt;
      const std::string indent = model::indentation(model.unit, s.span.begin);
      if (s.pragma == nullptr) {
        edits.push_back({s.span.begin, s.span.begin, "#pragma unroll\n" + indent});
      } else if (model.unit.plain_text(s.pragma->span) != "#pragma unroll") {
        edits.push_back({s.pragma->span.begin, s.pragma->span.end, "#pragma unroll"});
      }
    }
    for (const Loop* loop : indexing) {
      // A directive needs a line of its own.
      const std::string_view before =
          model.unit.source().substr(line_begin(model.unit.source(), loop->stmt->span.begin));
      const std::size_t blanks = before.find_first_not_of(" \t");
      if (line_begin(model.unit.source(), loop->stmt->span.begin) + blanks !=
          loop->stmt->span.begin) {
        return why = "a loop over " + array.name + " starts in mid-line", std::nullopt;
      }
    }
    if (edits.empty()) return why = "all loops over " + array.name + " are unrolled", std::nullopt;
    Variant out = context.variant;
    out.source = edited(model.unit.source(), std::move(edits));
    return out;
  }

  static std::optional<std::int64_t> trips(const KernelModel& model, const Loop& loop) {
    if (loop.trip_count) return loop.trip_count;
    return loop.counted && loop.trips ? model.facts.resolved(*loop.trips).constant() : std::nullopt;
  }

  static std::optional<Variant> in_shared(const MoveContext& context,
                                          const KernelModel& model,
                                          const model::Array& array,
                                          std::string& why) {
    const Declarator& d = *array.declarator;
    const auto threads = threads_per_row_block(context.variant);
    if (!threads || !context.variant.launch.block[0].is_constant())
      return why = "the block's size is no constant along x alone", std::nullopt;
    if (d.stmt == nullptr || d.stmt->declarators.size() != 1 || !d.init.empty() || d.is_pointer() ||
        array.extents.empty()) {
      return why = array.name + " is not declared alone, as a plain array without initialiser",
             std::nullopt;
    }
    std::int64_t bytes = *threads * static_cast<std::int64_t>(array.element_bytes);
    for (const model::Polynomial& extent : array.extents)
      bytes *= model.facts.resolved(extent).constant().value_or(0);
    if (bytes <= 0 || bytes + static_smem_bytes(model.facts) > kStaticSmemBytes)
      return why = array.name + " of all threads does not fit static shared memory", std::nullopt;
    std::vector<Edit> edits{
        {d.specifiers.begin, d.specifiers.begin, "__shared__ "},
        {d.extents_span.end, d.extents_span.end, "[" + std::to_string(*threads) + "]"}};
    bool plain = true;
    const auto uses = accesses(model, array);
    std::set<std::size_t> seen;
    for (const Access* a : uses) {
      const Expr* base = a->expr;
      while (base->is(ExprKind::subscript)) base = base->args[0];
      plain = plain && base != a->expr && base->is_name(d.name) && a->vector_width == 1 &&
              !a->in_helper;
      if (seen.insert(a->expr->span.end).second)
        edits.push_back({a->expr->span.end, a->expr->span.end, "[threadIdx.x]"});
    }
    model::walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (!e.is_name(d.name) || model::declaration_of(model.unit, e) != &d) return true;
      plain = plain && std::any_of(uses.begin(), uses.end(),
                                   [&](const Access* a) { return a->expr->span.contains(e.span); });
      return true;
    });
    if (!plain) return why = array.name + " is used other than by subscripts", std::nullopt;
    Variant out = context.variant;
    out.source = edited(model.unit.source(), std::move(edits));
    return out;
  }
};

}  // namespace

void register_move_local_array_placement(MoveRegistry& registry) {
  registry.add("local_array_placement", "a local array into registers or shared memory",
               [] { return std::make_unique<LocalArrayPlacement>(); });
}

}  // namespace warpath
