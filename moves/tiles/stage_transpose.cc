#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
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
  std::vector<std::string> conditions;  ///< that hold where it stores
  std::string before;                   ///< definitions of neither axis, kept at the top
};

bool is_unit(const KernelFacts& facts, const Access& access, int axis) {
  const std::string atom = std::string("threadIdx.") + "xyz"[axis];
  return access.index.affine_in(atom) &&
         facts.resolved(access.index.coefficient_of(atom)) == Polynomial(1);
}

std::optional<Exchange> find_exchange(const KernelModel& kernel, std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](const char* text) { return why = text, std::nullopt; };
  if (!facts.veto.empty()) return why = facts.veto, std::nullopt;
  if (facts.has_barrier || facts.has_warp_ops || facts.has_assembly)
    return none("the threads of a block work together already");
  if (!facts.loops.empty()) return none("the kernel has loops");
  Exchange out;
  std::vector<const ThreadIndex*> axes;
  for (const ThreadIndex& index : facts.thread_indices) {
    if (index.form == ThreadIndex::Form::global && !index.name.empty() &&
        index.declarator != nullptr)
      axes.push_back(&index);
  }
  if (axes.size() != 2) return none("the element is not chosen by two thread indices");
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
                     const Stmt& block,
                     Exchange& out,
                     const Stmt*& store,
                     std::string& why) {
  for (const Stmt* stmt : block.children) {
    const bool last = stmt == block.children.back();
    if (stmt->is(StmtKind::declaration) && !stmt->text_only) {
      for (const Declarator* d : stmt->declarators) {
        if (d->name == out.in_axis->name || d->name == out.out_axis->name) continue;
        const std::string text = std::string(kernel.unit.text(d->specifiers)) + " " +
                                 std::string(kernel.unit.text(d->span)) + ";";
        const auto names = names_in(text);
        if (names.contains("threadIdx") || names.contains(out.in_axis->name) ||
            names.contains(out.out_axis->name)) {
          return why = std::string(d->name) + " is made of thread indices", false;
        }
        out.before += text + "\n";
      }
    } else if (stmt->is(StmtKind::if_) && stmt->otherwise == nullptr && stmt->init == nullptr) {
      const std::vector<const Stmt*> inner = statements(*stmt->body);
      const std::string condition = kernel.unit.plain_text(stmt->expr->span);
      if (inner.size() == 1 && inner[0]->is(StmtKind::return_)) {
        out.conditions.push_back("!(" + condition + ")");
      } else if (last && stmt->body->is(StmtKind::block)) {
        out.conditions.push_back(condition);
        return read_statements(kernel, *stmt->body, out, store, why);
      } else if (last && inner.size() == 1) {
        out.conditions.push_back(condition);
        store = inner[0];
      } else {
        return why = "a branch is no guard", false;
      }
    } else if (stmt->is(StmtKind::expression) && last) {
      store = stmt;
    } else if (!stmt->is(StmtKind::empty)) {
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
  auto found = find_exchange(kernel, why);
  const Stmt* store = nullptr;
  if (!found || !read_statements(kernel, *kernel.kernel->body, *found, store, why))
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
    return words + " " + index.name + " = blockIdx." + letter(index) + " * " + size + " + " +
           inner + ";";
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
  w.line(declare(*found->in_axis, "threadIdx.x")).line(declare(*found->out_axis, i));
  w.line(guard + buffer + "[" + i +
         "][threadIdx.x] = " + unit.plain_text(replaceable(*found->load)->span) + ";");
  w.close();
  w.line("__syncthreads();");
  w.line("// Out: they store along " + found->out_axis->name + ".");
  w.open(header);
  w.line(declare(*found->out_axis, "threadIdx.x")).line(declare(*found->in_axis, i));
  const Span load = replaceable(*found->load)->span;
  const std::string text = unit.plain_text({store->span.begin, load.begin}) + buffer +
                           "[threadIdx.x][" + i + "]" +
                           unit.plain_text({load.end, store->span.end});
  w.line(guard + text);
  w.close();
  Variant out = context.variant;
  const Span body = kernel.kernel->body->span;
  out.source = edited(unit.source(), {{body.begin + 1, body.end - 1, "\n" + w.text()}});
  for (const ThreadIndex* axis : {found->in_axis, found->out_axis}) {
    const auto at = static_cast<std::size_t>(axis->axis);
    const std::string covered = "(" + context.variant.launch.grid[at].text() + ") * (" +
                                context.variant.launch.block[at].text() + ")";
    std::string extent = covered;
    const std::string grid = context.variant.launch.grid[at].text(),
                      tail = ", " + context.variant.launch.block[at].text() + ")";
    if (grid.starts_with("ceil_div(") && grid.ends_with(tail))
      extent = grid.substr(9, grid.size() - 9 - tail.size());
    out.launch.grid[at] =
        Expression::parse("ceil_div(" + extent + ", " + number(tile) + ")", "launch plan");
  }
  out.launch.block = {Expression(tile), Expression(rows), Expression(1)};
  return out;
}

}  // namespace warpath
