#include "moves/rows/row_sweeps.h"

#include <algorithm>

#include "engine/base/error.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Access;
using model::KernelFacts;
using model::Loop;
using model::LoopClass;
using model::Polynomial;
using model::Stmt;
using model::StmtKind;

/// What a loop must share with another to sweep the same row.
struct Shape {
  std::int64_t lanes = 1, offset = 0;
  Polynomial place;  ///< of the lane, folded
  std::string lane;  ///< as written
};

/// `place` numbers the threads 0 .. lanes - 1 within groups of neighbours, over blocks if a row
/// spans several.
bool numbers_lanes(const Polynomial& place, std::int64_t lanes, std::int64_t threads) {
  if (lanes == 1) return place.is_zero();
  constexpr std::int64_t kMostLanes = 8192;  // of a cluster
  if (lanes > kMostLanes) return false;
  if (lanes < threads ? threads % lanes != 0 : lanes % threads != 0) return false;
  for (std::int64_t block = 0; block < std::max<std::int64_t>(2, lanes / threads * 2); ++block) {
    for (std::int64_t thread = 0; thread < threads; ++thread) {
      const auto value =
          place.evaluate({{"threadIdx.x", thread}, {"blockIdx.x", block}, {"blockDim.x", threads}});
      if (!value || *value != (block * threads + thread) % lanes) return false;
    }
  }
  return true;
}

std::optional<Shape> shape_of(const KernelFacts& facts, const Loop& loop, std::int64_t threads) {
  if (!loop.counted || !loop.stmt->is(StmtKind::for_) || !loop.declared_inside || loop.descending ||
      loop.exits_early || loop.has_barrier) {
    return std::nullopt;
  }
  if (loop.kind != LoopClass::parallel && loop.kind != LoopClass::reduction) return std::nullopt;
  const auto step = facts.resolved(loop.step).substituted("blockDim.x", threads).constant();
  if (!step || *step < 1 || loop.first_expr == nullptr || !loop.first.is_known())
    return std::nullopt;
  Shape out;
  out.lanes = *step;
  out.offset = loop.first.constant_term();
  const Polynomial place = facts.resolved(loop.first) - Polynomial(out.offset);
  out.place = place;
  if (out.lanes > 1) out.lane = (loop.source_first - Polynomial(out.offset)).factor_text();
  if (out.offset < 0 || !numbers_lanes(place, out.lanes, threads)) return std::nullopt;
  return out;
}

bool visible_there(const model::KernelModel& model, const Polynomial& value, const Stmt& place) {
  const std::set<std::string> names = value.names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const bool builtin = name.find('.') != std::string::npos;
    if (builtin || model.unit.constants().contains(name)) return true;
    return model::visible(model.unit, *model.kernel, name, place.span.begin) != nullptr;
  });
}

/// A condition or loop inside the sweep stands around the access.
bool is_conditional(const Access& a, const Loop& sweep) {
  return std::any_of(a.guards.begin(), a.guards.end(), [&](const model::Guard* g) {
    return g->stmt != nullptr && model::is_inside(*g->stmt, *sweep.stmt) && g->stmt != sweep.stmt;
  });
}

void add_operands(const model::KernelModel& model, RowSweeps& sweeps) {
  const KernelFacts& facts = model.facts;
  for (std::size_t s = 0; s < sweeps.loops.size(); ++s) {
    const Loop& loop = *sweeps.loops[s];
    for (const Access* a : facts.accesses_in(*loop.stmt)) {
      const model::Array& array = facts.arrays[static_cast<std::size_t>(a->array)];
      if (array.space != model::Space::global || a->kind == model::AccessKind::atomic ||
          a->vector_width != 1 || a->in_helper || is_moved(facts, array))
        continue;
      if (a->expr == nullptr || a->expr->kind != model::ExprKind::subscript || a->loops.empty() ||
          a->loops.back() != &loop)
        continue;
      if (a->expr->parent != nullptr && a->expr->parent->is_op(model::ExprKind::unary, "&"))
        continue;
      const std::string atom = loop_atom(a->source_index, loop), folded = loop_atom(a->index, loop);
      if (!a->source_index.affine_in(atom) || !a->index.affine_in(folded)) continue;
      if (!(a->source_index.coefficient_of(atom) == Polynomial(1)) ||
          !(a->index.coefficient_of(folded) == Polynomial(1)))
        continue;
      const Polynomial base = a->source_index.without(atom), folded_base = a->index.without(folded);
      auto at = std::find_if(
          sweeps.operands.begin(), sweeps.operands.end(),
          [&](const RowOperand& o) { return o.array == a->array && o.folded_base == folded_base; });
      if (at == sweeps.operands.end()) {
        if (!visible_there(model, base, *sweeps.loops.front()->stmt) &&
            !visible_there(model, base, *loop.stmt))
          continue;
        at = sweeps.operands.insert(at, RowOperand{a->array, base, folded_base, {}, false, false});
      }
      at->uses.push_back({a, s});
      const bool conditional = is_conditional(*a, loop);
      at->conditional_write |= conditional && a->writes();
      at->unconditional |= !conditional;
    }
  }
}

}  // namespace

std::string loop_atom(const model::Polynomial& index, const model::Loop& loop) {
  const std::set<std::string> names = index.names();
  if (names.contains(loop.variable)) return loop.variable;
  for (const std::string& name : names) {
    if (name.starts_with(loop.variable + "'")) return name;
  }
  return loop.variable;
}

std::optional<std::array<std::int64_t, 3>> block_extents(const Variant& variant) {
  constexpr std::int64_t kMost = 1024;
  const Bindings values(variant.tunables.begin(), variant.tunables.end());
  std::array<std::int64_t, 3> out{};
  std::int64_t threads = 1;
  try {
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      out[axis] = variant.launch.block[axis].evaluate(values, "block");
      if (out[axis] < 1 || out[axis] > kMost || (threads *= out[axis]) > kMost) return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> threads_per_row_block(const Variant& variant) {
  const auto block = block_extents(variant);
  if (!block || (*block)[1] != 1 || (*block)[2] != 1) return std::nullopt;
  return (*block)[0];
}

bool RowOperand::written() const {
  return std::any_of(uses.begin(), uses.end(), [](const Use& u) { return u.access->writes(); });
}

std::optional<std::size_t> RowOperand::last_write() const {
  std::optional<std::size_t> out;
  for (const Use& u : uses) {
    if (u.access->writes()) out = u.sweep;
  }
  return out;
}

std::vector<RowSweeps> find_row_sweeps(const MoveContext& context,
                                       const model::KernelModel& model) {
  std::vector<RowSweeps> out;
  const auto threads = threads_per_row_block(context.variant);
  if (!threads) return out;
  std::vector<const Stmt*> lists;
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < model.facts.loops.size(); ++k) {
    const Loop& loop = *model.facts.loops[k];
    const auto shape = shape_of(model.facts, loop, *threads);
    if (!shape || loop.stmt->parent == nullptr || !loop.stmt->parent->is(StmtKind::block)) continue;
    std::size_t g = 0;
    while (g < out.size() &&
           !(lists[g] == loop.stmt->parent && out[g].lanes == shape->lanes &&
             shapes[g].place == shape->place && out[g].loops.front()->end == loop.end)) {
      ++g;
    }
    if (g == out.size()) {
      RowSweeps group;
      group.ordinal = k;
      group.lanes = shape->lanes;
      group.threads = *threads;
      group.lane = shape->lane;
      group.end = loop.source_end;
      group.length = model.facts.resolved(loop.end).constant();
      out.push_back(std::move(group));
      lists.push_back(loop.stmt->parent);
      shapes.push_back(*shape);
    }
    out[g].loops.push_back(&loop);
    out[g].offsets.push_back(shape->offset);
  }
  for (RowSweeps& group : out) add_operands(model, group);
  return out;
}

}  // namespace warpath
