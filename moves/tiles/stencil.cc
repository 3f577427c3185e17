#include "moves/tiles/stencil.h"

#include <algorithm>

#include "moves/edit/hinted_access.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kMostReach = 16;

std::optional<std::int64_t> multiple(const Polynomial& value, const Polynomial& stride) {
  for (std::int64_t n = -kMostReach; n <= kMostReach; ++n) {
    if (value == stride * Polynomial(n)) return n;
  }
  return std::nullopt;
}

/// The load as one on a line with this stride between points; nullopt if it is not. Fills `reach`:
/// the first and the last point.
std::optional<LineLoad> on_line(const Access& access,
                                const Polynomial& offset,
                                const Polynomial& stride,
                                std::array<std::int64_t, 2>& reach) {
  LineLoad load{&access, 0, 0, nullptr};
  Polynomial rest = offset;
  for (const Loop* loop : access.loops) {
    if (!offset.mentions(loop->variable)) continue;
    if (load.loop != nullptr || !offset.affine_in(loop->variable) || !loop->counted ||
        !loop->trip_count || *loop->trip_count < 1)
      return std::nullopt;
    const auto per = multiple(offset.coefficient_of(loop->variable), stride);
    if (!per || *per == 0 || !loop->first.constant() || !loop->step.constant()) return std::nullopt;
    load.loop = loop;
    load.per_r = *per;
    rest = offset.without(loop->variable);
  }
  const auto constant = multiple(rest, stride);
  if (!constant) return std::nullopt;
  load.constant = *constant;
  reach = {load.constant, load.constant};
  if (load.loop != nullptr) {
    reach[0] += load.per_r * *load.loop->first.constant();
    reach[1] = reach[0] + load.per_r * *load.loop->step.constant() * (*load.loop->trip_count - 1);
  }
  return load;
}

std::optional<StencilAxis> axis_of(const MoveContext& context,
                                   const KernelModel& kernel,
                                   const ThreadIndex& index,
                                   const Polynomial& center) {
  StencilAxis out;
  out.index = &index;
  out.on_blocks = index.form == ThreadIndex::Form::block;
  if (index.name.empty() || index.declarator == nullptr || index.axis > 2) return std::nullopt;
  if (!out.on_blocks && index.form != ThreadIndex::Form::global) return std::nullopt;
  if (out.on_blocks &&
      context.variant.launch.block[static_cast<std::size_t>(index.axis)] != Expression(1))
    return std::nullopt;
  const Stmt* stmt = index.declarator->stmt;
  if (stmt == nullptr || stmt->parent != kernel.kernel->body || stmt->declarators.size() != 1)
    return std::nullopt;
  const std::string atom =
      std::string(out.on_blocks ? "blockIdx." : "threadIdx.") + "xyz"[index.axis];
  if (!center.affine_in(atom)) return std::nullopt;
  out.stride = center.coefficient_of(atom);
  if (out.stride.is_zero()) return std::nullopt;
  out.type =
      index.declarator->has(kAuto) ? "int" : std::string(kernel.unit.text(index.declarator->type));
  return out;
}

}  // namespace

Polynomial with_constants(const KernelModel& kernel, const Polynomial& value) {
  Bindings constants = kernel.unit.constants();
  for (const Stmt* stmt : statements(*kernel.kernel->body)) {
    for (const Declarator* d : stmt->declarators) {
      const auto number = d->is_constant() && d->value() != nullptr
                              ? constant_value(kernel.unit, *d->value())
                              : std::nullopt;
      if (number) constants[std::string(d->name)] = *number;
    }
  }
  return kernel.facts.resolved(value.bound(constants));
}

std::optional<Stencil> find_stencil(const MoveContext& context,
                                    const KernelModel& kernel,
                                    std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](const std::string& text) { return why = text, std::nullopt; };
  if (auto veto = facts.threads_veto(); !veto.empty()) return none(veto);
  Stencil out;
  for (const Access& access : facts.accesses) {
    if (!access.writes() ||
        facts.arrays[static_cast<std::size_t>(access.array)].space == Space::local)
      continue;
    if (access.kind != AccessKind::write || !access.index.is_known() ||
        !access.expr->is(ExprKind::subscript))
      return none("the output is not only stored to");
    if (std::any_of(access.loops.begin(), access.loops.end(), [&](const Loop* l) {
          return !l->counted || access.index.mentions(l->variable);
        })) {
      return none("a thread makes its points in a loop");
    }
    if (!out.stores.empty() &&
        (out.stores[0]->array != access.array || !(out.stores[0]->index == access.index))) {
      return none("a thread stores to more than one place");
    }
    out.stores.push_back(&access);
  }
  if (out.stores.empty()) return none("nothing is stored");
  for (const Array& array : facts.arrays) {
    if (is_moved(facts, array)) return none("the kernel moves the pointer " + array.name);
  }
  const Access& store = *out.stores[0];
  for (int axis = 2; axis >= 0; --axis) {
    for (const ThreadIndex& index : facts.thread_indices) {
      if (index.axis != axis) continue;
      if (const auto found = axis_of(context, kernel, index, store.index))
        out.axes.push_back(*found);
    }
  }
  for (std::size_t i = 0; i + 1 < out.axes.size(); ++i) {
    if (out.axes[i].index->axis == out.axes[i + 1].index->axis)
      return none("two indices of one thread axis choose the point");
  }
  for (const Access& access : facts.accesses) {
    if (access.writes() || access.array == store.array || !access.index.is_known() ||
        replaceable(access) == nullptr || access.vector_width != 1)
      continue;
    const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || !array.is_parameter || array.written ||
        facts.may_alias(access.array, store.array) || !access.expr->is(ExprKind::subscript))
      continue;
    for (std::size_t axis = 0; axis < out.axes.size(); ++axis) {
      std::array<std::int64_t, 2> reach{};
      const auto load = on_line(access, access.index - store.index, out.axes[axis].stride, reach);
      if (!load) continue;
      auto line = std::find_if(out.lines.begin(), out.lines.end(), [&](const StencilLine& l) {
        return l.array == &array && l.axis == axis;
      });
      if (line == out.lines.end())
        line = out.lines.insert(out.lines.end(), {&array, axis, {}, 0, 0});
      line->loads.push_back(*load);
      line->low = std::max({line->low, -reach[0], -reach[1]});
      line->high = std::max({line->high, reach[0], reach[1]});
      break;
    }
  }
  std::erase_if(out.lines, [](const StencilLine& l) { return l.low + l.high > kMostReach; });
  if (out.axes.empty() || out.lines.empty())
    return none("no input is loaded on a line through the point");
  return out;
}

}  // namespace warpath
