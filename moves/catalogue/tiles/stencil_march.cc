#include <algorithm>
#include <array>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/known_shape.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/march_plan.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

// planes, width, ahead
constexpr std::array<std::array<std::int64_t, 3>, 7> kMarches{
    {{64, 4, 1}, {64, 4, 0}, {32, 4, 1}, {64, 1, 1}, {64, 1, 0}, {32, 1, 1}, {16, 1, 0}}};

struct MarchShape {
  std::int64_t planes = 64;  ///< points along the marched axis a thread
  std::int64_t width = 1;    ///< points side by side a thread
  std::int64_t ahead = 0;    ///< planes that are loaded before they are needed
};

/// Rewrites a stencil: the slowest axis becomes a loop, and a thread makes `width` points side by
/// side.
class March {
 public:
  March(const MoveContext& context,
        const KernelModel& kernel,
        const MarchShape& shape,
        std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        planes_(shape.planes),
        width_(shape.width),
        ahead_(shape.ahead),
        why_(why) {}

  std::optional<Variant> write() {
    auto plan = plan_march(context_, kernel_, width_, why_);
    if (!plan) return std::nullopt;
    plan_ = std::move(*plan);
    edits_ = std::move(plan_.guards);
    return rewritten();
  }

 private:
  /// Index of the point with the axes as names: the store's, with locals of the region replaced.
  [[nodiscard]] std::string center() const {
    const Access& store = *plan_.stencil.stores[0];
    const Expr& index = store.expr->arg(1);
    const Declarator* named = index.is(ExprKind::name) ? declaration_of(unit_, index) : nullptr;
    if (named != nullptr && named->value() != nullptr && named->stmt != nullptr &&
        only_outer_names(*named->value()) && facts_.polynomial(*named->value()) == store.index)
      return unit_.plain_text(named->value()->span);
    Polynomial value = store.source_index;
    for (int depth = 0; depth < 8; ++depth) {
      bool changed = false;
      for (const std::string& name : value.names()) {
        const Declarator* d = visible(unit_, *kernel_.kernel, name, store.expr->span.begin);
        if (d == nullptr || d->stmt == nullptr || d->value() == nullptr || !in_region(*d->stmt))
          continue;
        value = value.substituted(name, facts_.source_polynomial(*d->value()));
        changed = true;
      }
      if (!changed) break;
    }
    return value.text();
  }

  [[nodiscard]] bool in_region(const Stmt& stmt) const {
    return std::any_of(plan_.region.begin(), plan_.region.end(),
                       [&](const Stmt* r) { return is_inside(stmt, *r); });
  }

  [[nodiscard]] bool only_outer_names(const Expr& e) const {
    bool ok = true;
    walk(e, [&](const Expr& sub) {
      const Declarator* d = sub.is(ExprKind::name) ? declaration_of(unit_, sub) : nullptr;
      if (d != nullptr && d->stmt != nullptr && in_region(*d->stmt)) ok = false;
      return true;
    });
    return ok;
  }

  std::string fresh(const std::string& wish) { return fresh_name(unit_, wish, &plan_.taken); }

  /// `target = array[index]` of one point, or of the thread's points at once; only where `inside`
  /// holds.
  void write_load(CodeWriter& w,
                  const std::string& target,
                  const StencilLine& line,
                  const std::string& index,
                  const std::string& inside) {
    if (width_ == 1) {
      w.line(target + " = " + inside + " ? " + line.array->name + "[" + index +
             "] : " + (line.array->type == "float" ? "0.0f" : line.array->type + "()") + ";");
    } else {
      w.line("if (" + inside + ") *reinterpret_cast<float4*>(" + target +
             ") = *reinterpret_cast<const float4*>(&" + line.array->name + "[" + index + "]);");
    }
  }

  [[nodiscard]] std::string declared(const StencilLine& line,
                                     const std::string& name,
                                     const std::string& extents) const {
    return width_ == 1 ? line.array->type + " " + name + extents + ";"
                       : "alignas(16) float " + name + extents + " = {};";
  }

  std::optional<Variant> rewritten() {
    const std::string index = center(), first = fresh(plan_.slow.name + "_first"),
                      last = fresh(plan_.slow.name + "_last"), size = fresh("PLANES"),
                      d = fresh("d"), u = fresh("u");
    const std::string type = plan_.stencil.axes.front().type, z = plan_.slow.name,
                      side = width_ == 1 ? "" : "[" + number(width_) + "]";
    const std::size_t begin = line_of_statement(unit_.source(), plan_.region.front()->span.begin);
    const std::string pad = indentation(unit_, plan_.region.front()->span.begin),
                      step = indent_unit(unit_);
    CodeWriter head(step, 0);
    head.line("// March along " + z +
              ": each thread keeps the points before and behind its own in registers.");
    head.line("constexpr int " + size + " = " + number(planes_) + ";");
    head.line(type + " " + first + " = blockIdx." + std::string(1, "xyz"[plan_.slow.axis]) + " * " +
              size + ";");
    head.line(type + " " + last + " = " + first + " + " + size + " < " + plan_.slow.end + " ? " +
              first + " + " + size + " : " + plan_.slow.end + ";");
    CodeWriter inside(step, 1);
    const auto at = [&](const std::string& z_text) {
      std::vector<std::pair<std::string, std::string>> names{{z, z_text}};
      if (width_ > 1) names.emplace_back(plan_.side.name, plan_.side_first);
      return with_names(index, names);
    };
    for (const StencilLine& line : plan_.stencil.lines) {
      if (line.axis == 0) {
        const std::int64_t high = line.high + ahead_;
        const std::string count = number(line.low + high + 1), reach = number(line.low + high);
        if (line.low == 0 && line.high == 0 && width_ == 1) continue;
        const std::string name = fresh(line.array->name + "_column");
        head.line(declared(line, name, "[" + count + "]" + side));
        head.line("#pragma unroll")
            .open("for (int " + d + " = 1; " + d + " < " + count + "; " + d + "++)");
        head.line(type + " " + z + " = " + first + " + " + d + " - " + number(line.low + 1) + ";");
        write_load(head, name + "[" + d + "]", line, at(z),
                   z + " >= 0 && " + z + " < " + plan_.slow.end);
        head.close();
        inside.line("#pragma unroll")
            .open("for (int " + d + " = 0; " + d + " < " + reach + "; " + d + "++)");
        if (width_ == 1) inside.line(name + "[" + d + "] = " + name + "[" + d + " + 1];");
        if (width_ > 1)
          inside.line("#pragma unroll")
              .line("for (int " + u + " = 0; " + u + " < " + number(width_) + "; " + u + "++) " +
                    name + "[" + d + "][" + u + "] = " + name + "[" + d + " + 1][" + u + "];");
        inside.close();
        write_load(inside, name + "[" + reach + "]", line, at("(" + z + " + " + number(high) + ")"),
                   z + " + " + number(high) + " < " + plan_.slow.end);
        edit_loads(line, name, line.low, u);
      } else if (width_ > 1 && line.axis + 1 == plan_.stencil.axes.size()) {
        write_row(inside, line, at(z), d, u);
      } else if (width_ > 1) {
        write_across(inside, line, at(z), d, u);
      }
    }
    const std::string store_name =
                          facts_.arrays[static_cast<std::size_t>(plan_.stencil.stores[0]->array)]
                              .name,
                      made = fresh(store_name + "_points");
    if (width_ > 1) {
      inside.line("alignas(16) float " + made + "[" + number(width_) + "];");
      inside.line("#pragma unroll")
          .open("for (int " + u + " = 0; " + u + " < " + number(width_) + "; " + u + "++)");
      inside.line(plan_.stencil.axes.back().type + " " + plan_.side.name + " = " +
                  plan_.side_first + " + " + u + ";");
      for (const Access* store : plan_.stencil.stores)
        edits_.push_back({store->expr->span.begin, store->expr->span.end, made + "[" + u + "]"});
    }
    head.line("for (" + type + " " + z + " = " + first + "; " + z + " < " + last + "; " + z +
              "++) {");
    edits_.push_back({begin, begin, CodeWriter(pad, 1).lines(head.text() + inside.text()).text()});
    const std::size_t end = plan_.region.back()->span.end;
    indent_lines(unit_.source(), begin, end, width_ > 1 ? step + step : step, edits_);
    std::string tail = "\n";
    if (width_ > 1) {
      tail += pad + step + "}\n" + pad + step + "*reinterpret_cast<float4*>(&" + store_name + "[" +
              at(z) + "]) = *reinterpret_cast<const float4*>(" + made + ");\n";
    }
    edits_.push_back({end, end, tail + pad + "}"});
    return finished();
  }

  /// The points left and right of the thread's own, as one row of registers.
  void write_row(CodeWriter& w,
                 const StencilLine& line,
                 const std::string& index,
                 const std::string& d,
                 const std::string& u) {
    const std::string name = fresh(line.array->name + "_row");
    w.line(declared(line, name, "[" + number(3 * kMarchWidth) + "]"));
    w.line("#pragma unroll").open("for (int " + d + " = 0; " + d + " < 3; " + d + "++)");
    const std::string x = plan_.side_first + " + (" + d + " - 1) * " + number(kMarchWidth);
    write_load(w, name + " + " + d + " * " + number(kMarchWidth), line,
               with_names(index, {{plan_.side_first, "(" + x + ")"}}),
               x + " >= 0 && " + x + " < " + plan_.side.end);
    w.close();
    for (const LineLoad& load : line.loads)
      edits_.push_back({replaceable(*load.access)->span.begin, replaceable(*load.access)->span.end,
                        name + "[" + u + " + " + place(load, kMarchWidth) + "]"}),
          unroll(load);
  }

  /// The points along an axis between, a row of registers each.
  void write_across(CodeWriter& w,
                    const StencilLine& line,
                    const std::string& index,
                    const std::string& d,
                    const std::string& u) {
    const StencilAxis& axis = plan_.stencil.axes[line.axis];
    const std::string name = fresh(line.array->name + "_across"), y = axis.index->name,
                      moved = y + " + " + d + " - " + number(line.low);
    w.line(
        declared(line, name, "[" + number(line.low + line.high + 1) + "][" + number(width_) + "]"));
    w.line("#pragma unroll")
        .open("for (int " + d + " = 0; " + d + " < " + number(line.low + line.high + 1) + "; " + d +
              "++)");
    const std::string end = axis.index->bound ? axis.index->bound->text() : std::string();
    write_load(w, name + "[" + d + "]", line, with_names(index, {{y, "(" + moved + ")"}}),
               moved + " >= 0 && " + moved + " < " + end);
    w.close();
    edit_loads(line, name, line.low, u);
  }

  /// "4 - r": where the load lies on a line whose point has this place.
  static std::string place(const LineLoad& load, std::int64_t point) {
    const std::int64_t constant = point + load.constant;
    if (load.loop == nullptr) return number(constant);
    const std::string r = load.per_r == 1 || load.per_r == -1
                              ? load.loop->variable
                              : number(std::abs(load.per_r)) + " * " + load.loop->variable;
    return constant == 0 && load.per_r > 0
               ? r
               : number(constant) + (load.per_r > 0 ? " + " : " - ") + r;
  }

  void edit_loads(const StencilLine& line,
                  const std::string& name,
                  std::int64_t point,
                  const std::string& u) {
    for (const LineLoad& load : line.loads) {
      const std::string side = width_ > 1 ? "[" + u + "]" : "";
      edits_.push_back({replaceable(*load.access)->span.begin, replaceable(*load.access)->span.end,
                        name + "[" + place(load, point) + "]" + side});
      unroll(load);
    }
  }

  void unroll(const LineLoad& load) {
    if (load.loop == nullptr || load.loop->stmt->pragma != nullptr ||
        !unrolled_.insert(load.loop->stmt).second)
      return;
    const std::size_t at = load.loop->stmt->span.begin;
    const std::string step = indent_unit(unit_);
    edits_.push_back(
        {at, at, "#pragma unroll\n" + indentation(unit_, at) + step + (width_ > 1 ? step : "")});
  }

  std::optional<Variant> finished() {
    const Span z_line =
        whole_lines(unit_, plan_.stencil.axes.front().index->declarator->stmt->span);
    edits_.push_back({z_line.begin, z_line.end, ""});
    if (width_ > 1) {
      const Declarator& x = *plan_.stencil.axes.back().index->declarator;
      const Span value = x.value()->outer.empty() ? x.value()->span : x.value()->outer;
      edits_.push_back({x.name_span.begin, x.name_span.end, plan_.side_first});
      edits_.push_back(
          {value.begin, value.end, "(" + unit_.plain_text(value) + ") * " + number(width_)});
    }
    for (const Stmt* stmt : plan_.returns)
      edits_.push_back({stmt->span.begin, stmt->span.begin + 6, "continue"});
    Variant out = context_.variant;
    out.source = edited(unit_.source(), std::move(edits_));
    try {
      out.launch.grid[plan_.slow.axis] = Expression::parse(
          "ceil_div(" + points(plan_.slow.axis, plan_.stencil.axes.front().on_blocks) + ", " +
              number(planes_) + ")",
          "launch plan");
      out.launch.block[plan_.slow.axis] = Expression(1);
      if (width_ > 1) {
        const std::string threads =
            number(width_) + " * (" + context_.variant.launch.block[plan_.side.axis].text() + ")";
        out.launch.grid[plan_.side.axis] = Expression::parse(
            "ceil_div(" + points(plan_.side.axis, false) + ", " + threads + ")", "launch plan");
      }
    } catch (const Error&) {
      return why_ = "the launch does not say how many points there are", std::nullopt;
    }
    return out;
  }

  /// How many points the launch has along an axis.
  [[nodiscard]] std::string points(std::size_t axis, bool on_blocks) const {
    std::string grid = context_.variant.launch.grid[axis].text();
    const std::string block = context_.variant.launch.block[axis].text(), tail = ", " + block + ")";
    if (on_blocks) return grid;
    if (grid.starts_with("ceil_div(") && grid.ends_with(tail))
      return grid.substr(9, grid.size() - 9 - tail.size());
    return "(" + grid + ") * (" + block + ")";
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const Unit& unit_;
  const KernelFacts& facts_;
  std::int64_t planes_ = 0, width_ = 1, ahead_ = 0;
  std::string& why_;
  MarchPlan plan_;
  std::set<const Stmt*> unrolled_;
  std::vector<Edit> edits_;
};

std::optional<Variant> marched(const MoveContext& context,
                               const MarchShape& shape,
                               std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  return kernel == nullptr ? std::nullopt : March(context, *kernel, shape, why).write();
}

/// Makes the slowest thread axis of a stencil a loop: the points along it stay in registers from
/// one plane to the next.
class StencilMarch final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "stencil_march"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    for (const auto& [planes, width, ahead] : kMarches) {
      if (marched(context, {planes, width, ahead}, why))
        out.push_back(
            {std::string(name()), "", {{"planes", planes}, {"width", width}, {"ahead", ahead}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (!site.empty()) return {};
    return {Tunable{"planes",
                    {4, 8, 16, 32, 64, 128, 256, 512},
                    64,
                    "points along the marched axis that a thread makes"},
            Tunable{"width",
                    {1, kMarchWidth},
                    1,
                    "points side by side that a thread makes; 4: by wide loads, rows must be "
                    "multiples of 4"},
            Tunable{"ahead", {0, 1, 2, 3}, 0, "planes that are loaded before they are needed"}};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    return marched(context,
                   {wanted.parameters.at("planes"), wanted.parameters.at("width"),
                    wanted.parameters.at("ahead")},
                   why);
  }
};

}  // namespace

void register_move_stencil_march(MoveRegistry& registry) {
  registry.add("stencil_march", "walk along a stencil's slowest axis with its points in registers",
               [] { return on_known_shape(std::make_unique<StencilMarch>()); });
}

}  // namespace warpath
