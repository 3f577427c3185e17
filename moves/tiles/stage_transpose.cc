#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_parts.h"
#include "moves/tiles/staging.h"

namespace warpath {

using namespace model;

namespace {

/// What the rewrite needs to know of a kernel that copies from one order of elements to another.
struct Exchange {
  const ThreadIndex* in_axis = nullptr;   ///< contiguous where it loads
  const ThreadIndex* out_axis = nullptr;  ///< contiguous where it stores
  const Access* load = nullptr;
  const Access* store = nullptr;
  /// a loop over rows of the block's tile, and the index that it adds to; null: there is none
  const Loop* rows = nullptr;
  const ThreadIndex* rows_axis = nullptr;
  std::vector<std::string> conditions;  ///< that hold where it stores
  std::string before;                   ///< definitions of neither axis, kept at the top
  std::string places;                   ///< definitions made of the axes, one set an element
  std::vector<std::string> placed;      ///< their names
};

/// The numbers of the launch for a workload, as the facts name them.
Bindings launch_values(const MoveContext& context, const KernelFacts& facts, const Workload& w) {
  const LaunchNumbers n =
      evaluate(launch_for(context.spec, context.variant, w),
               context.spec.bindings(w, context.variant.tunables), "launch plan");
  Bindings out = facts.values(w);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string letter(1, "xyz"[axis]);
    out["blockDim." + letter] = n.block[axis], out["gridDim." + letter] = n.grid[axis];
  }
  return out;
}

}  // namespace

bool covers_axis(const MoveContext& context,
                 const KernelFacts& facts,
                 const ThreadIndex& index,
                 std::int64_t steps) {
  const std::string letter(1, "xyz"[index.axis]);
  const Polynomial value = facts.resolved(index.value);
  const Polynomial width = value.coefficient_of("blockIdx." + letter);
  if (!(value ==
        width * Polynomial::name("blockIdx." + letter) + Polynomial::name("threadIdx." + letter)))
    return false;
  return std::ranges::all_of(workloads_of(context), [&](const Workload* w) {
    const Bindings values = launch_values(context, facts, *w);
    return width.evaluate(values) == values.at("blockDim." + letter) * steps;
  });
}

namespace {

/// Sets rows and rows_axis where the kernel's only loop runs over rows of the block's tile.
bool find_rows(const MoveContext& context,
               const KernelFacts& facts,
               const std::vector<const ThreadIndex*>& axes,
               Exchange& out,
               std::string& why) {
  if (facts.loops.empty()) return true;
  const Loop& loop = *facts.loops.front();
  const auto step = facts.resolved(loop.step).constant(),
             first = facts.resolved(loop.first).constant();
  if (facts.loops.size() != 1 || !loop.counted || loop.descending || loop.exits_early ||
      !loop.declared_inside || !loop.stmt->is(StmtKind::for_) || first != 0 || !step || *step < 1)
    return why = "the kernel has loops", false;
  const auto end = facts.resolved(loop.end).constant();
  if (!end || *end < 1) return why = "the loop's length is not known", false;
  for (const ThreadIndex* axis : axes) {
    const std::string thread = std::string("threadIdx.") + "xyz"[axis->axis];
    const auto together = [&](const Polynomial& p) {
      return p.affine_in(loop.variable) && p.affine_in(thread) &&
             p.coefficient_of(loop.variable) == p.coefficient_of(thread);
    };
    bool all = covers_axis(context, facts, *axis, (*end + *step - 1) / *step);
    for (const Access& access : facts.accesses) all = all && together(access.index);
    for (const auto& guard : facts.guards) {
      all = all && guard->complete && std::ranges::all_of(guard->nonnegative, together);
    }
    const bool threads = std::ranges::all_of(workloads_of(context), [&](const Workload* w) {
      return launch_values(context, facts, *w).at(std::string("blockDim.") + "xyz"[axis->axis]) ==
             *step;
    });
    if (all && threads) return out.rows = &loop, out.rows_axis = axis, true;
  }
  return why = "the loop does not run over rows of the block's tile", false;
}

bool is_unit(const KernelFacts& facts, const Access& access, int axis) {
  const std::string atom = std::string("threadIdx.") + "xyz"[axis];
  return access.index.affine_in(atom) &&
         facts.resolved(access.index.coefficient_of(atom)) == Polynomial(1);
}

std::optional<Exchange> find_exchange(const MoveContext& context,
                                      const KernelModel& kernel,
                                      std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](const char* text) { return why = text, std::nullopt; };
  if (std::ranges::any_of(facts.arrays, [&](const Array& a) { return is_moved(facts, a); }))
    return none("the kernel moves a pointer");
  if (why = facts.threads_veto(); !why.empty()) return std::nullopt;
  Exchange out;
  std::vector<const ThreadIndex*> axes;
  for (const ThreadIndex& index : facts.thread_indices) {
    const std::string letter(1, "xyz"[index.axis]);
    const Polynomial rest =
        facts.resolved(index.value).without("blockIdx." + letter).without("threadIdx." + letter);
    if (!index.name.empty() && index.declarator != nullptr && rest.is_zero() &&
        index.value.mentions("blockIdx." + letter) && index.value.mentions("threadIdx." + letter))
      axes.push_back(&index);
  }
  if (axes.size() != 2 || axes[0]->axis == axes[1]->axis)
    return none("the element is not chosen by two thread indices");
  if (!find_rows(context, facts, axes, out, why)) return std::nullopt;
  for (const ThreadIndex* axis : axes) {
    if (axis != out.rows_axis && !covers_axis(context, facts, *axis, 1))
      return none("the index counts blocks of another size than the launch plan's");
  }
  for (const Access& access : facts.accesses) {
    const bool global = facts.arrays[static_cast<std::size_t>(access.array)].space == Space::global;
    if (!global || !access.expr->is(ExprKind::subscript))
      return none("an access is no plain subscript of global memory");
    if (access.writes()) {
      if (out.store != nullptr || access.kind != AccessKind::write)
        return none("there is more than one store");
      out.store = &access;
    }
  }
  if (out.store == nullptr) return none("nothing is stored");
  for (const ThreadIndex* axis : axes) {
    if (is_unit(facts, *out.store, axis->axis)) out.out_axis = axis;
  }
  for (const Access& access : facts.accesses) {
    for (const ThreadIndex* axis : axes) {
      if (!access.writes() && replaceable(access) != nullptr && axis != out.out_axis &&
          is_unit(facts, access, axis->axis) && out.load == nullptr)
        out.load = &access, out.in_axis = axis;
    }
  }
  if (out.out_axis == nullptr || out.load == nullptr)
    return none("loads and stores are contiguous along the same axis");
  if (facts.may_alias(out.load->array, out.store->array))
    return none("input and output may be the same memory");
  return out;
}

/// Reads guards and definitions; every statement must be a definition, a guard or the store.
bool read_statements(const KernelModel& kernel,
                     const std::vector<const Stmt*>& list,
                     Exchange& out,
                     const Stmt*& store,
                     std::string& why) {
  for (const Stmt* stmt : list) {
    const bool last = stmt == list.back();
    if (stmt->is(StmtKind::declaration) && !stmt->text_only) {
      for (const Declarator* d : stmt->declarators) {
        if (d->name == out.in_axis->name || d->name == out.out_axis->name) continue;
        const std::string text = std::string(kernel.unit.text(d->specifiers)) + " " +
                                 std::string(kernel.unit.text(d->span)) + ";";
        const auto names = names_in(text);
        if (names.contains("threadIdx"))
          return why = std::string(d->name) + " is made of thread indices", false;
        const bool placed =
            names.contains(out.in_axis->name) || names.contains(out.out_axis->name) ||
            (out.rows != nullptr && names.contains(out.rows->variable)) ||
            std::ranges::any_of(out.placed,
                                [&](const std::string& name) { return names.contains(name); });
        if (placed) out.placed.emplace_back(d->name);
        (placed ? out.places : out.before) += text + "\n";
      }
    } else if (out.rows != nullptr && stmt == out.rows->stmt && last) {
      return read_statements(kernel, statements(*stmt->body), out, store, why);
    } else if (stmt->is(StmtKind::if_) && stmt->otherwise == nullptr && stmt->init == nullptr) {
      const std::vector<const Stmt*> inner = statements(*stmt->body);
      const std::string condition = kernel.unit.plain_text(stmt->expr->span);
      if (inner.size() == 1 && inner[0]->is(StmtKind::return_)) {
        out.conditions.push_back("!(" + condition + ")");
      } else if (last) {
        out.conditions.push_back(condition);
        return read_statements(kernel, inner, out, store, why);
      } else {
        return why = "a branch is no guard", false;
      }
    } else if (stmt->is(StmtKind::expression) && last) {
      store = stmt;
    } else if (!stmt->is(StmtKind::empty) &&
               (out.rows == nullptr || stmt != out.rows->stmt->pragma)) {
      return why = "a statement before the store is not understood", false;
    }
  }
  return store != nullptr && store->is(StmtKind::expression) &&
                 is_inside(*out.store->expr, *store) && is_inside(*out.load->expr, *store)
             ? true
             : (why = "load and store do not stand in one statement", false);
}

}  // namespace

std::optional<Variant> transposed_through_tile(const MoveContext& context,
                                               const KernelModel& kernel,
                                               std::int64_t tile,
                                               std::int64_t rows,
                                               std::string& why) {
  auto found = find_exchange(context, kernel, why);
  const Stmt* store = nullptr;
  if (!found || !read_statements(kernel, statements(*kernel.kernel->body), *found, store, why))
    return std::nullopt;
  const Unit& unit = kernel.unit;
  if (names_in(found->before).contains("blockIdx") &&
      context.variant.launch.grid[2] == Expression(1))
    return why = "the block index is used by itself", std::nullopt;
  std::set<std::string, std::less<>> taken;
  const auto fresh = [&](const std::string& wish) { return fresh_name(unit, wish, &taken); };
  const std::string size = fresh("TILE"), step = fresh("ROWS"), buffer = fresh("tile"),
                    i = fresh("i");
  const std::string type = kernel.facts.arrays[static_cast<std::size_t>(found->load->array)].type;
  const auto letter = [](const ThreadIndex& index) { return std::string(1, "xyz"[index.axis]); };
  const auto declare = [&](const ThreadIndex& index, const std::string& inner) {
    const std::string words =
        index.declarator->has(kAuto) ? "int" : std::string(unit.text(index.declarator->type));
    const std::string first =
        words + " " + index.name + " = blockIdx." + letter(index) + " * " + size;
    if (&index != found->rows_axis) return first + " + " + inner + ";";
    return first + ";\n" + std::string(unit.plain_text(found->rows->declarator->type)) + " " +
           found->rows->variable + " = " + inner + ";";
  };
  std::string condition;
  for (const std::string& c : found->conditions)
    condition += (condition.empty() ? "" : " && ") +
                 (found->conditions.size() > 1 && c[0] != '!' ? "(" + c + ")" : c);
  const std::string guard = condition.empty() ? "" : "if (" + condition + ") ";
  CodeWriter w(indent_unit(unit));
  w.line("constexpr int " + size + " = " + number(tile) + ", " + step + " = " + number(rows) + ";");
  w.line("__shared__ " + type + " " + buffer + "[" + size + "][" + size +
         " + 1];  // one more column: rows and columns start in different banks");
  w.lines(found->before);
  w.line("// In: neighbours in a warp load along " + found->in_axis->name + ".");
  const std::string header =
      "for (int " + i + " = threadIdx.y; " + i + " < " + size + "; " + i + " += " + step + ")";
  w.open(header);
  w.lines(declare(*found->in_axis, "threadIdx.x")).lines(declare(*found->out_axis, i));
  w.lines(found->places);
  w.line(guard + buffer + "[" + i +
         "][threadIdx.x] = " + unit.plain_text(replaceable(*found->load)->span) + ";");
  w.close();
  w.line("__syncthreads();");
  w.line("// Out: they store along " + found->out_axis->name + ".");
  w.open(header);
  w.lines(declare(*found->out_axis, "threadIdx.x")).lines(declare(*found->in_axis, i));
  w.lines(found->places);
  const Span load = replaceable(*found->load)->span;
  const std::string text = unit.plain_text({store->span.begin, load.begin}) + buffer +
                           "[threadIdx.x][" + i + "]" +
                           unit.plain_text({load.end, store->span.end});
  w.line(guard + text);
  w.close();
  Variant out = context.variant;
  const Span body = kernel.kernel->body->span;
  out.source = edited(unit.source(), {{body.begin + 1, body.end - 1, "\n" + w.text()}});
  const std::int64_t steps =
      found->rows == nullptr ? 1
                             : kernel.facts.resolved(*found->rows->trips).constant().value_or(0);
  for (const ThreadIndex* axis : {found->in_axis, found->out_axis}) {
    const auto at = static_cast<std::size_t>(axis->axis);
    const std::string covered = "(" + context.variant.launch.grid[at].text() + ") * (" +
                                context.variant.launch.block[at].text() + ")" +
                                (axis == found->rows_axis ? " * " + number(steps) : "");
    std::string extent = covered;
    const std::string grid = context.variant.launch.grid[at].text(),
                      tail = ", " + context.variant.launch.block[at].text() + ")";
    if (grid.starts_with("ceil_div(") && grid.ends_with(tail) && axis != found->rows_axis)
      extent = grid.substr(9, grid.size() - 9 - tail.size());
    const std::string blocks = "ceil_div(" + extent + ", " + number(tile) + ")",
                      beyond = blocks + " * " + number(tile) + " > " + covered;
    for (const Workload* one : workloads_of(context)) {
      const Bindings values = context.spec.bindings(*one, context.variant.tunables);
      if (!axis->bound && Expression::parse(beyond, "launch plan").evaluate(values, "launch plan"))
        return why = "tiles of " + number(tile) + " reach beyond the end, which nothing tests",
               std::nullopt;
    }
    out.launch.grid[at] = Expression::parse(blocks, "launch plan");
  }
  out.launch.block = {Expression(tile), Expression(rows), Expression(1)};
  return out;
}

}  // namespace warpath
