#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/blocks/serial_blocks.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/repeated_body.h"
#include "moves/edit/sites.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/points/common_loop.h"
#include "moves/points/outer_loop.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_summand.h"
#include "moves/tiles/tile_launch.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kPointsSite = "points";
/// Values of the points' outermost coordinate.
constexpr std::string_view kOuterSite = "outer";
/// Points in one common loop, along x and along y.
constexpr std::array<std::string_view, 2> kLoopSites{"loop_x", "loop_y"};
/// Points of neighbouring blocks of the launch, along x, y and z.
constexpr std::array<std::string_view, 3> kBlockSites{"blocks_x", "blocks_y", "blocks_z"};
constexpr std::array<std::array<std::int64_t, 2>, 4> kBlocks{{{8, 8}, {4, 4}, {8, 4}, {2, 2}}};
constexpr std::array<std::int64_t, 3> kPoints{4, 2, 8};
constexpr std::int64_t kThreadsM = 16, kThreadsN = 16;

/// A contraction with tm x tn outputs a thread and the sum's loop outside: each loaded element is
/// used tm or tn times.
std::optional<Variant> blocked_sum(const MoveContext& context,
                                   std::int64_t tm,
                                   std::int64_t tn,
                                   std::string& why) {
  const auto found = find_contraction(context, why);
  if (!found) return std::nullopt;
  const Contraction& c = *found;
  if (c.groups) return why = "the rows of a thread would belong to different groups", std::nullopt;
  if (c.accumulator_type != c.a.value_type && c.a.value_type != c.b.value_type)
    return why = "the factors have different types", std::nullopt;
  const Unit unit = parse(context.spec, context.variant);
  std::set<std::string, std::less<>> taken;
  const auto fresh = [&](std::string_view wish) { return fresh_name(unit, wish, &taken); };
  const std::string tm_name = fresh("TM"), tn_name = fresh("TN"), acc = fresh("acc"),
                    i = fresh("i"), j = fresh("j"), a = fresh("a_reg"), b = fresh("b_reg");
  const std::string m0 = fresh(c.m.name + "0"), n0 = fresh(c.n.name + "0");
  const auto block = [](std::size_t axis) { return std::string("blockIdx.") + "xyz"[axis]; };
  const auto divides = [](std::optional<std::int64_t> size, std::int64_t by) {
    return size && *size % by == 0;
  };
  const bool m_inside = divides(c.m.size, tm * kThreadsM),
             n_inside = divides(c.n.size, tn * kThreadsN);
  CodeWriter w(indent_unit(unit));
  w.lines(c.uniform_prologue(""));
  for (const std::string& guard : c.guards) w.line("if (!(" + guard + ")) return;");
  w.line("constexpr int " + tm_name + " = " + number(tm) + ", " + tn_name + " = " + number(tn) +
         ";  // outputs of a thread, " + number(kThreadsM) + " apart");
  w.line(c.m.type + " " + m0 + " = " + block(c.m_grid_axis) + " * (" + tm_name + " * " +
         number(kThreadsM) + ") + threadIdx.x / " + number(kThreadsN) + ";");
  w.line(c.n.type + " " + n0 + " = " + block(c.n_grid_axis) + " * (" + tn_name + " * " +
         number(kThreadsN) + ") + threadIdx.x % " + number(kThreadsN) + ";");
  const auto unrolled = [&](const std::string& index, const std::string& end) {
    w.line("#pragma unroll")
        .open("for (int " + index + " = 0; " + index + " < " + end + "; " + index + "++)");
  };
  w.line(c.accumulator_type + " " + acc + "[" + tm_name + "][" + tn_name + "];");
  unrolled(i, tm_name), unrolled(j, tn_name);
  w.line(acc + "[" + i + "][" + j + "] = " + c.initial + ";").close().close();
  w.open("for (" + c.k_type + " " + c.k + " = 0; " + c.k + " < " + c.k_extent + "; " + c.k + "++)");
  const auto load = [&](const ContractionOperand& o, const ContractionAxis& axis,
                        const std::string& reg, const std::string& index, const std::string& end,
                        const std::string& first, std::int64_t apart, bool inside) {
    w.line(o.value_type + " " + reg + "[" + end + "];");
    unrolled(index, end);
    w.line(axis.type + " " + axis.name + " = " + first + " + " + index + " * " + number(apart) +
           ";");
    w.lines(c.prologue_for(o.value, ""));
    w.line(reg + "[" + index + "] = " +
           (inside
                ? o.value
                : axis.name + " < " + axis.extent + " ? " + o.value + " : " +
                      (o.value_type == "float" ? "0.0f" : "static_cast<" + o.value_type + ">(0)")) +
           ";");
    w.close();
  };
  load(c.a, c.m, a, i, tm_name, m0, kThreadsM, m_inside);
  load(c.b, c.n, b, j, tn_name, n0, kThreadsN, n_inside);
  unrolled(i, tm_name), unrolled(j, tn_name);
  w.line(acc + "[" + i + "][" + j +
         "] += " + with_factors(c.product, a + "[" + i + "]", b + "[" + j + "]") + ";")
      .close()
      .close()
      .close();
  unrolled(i, tm_name), unrolled(j, tn_name);
  w.line(c.m.type + " " + c.m.name + " = " + m0 + " + " + i + " * " + number(kThreadsM) + ";");
  w.line(c.n.type + " " + c.n.name + " = " + n0 + " + " + j + " * " + number(kThreadsN) + ";");
  std::string condition = m_inside ? "" : c.m.name + " < " + c.m.extent;
  if (!n_inside) condition += (condition.empty() ? "" : " && ") + c.n.name + " < " + c.n.extent;
  if (!condition.empty()) w.open("if (" + condition + ")");
  w.line(c.accumulator_type + " " + c.accumulator + " = " + acc + "[" + i + "][" + j + "];");
  w.lines(c.prologue_for(c.epilogue, "")).lines(c.epilogue);
  if (!condition.empty()) w.close();
  w.close().close();
  Variant out = context.variant;
  out.source = with_body(context, c, w.text(), kThreadsM * kThreadsN);
  set_tile_launch(out.launch, c, tm * kThreadsM, tn * kThreadsN, kThreadsM * kThreadsN);
  return out;
}

/// Independent points: a thread makes `count` of them, a block's width apart.
std::optional<Variant> blocked_points(const MoveContext& context,
                                      std::int64_t count,
                                      std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  const KernelFacts& facts = kernel->facts;
  const Unit& unit = kernel->unit;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (auto veto = facts.threads_veto(); !veto.empty()) return none(std::move(veto));
  for (const Array& array : facts.arrays) {
    if (array.space == Space::shared) return none("the kernel uses shared memory");
  }
  for (const auto& loop : facts.loops) {
    if (!loop->trip_count) return none("a point takes a loop of unknown length");
  }
  const ThreadIndex* index = nullptr;
  for (const ThreadIndex& t : facts.thread_indices) {
    if (t.form == ThreadIndex::Form::global && t.axis == 0 && !t.name.empty() &&
        t.declarator != nullptr && t.bound)
      index = &t;
  }
  const Stmt* body = kernel->kernel->body;
  const Stmt* definition = index == nullptr ? nullptr : index->declarator->stmt;
  if (definition == nullptr || definition->parent != body || definition->declarators.size() != 1)
    return none("no bounded index of a thread along x");
  const std::vector<const Stmt*> all = statements(*body);
  if (definition == all.back()) return none("nothing follows the index");
  std::vector<Edit> edits;
  for (const Stmt* stmt : all) {
    bool bad = false;
    walk(*stmt, [&](const Stmt& s) {
      if (s.is(StmtKind::return_))
        edits.push_back({s.span.begin, s.span.begin + 6, "continue"}),
            bad = bad || enclosing_loop(s) != nullptr;
      bad = bad || s.is(StmtKind::goto_) || s.is(StmtKind::label) ||
            (s.is(StmtKind::return_) && stmt->span.begin < definition->span.begin);
      return true;
    });
    if (bad) return none("the kernel leaves from inside a loop");
  }
  const std::vector<const Stmt*> repeated(std::find(all.begin(), all.end(), definition) + 1,
                                          all.end());
  if (const std::string carried = carried_variable(*kernel, repeated); !carried.empty())
    return none(carried + " would go from one point to the next");
  bool other = false, along = false;  // at all, on the axis of the points
  walk_expressions(*body, [&](const Expr& e) {
    const bool inside =
        e.span.begin >= definition->span.begin && e.span.end <= definition->span.end;
    if (!inside && (e.is_name("threadIdx") || e.is_name("gridDim") ||
                    (e.is_name("blockIdx") && e.parent != nullptr && e.parent->name == "x")))
      other = true;
    const bool place = e.is_name("threadIdx") || e.is_name("blockIdx") || e.is_name("gridDim");
    const bool of_others =
        e.parent != nullptr && e.parent->is_op(ExprKind::member, ".") && e.parent->name != "x";
    if (!inside && place && !of_others) along = true;
    return true;
  });
  if (along) return none("the kernel uses its place in the launch beyond its index");
  if (other && context.variant.launch.block[1] == Expression(1))
    return none("the kernel uses its place in the launch beyond its index");
  std::set<std::string, std::less<>> taken;
  const std::string u = fresh_name(unit, "u", &taken), points = fresh_name(unit, "POINTS", &taken),
                    name = index->name;
  const std::string pad = indentation(unit, definition->span.begin), step = indent_unit(unit);
  const std::string type =
      index->declarator->has(kAuto) ? "int" : std::string(unit.text(index->declarator->type));
  edits.push_back({definition->span.begin, definition->span.end,
                   "constexpr int " + points + " = " + number(count) +
                       ";  // of a thread, a block's width apart\n" + pad + "#pragma unroll\n" +
                       pad + "for (int " + u + " = 0; " + u + " < " + points + "; " + u +
                       "++) {\n" + pad + step + type + " " + name + " = ((" + type +
                       ")blockIdx.x * " + points + " + " + u + ") * blockDim.x + threadIdx.x;"});
  const std::size_t next = unit.source().find('\n', definition->span.end);
  if (next != std::string_view::npos)
    indent_lines(unit.source(), next + 1, all.back()->span.end, step, edits);
  edits.push_back({all.back()->span.end, all.back()->span.end, "\n" + pad + "}"});
  Variant out = context.variant;
  out.source = edited(unit.source(), std::move(edits));
  const std::string grid = out.launch.grid[0].text();
  out.launch.grid[0] =
      Expression::parse("ceil_div(" + grid + ", " + number(count) + ")", "launch plan");
  return out;
}

std::optional<Variant> looped_points(const MoveContext& context,
                                     std::string_view site,
                                     std::int64_t count,
                                     std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  return site == kLoopSites[0]
             ? points_in_common_loop(context, *kernel, 0, count, PointOrder::apart, why)
             : points_in_common_loop(context, *kernel, 1, count, PointOrder::neighbours, why);
}

std::optional<Variant> outer_points(const MoveContext& context,
                                    std::int64_t count,
                                    std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  return points_in_outer_loop(context, *kernel, count, why);
}

std::optional<Variant> points_of_blocks(const MoveContext& context,
                                        std::string_view site,
                                        std::int64_t count,
                                        std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  const auto axis = static_cast<std::size_t>(site.back() - 'x');
  return blocks_in_turn(context, *kernel, axis, count, why);
}

bool is_block_site(std::string_view site) {
  return std::ranges::find(kBlockSites, site) != kBlockSites.end();
}

bool is_common_site(std::string_view site) {
  return std::ranges::find(kLoopSites, site) != kLoopSites.end();
}

/// Several outputs a thread: a rectangle of a sum of products, points of a kernel side by side in
/// the loops that they all run, or else one after the other, or along their outermost coordinate;
/// where none of these is found, those of neighbouring blocks, whatever their threads do.
class RegisterBlock final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "register_block"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    for (const auto& [tm, tn] : kBlocks) {
      if (!blocked_sum(context, tm, tn, why)) break;
      out.push_back({std::string(name()), std::string(kSumSite), {{"tm", tm}, {"tn", tn}}});
    }
    for (const std::string_view site : kLoopSites) {
      for (const std::int64_t count : kPoints) {
        if (!looped_points(context, site, count, why)) break;
        out.push_back({std::string(name()), std::string(site), {{"points", count}}});
      }
    }
    const bool common = !out.empty() && is_common_site(out.back().site);
    for (const std::int64_t count : kPoints) {
      if (!outer_points(context, count, why)) continue;
      out.push_back({std::string(name()), std::string(kOuterSite), {{"points", count}}});
    }
    for (const std::int64_t count : kPoints) {
      // one after the other they would share nothing that they can share in their loops
      if (common || !blocked_points(context, count, why)) break;
      out.push_back({std::string(name()), std::string(kPointsSite), {{"points", count}}});
    }
    if (!out.empty()) return out;
    for (const std::string_view site : kBlockSites) {
      for (const std::int64_t count : kPoints) {
        if (!points_of_blocks(context, site, count, why)) continue;
        out.push_back({std::string(name()), std::string(site), {{"points", count}}});
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site == kSumSite)
      return {{"tm", {1, 2, 4, 8}, 4, "rows of a thread"},
              {"tn", {1, 2, 4, 8}, 4, "columns of a thread"}};
    if (site == kPointsSite || site == kOuterSite || is_common_site(site) || is_block_site(site))
      return {{"points", {2, 3, 4, 8, 16}, 4, "points of a thread"}};
    return {};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    if (wanted.site == kSumSite)
      return blocked_sum(context, wanted.parameters.at("tm"), wanted.parameters.at("tn"), why);
    const std::int64_t points = wanted.parameters.at("points");
    if (wanted.site == kOuterSite) return outer_points(context, points, why);
    if (is_block_site(wanted.site)) return points_of_blocks(context, wanted.site, points, why);
    return is_common_site(wanted.site) ? looped_points(context, wanted.site, points, why)
                                       : blocked_points(context, points, why);
  }
};

}  // namespace

void register_move_register_block(MoveRegistry& registry) {
  registry.add("register_block", "several outputs a thread, operands in registers",
               [] { return on_known_shape(std::make_unique<RegisterBlock>()); });
}

}  // namespace warpath
