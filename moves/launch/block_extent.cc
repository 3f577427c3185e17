#include "moves/launch/block_extent.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/text/source_edit.h"
#include "moves/edit/device_limits.h"
#include "moves/launch/block_constants.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

constexpr std::array<std::string_view, 3> kAxisNames{"x", "y", "z"};

std::optional<std::int64_t> constant_extent(const Expression& expression) {
  if (!expression.is_constant()) return std::nullopt;
  return expression.evaluate({}, "block");
}

/// Integers in the canonical text of an expression; negative numbers appear without their sign.
std::vector<std::int64_t> numbers_in(const std::string& text) {
  return integer_literals(CodeText(text));
}

bool contains(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// `expression` with the block's extent `from` replaced by `to`, also in the form (n + from - 1) /
/// from. nullopt if the text would no longer tell the extent from other numbers, so that the way
/// back would be lost.
std::optional<Expression> with_extent(const Expression& expression,
                                      std::int64_t from,
                                      std::int64_t to) {
  const std::string& text = expression.text();
  const std::vector<std::int64_t> numbers = numbers_in(text);
  if (!contains(numbers, from)) return expression;
  if (contains(numbers, to) || contains(numbers, to - 1)) return std::nullopt;
  const CodeText code(text);
  std::vector<Edit> edits;
  for (const Token& token : code.tokens) {
    if (token.kind != TokenKind::number) continue;
    const auto value = integer_value(spelling(text, token));
    if (value == from) edits.push_back({token.begin, token.end, std::to_string(to)});
    if (value == from - 1) edits.push_back({token.begin, token.end, std::to_string(to - 1)});
  }
  return Expression::parse(edited(text, std::move(edits)), "launch plan");
}

/// The source asks for blockDim.<axis>.
bool reads_extent(const CodeText& code, std::size_t axis) {
  for (std::size_t i = 0; i + 2 < code.tokens.size(); ++i) {
    if (code.is(i, "blockDim") && code.is(i + 1, ".") && code.is(i + 2, kAxisNames[axis]))
      return true;
  }
  return false;
}

/// Any number of blocks does the work: threads stride over it.
bool strides(const CodeText& code, std::size_t axis) {
  for (std::size_t i = 0; i + 2 < code.tokens.size(); ++i) {
    if (code.is(i, "gridDim") && code.is(i + 2, kAxisNames[axis])) return true;
    if (code.is(i, "+=") && code.is(i + 1, "blockDim") && code.is(i + 3, kAxisNames[axis]))
      return true;
  }
  return false;
}

/// The thread's number in its block along the axis, by itself.
bool is_number_in_block(const model::Unit& unit, const model::Expr& expr, std::size_t axis) {
  const model::Expr& e = model::strip_casts(expr);
  if (e.is_op(model::ExprKind::member, "."))
    return e.arg(0).is_name("threadIdx") && unit.text(e).ends_with(kAxisNames[axis]);
  const model::Declarator* const d =
      e.is(model::ExprKind::name) ? model::declaration_of(unit, e) : nullptr;
  return d != nullptr && d->value() != nullptr && !d->value()->is(model::ExprKind::name) &&
         is_number_in_block(unit, *d->value(), axis);
}

/// The condition of a loop that all threads of the block stride through together.
bool ends_stride(const model::Unit& unit, const model::Expr& condition) {
  const model::Stmt* const loop = condition.stmt;
  return loop != nullptr && loop->is(model::StmtKind::for_) && loop->expr == &condition &&
         unit.text(loop->header).find("blockDim") != std::string_view::npos;
}

/// Threads that the text counts on along the axis: those below a number that it compares with.
std::int64_t counted_on(const model::Unit& unit, std::size_t axis) {
  std::int64_t most = 0;
  for (const model::Function* const function : unit.functions()) {
    if (function->body == nullptr) continue;
    model::walk_expressions(*function->body, [&](const model::Expr& e) {
      if (!e.is(model::ExprKind::binary) || e.args.size() != 2) return true;
      const bool order = e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=";
      if ((!order && e.op != "==" && e.op != "!=") || ends_stride(unit, e)) return true;
      for (const bool right : {false, true}) {
        if (!is_number_in_block(unit, e.arg(right ? 1 : 0), axis)) continue;
        const bool below = e.op == "<" || e.op == ">=";
        const bool flipped = e.op == ">" || e.op == "<=";
        const auto value = model::constant_value(unit, e.arg(right ? 0 : 1));
        const bool exclusive = right ? flipped : below;
        if (value) most = std::max(most, exclusive ? *value : *value + 1);
      }
      return true;
    });
  }
  return most;
}

/// More than the number of the thread in the grid goes into a value: its place in the block, or the
/// block's or the grid's extent.
bool tells_of_block(const model::Polynomial& value, const std::string& dot) {
  const model::Polynomial block =
      model::Polynomial::name("blockIdx" + dot) * model::Polynomial::name("blockDim" + dot);
  const model::Polynomial rest =
      value.substituted("threadIdx" + dot, model::Polynomial::name("thread") - block);
  return rest.mentions("blockDim" + dot) || rest.mentions("blockIdx" + dot) ||
         rest.mentions("gridDim" + dot);
}

/// The kernel writes how its threads are arranged along the axis, or, unless it is a block's
/// `own` affair, threads take memory of the device by their numbers in the block: what is done
/// there depends on how many they are.
bool tells_apart(const MoveContext& context, std::size_t axis, bool own) {
  std::string why;
  const auto model = model::model_kernel(context.spec, context.variant, why);
  if (model == nullptr) return false;
  const std::string dot = "." + std::string(kAxisNames[axis]);
  const auto& facts = model->facts;
  return std::ranges::any_of(facts.accesses, [&](const model::Access& access) {
    const auto& array = facts.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != model::Space::global) return false;
    const model::Expr* const up = access.expr->parent;
    if (up != nullptr && up->is(model::ExprKind::assign) && up->args[0] == access.expr) {
      const model::Polynomial value = facts.polynomial(up->arg(1));
      if (value.is_known() && tells_of_block(value, dot)) return true;
    }
    return !own && access.index.mentions("threadIdx" + dot) && tells_of_block(access.index, dot);
  });
}

/// A comparison of the kernel counts blocks, or elements that a whole block has, as those behind
/// the last or far from the edges: a grid of other blocks is not what it was made for.
bool counts_blocks(const model::KernelModel& model, std::size_t axis) {
  const std::string dot = "." + std::string(kAxisNames[axis]);
  bool found = false;
  model::walk_expressions(*model.kernel->body, [&](const model::Expr& e) {
    const bool order = e.is(model::ExprKind::binary) && e.args.size() == 2 &&
                       (e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=" ||
                        e.op == "==" || e.op == "!=");
    if (!order) return true;
    const model::Polynomial difference =
        model.facts.polynomial(e.arg(0)) - model.facts.polynomial(e.arg(1));
    const bool of_blocks =
        difference.mentions("blockIdx" + dot) || difference.mentions("gridDim" + dot);
    found = found || (difference.is_known() && of_blocks && tells_of_block(difference, dot));
    return true;
  });
  return found;
}

/// The numbers in brackets of `__shared__` declarations: how many elements threads have there.
std::vector<std::int64_t> shared_extents(const CodeText& code) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is(i, "__shared__")) continue;
    for (std::size_t depth = 0; i < code.tokens.size() && !code.is(i, ";"); ++i) {
      if (code.is(i, "[")) ++depth;
      if (code.is(i, "]")) --depth;
      const auto value = depth > 0 ? integer_value(code.text[i]) : std::nullopt;
      if (value) out.push_back(*value);
    }
  }
  return out;
}

}  // namespace

std::vector<BlockExtent> free_block_extents(const MoveContext& context, std::string& why) {
  const LaunchPlan& plan = context.variant.launch;
  if (std::any_of(context.spec.workloads.begin(), context.spec.workloads.end(),
                  [](const Workload& w) { return w.launch.has_value(); })) {
    return {};  // plans of single workloads would be lost
  }
  const CodeText code(context.variant.source);
  std::vector<std::int64_t> literals = integer_literals(code);
  const std::vector<std::int64_t> room = shared_extents(code);
  for (const std::int64_t value : room) {
    if (const auto at = std::ranges::find(literals, value); at != literals.end())
      literals.erase(at);
  }
  std::vector<std::string> outside = context.variant.compiler_options;
  outside.push_back(context.variant.kernel_name);
  for (const std::string& text : outside) {
    const std::vector<std::int64_t> more = numbers_in(text);
    literals.insert(literals.end(), more.begin(), more.end());
  }
  std::int64_t threads = 1;
  for (const Expression& extent : plan.block) threads *= constant_extent(extent).value_or(0);
  if (code.ambiguous || threads < 1 || contains(literals, threads)) return {};
  std::string unread;
  const auto model = model::model_kernel(context.spec, context.variant, unread);
  const auto own =
      model ? std::nullopt : std::optional(model::parse(context.spec, context.variant));
  const model::Unit& unit = model ? model->unit : *own;
  const auto smem = constant_extent(plan.dynamic_smem_bytes);
  std::vector<BlockExtent> out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = *constant_extent(plan.block[axis]);
    if (extent == 1) continue;
    const bool in_grid = contains(numbers_in(plan.grid[axis].text()), extent);
    const bool in_smem = contains(numbers_in(plan.dynamic_smem_bytes.text()), extent);
    if (contains(literals, extent) || !reads_extent(code, axis)) return {};
    if ((!in_grid && !strides(code, axis)) || (smem != 0 && !in_smem) ||
        tells_apart(context, axis, in_grid))
      return {};
    if (in_grid && model && counts_blocks(*model, axis))
      return why = "a comparison counts its blocks", std::vector<BlockExtent>();
    std::int64_t least = counted_on(unit, axis);
    if (extent < least) return {};
    BlockExtent found{.axis = axis, .current = extent, .values = {}};
    std::int64_t most = kMaxThreads;
    for (const std::int64_t value : room) {
      if (value >= extent) most = std::min(most, value);
    }
    // If an array has room for a fixed number of threads, code may count warps by a literal and
    // rely on there being several.
    for (const std::int64_t value : literals) {
      const bool power = value >= 8 && (value & (value - 1)) == 0;
      if (most < kMaxThreads && power && value < extent) least = std::max(least, 2 * value);
    }
    for (std::int64_t v = axis == 0 ? 4 : 1; v <= most; v *= 2) {
      if (v >= least || v == extent) found.values.push_back(v);
    }
    out.push_back(std::move(found));
  }
  BlockNumbers numbers{.threads = threads, .extents = {}, .together = true};
  for (const BlockExtent& extent : out) numbers.extents.push_back(extent.current);
  if (model)
    numbers.together =
        model->facts.has_barrier || model->facts.has_warp_ops || !model->facts.veto.empty();
  if (why = tie_to_block(unit, context.variant, numbers); !why.empty()) return {};
  if (out.size() > 1 && smem != 0) return {};  // the axis of a number there is unknown
  if (out.size() == 1) std::erase_if(out[0].values, [](std::int64_t v) { return v < kWarp; });
  return out;
}

bool set_block_extent(LaunchPlan& plan, const BlockExtent& extent, std::int64_t to) {
  const auto grid = with_extent(plan.grid[extent.axis], extent.current, to);
  const auto smem = with_extent(plan.dynamic_smem_bytes, extent.current, to);
  if (!grid || !smem) return false;
  plan.grid[extent.axis] = *grid;
  plan.dynamic_smem_bytes = *smem;
  plan.block[extent.axis] = Expression(to);
  return true;
}

}  // namespace warpath
