#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/device_limits.h"
#include "moves/edit/sites.h"
#include "moves/model/facts.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::size_t kMostShapes = 64;
constexpr std::array<std::string_view, 3> kAxisNames{"x", "y", "z"};

/// One number that shapes the block: a tunable in its expressions, or an axis that is a plain
/// constant.
struct Dimension {
  std::string parameter;             ///< the tunable's name, or "block_x"
  std::vector<std::int64_t> values;  ///< ascending
  std::int64_t current = 0;
  std::optional<std::size_t> axis;  ///< of a constant; none for a tunable
};

std::optional<std::int64_t> constant(const Expression& expression) {
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

/// Threads that the text counts on along the axis: those below a number that it compares with.
std::int64_t counted_on(const model::Unit& unit, std::size_t axis) {
  std::int64_t most = 0;
  for (const model::Function* const function : unit.functions()) {
    if (function->body == nullptr) continue;
    model::walk_expressions(*function->body, [&](const model::Expr& e) {
      if (!e.is(model::ExprKind::binary) || e.args.size() != 2) return true;
      const bool order = e.op == "<" || e.op == "<=" || e.op == ">" || e.op == ">=";
      if (!order && e.op != "==" && e.op != "!=") return true;
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

/// Constants of the block that may change. A literal of the same value in the source or the options
/// (a __launch_bounds__, a macro, a loop's end) may stand for the block's size: then none. As the
/// extent of a shared array it only says for how many threads there is room.
std::vector<Dimension> constant_dimensions(const MoveContext& context) {
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
  for (const std::string& option : context.variant.compiler_options) {
    const std::vector<std::int64_t> more = numbers_in(option);
    literals.insert(literals.end(), more.begin(), more.end());
  }
  std::int64_t threads = 1;
  for (const Expression& extent : plan.block) threads *= constant(extent).value_or(0);
  if (code.ambiguous || threads < 1 || contains(literals, threads)) return {};
  const model::Unit unit = model::parse(context.spec, context.variant);
  const auto smem = constant(plan.dynamic_smem_bytes);
  std::vector<Dimension> out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = *constant(plan.block[axis]);
    if (extent == 1) continue;
    const bool in_grid = contains(numbers_in(plan.grid[axis].text()), extent);
    const bool in_smem = contains(numbers_in(plan.dynamic_smem_bytes.text()), extent);
    if (contains(literals, extent) || !reads_extent(code, axis)) return {};
    if ((!in_grid && !strides(code, axis)) || (smem != 0 && !in_smem) ||
        tells_apart(context, axis, in_grid))
      return {};
    std::int64_t least = counted_on(unit, axis);
    if (extent < least) return {};
    Dimension d{"block_" + std::string(kAxisNames[axis]), {}, extent, axis};
    std::int64_t most = kMaxThreads;
    for (const std::int64_t value : room) {
      if (value >= extent) most = std::min(most, value);
    }
    // Where there is room for the block's threads, what counts warps may count on several.
    for (const std::int64_t value : literals) {
      const bool power = value >= 8 && (value & (value - 1)) == 0;
      if (most < kMaxThreads && power && value < extent) least = std::max(least, 2 * value);
    }
    for (std::int64_t v = axis == 0 ? 4 : 1; v <= most; v *= 2) {
      if (v >= least || v == extent) d.values.push_back(v);
    }
    out.push_back(std::move(d));
  }
  if (out.size() > 1 && smem != 0) return {};  // which axis a number there stands for is open
  if (out.size() == 1) std::erase_if(out[0].values, [](std::int64_t v) { return v < kWarp; });
  return out;
}

std::vector<Dimension> tunable_dimensions(const MoveContext& context) {
  std::set<std::string> names;
  for (const Expression& extent : context.variant.launch.block) names.merge(extent.names());
  std::vector<Dimension> out;
  for (const Tunable& tunable : context.spec.tunables) {
    const auto current = context.variant.tunables.find(tunable.name);
    if (names.contains(tunable.name) && current != context.variant.tunables.end()) {
      out.push_back({tunable.name, tunable.values, current->second, std::nullopt});
    }
  }
  return out;
}

std::vector<Dimension> dimensions(const MoveContext& context) {
  std::vector<Dimension> out = tunable_dimensions(context);
  return out.empty() ? constant_dimensions(context) : out;
}

/// Distance of two extents in doublings; 0 and negative values of a tunable count as 1.
double doublings(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(a, 1))) -
                  std::log2(static_cast<double>(std::max<std::int64_t>(b, 1))));
}

/// Changes the number of threads a block, in all axes at once: by the tunables that the plan's
/// block is made of, or else by rewriting a constant block together with the grid, where the kernel
/// reads its size from blockDim.
class ChangeBlockSizes final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "change_block_sizes"; }

  /// Nearest shapes first (sum over the axes of the distance in doublings), at most kMostShapes.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    const std::vector<Dimension> dims = dimensions(context);
    if (dims.empty()) return {};
    std::vector<std::pair<double, MoveParameters>> shapes{{0.0, {}}};
    for (const Dimension& d : dims) {
      std::vector<std::pair<double, MoveParameters>> longer;
      for (const auto& [distance, shape] : shapes) {
        for (const std::int64_t value : d.values) {
          longer.emplace_back(distance + doublings(value, d.current), shape);
          longer.back().second[d.parameter] = value;
        }
      }
      std::stable_sort(longer.begin(), longer.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      if (longer.size() > kMostShapes * 4) longer.resize(kMostShapes * 4);
      shapes = std::move(longer);
    }
    std::vector<MoveInstance> out;
    std::string why;
    for (auto& [distance, shape] : shapes) {
      MoveInstance instance{std::string(name()), std::string(kLaunchSite), std::move(shape)};
      if (!whole_warps(dims, instance.parameters)) continue;
      if (out.size() < kMostShapes && rewritten(context, dims, instance.parameters, why))
        out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    std::vector<Tunable> out;
    if (site != kLaunchSite) return out;
    for (const Dimension& d : dimensions(context)) {
      if (!d.values.empty())
        out.push_back(
            {d.parameter, d.values, d.values.front(), "threads a block, this axis or factor"});
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (wanted.site != kLaunchSite)
      return why = "change_block_sizes applies to the launch only", std::nullopt;
    return rewritten(context, dimensions(context), wanted.parameters, why);
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    MoveInstance out{std::string(name()), std::string(kLaunchSite), {}};
    for (const Dimension& d : dimensions(context)) {
      if (!contains(d.values, d.current)) return std::nullopt;
      const auto value = done.parameters.find(d.parameter);
      // no dimension any more
      if (d.axis && value != done.parameters.end() && value->second == 1) return std::nullopt;
      out.parameters[d.parameter] = d.current;
    }
    return done.site == kLaunchSite && !out.parameters.empty() ? std::optional(out) : std::nullopt;
  }

 private:
  /// Of constant axes. What tunables make of the block is checked against the spec's constraints by
  /// the proposer.
  static bool whole_warps(const std::vector<Dimension>& dims, const MoveParameters& parameters) {
    std::int64_t threads = 1;
    for (const Dimension& d : dims) {
      if (!d.axis) return true;
      threads *= parameters.at(d.parameter);
    }
    return threads <= kMaxThreads && threads % kWarp == 0;
  }

  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const std::vector<Dimension>& dims,
                                          const MoveParameters& parameters,
                                          std::string& why) {
    if (dims.empty()) return why = "the kernel's block size is not free", std::nullopt;
    Variant out = context.variant;
    for (const Dimension& d : dims) {
      const auto value = parameters.find(d.parameter);
      if (value == parameters.end() || parameters.size() != dims.size()) {
        return why = "change_block_sizes needs a value of each of its parameters, " + d.parameter +
                     " among them",
               std::nullopt;
      }
      if (!contains(d.values, value->second))
        return why = std::to_string(value->second) + " is no value of " + d.parameter, std::nullopt;
      if (!d.axis) {
        out.tunables[d.parameter] = value->second;
      } else if (value->second != d.current &&
                 !set_axis(out.launch, *d.axis, d.current, value->second)) {
        return why =
                   "the launch plan uses " + std::to_string(value->second) + " for something else",
               std::nullopt;
      }
    }
    if (out == context.variant) return why = "the block has this size already", std::nullopt;
    return out;
  }

  static bool set_axis(LaunchPlan& plan, std::size_t axis, std::int64_t from, std::int64_t to) {
    const auto grid = with_extent(plan.grid[axis], from, to);
    const auto smem = with_extent(plan.dynamic_smem_bytes, from, to);
    if (!grid || !smem) return false;
    plan.grid[axis] = *grid;
    plan.dynamic_smem_bytes = *smem;
    plan.block[axis] = Expression(to);
    return true;
  }
};

}  // namespace

void register_move_change_block_sizes(MoveRegistry& registry) {
  registry.add("change_block_sizes", "change the threads a block, and the grid with them",
               [] { return std::make_unique<ChangeBlockSizes>(); });
}

}  // namespace warpath
