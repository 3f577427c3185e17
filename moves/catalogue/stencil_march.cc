#include <algorithm>
#include <array>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/hinted_access.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/repeated_body.h"
#include "moves/tiles/stencil.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

// planes, width, ahead
constexpr std::array<std::array<std::int64_t, 3>, 7> kMarches{
    {{64, 4, 1}, {64, 4, 0}, {32, 4, 1}, {64, 1, 1}, {64, 1, 0}, {32, 1, 1}, {16, 1, 0}}};
constexpr std::int64_t kWide = 4;

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
    const auto found = find_stencil(context_, kernel_, why_);
    if (!found) return std::nullopt;
    stencil_ = *found;
    if (!choose_axes() || !find_region() || (width_ > 1 && !wide_is_legal())) return std::nullopt;
    if (const std::string carried = carried_variable(kernel_, region_); !carried.empty())
      return why_ = carried + " would go from one point to the next", std::nullopt;
    return rewritten();
  }

 private:
  struct Marked {  ///< an axis that is taken apart
    std::string name, end;
    std::size_t axis = 0;  ///< of the launch
  };

  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool choose_axes() {
    const StencilAxis& z = stencil_.axes.front();
    const auto column =
        std::find_if(stencil_.lines.begin(), stencil_.lines.end(),
                     [](const StencilLine& l) { return l.axis == 0 && l.low > 0 && l.high > 0; });
    if (stencil_.axes.size() < 2 || column == stencil_.lines.end())
      return fail("no slow thread axis has loads on both sides of its point");
    if (with_constants(kernel_, z.stride) == Polynomial(1))
      return fail("the points of the slowest axis lie side by side");
    z_ = {z.index->name, "", static_cast<std::size_t>(z.index->axis)};
    if (width_ > 1) {
      const StencilAxis& x = stencil_.axes.back();
      if (!(with_constants(kernel_, x.stride) == Polynomial(1)) || x.on_blocks)
        return fail("no thread axis has its points side by side");
      x_ = {x.index->name, "", static_cast<std::size_t>(x.index->axis)};
    }
    const ArgSpec* out = context_.spec.io.find(
        facts_.arrays[static_cast<std::size_t>(stencil_.stores[0]->array)].spec_name);
    for (const StencilLine& line : stencil_.lines) {
      const ArgSpec* in = context_.spec.io.find(line.array->spec_name);
      if (out == nullptr || in == nullptr || !out->tensor || !in->tensor ||
          out->tensor->shape != in->tensor->shape)
        return fail(line.array->name + " and the output have different shapes");
    }
    return true;
  }

  [[nodiscard]] bool is_marked(const Stmt& stmt) const {
    return mentions(stmt, z_.name) || (width_ > 1 && mentions(stmt, x_.name));
  }

  [[nodiscard]] bool defines_axis(const Stmt& stmt) const {
    return &stmt == axis_statement(0) ||
           (width_ > 1 && &stmt == axis_statement(stencil_.axes.size() - 1));
  }
  [[nodiscard]] const Stmt* axis_statement(std::size_t axis) const {
    return stencil_.axes[axis].index->declarator->stmt;
  }

  /// Finds the first statement that the loops must hold; guards before it lose what they say of the
  /// marched index.
  bool find_region() {
    const Stmt* block = kernel_.kernel->body;
    for (std::size_t i = 0; i < block->children.size();) {
      const Stmt& stmt = *block->children[i];
      if (defines_axis(stmt) || !is_marked(stmt)) {
        ++i;
        continue;
      }
      const bool plain =
          stmt.is(StmtKind::if_) && stmt.otherwise == nullptr && stmt.init == nullptr;
      const bool exits = plain && statements(*stmt.body).size() == 1 &&
                         statements(*stmt.body)[0]->is(StmtKind::return_);
      const bool last = plain && i + 1 == block->children.size() && stmt.body->is(StmtKind::block);
      if (exits && take_bounds(*stmt.expr, true, stmt)) {
        ++i;
      } else if (last && !exits && take_bounds(*stmt.expr, false, stmt)) {
        block = stmt.body, i = 0;
      } else {
        region_ = {block->children.begin() + static_cast<std::ptrdiff_t>(i), block->children.end()};
        break;
      }
    }
    if (region_.empty()) return fail("nothing depends on " + z_.name);
    if (z_.end.empty() && !end_from_launch())
      return fail("the extent of " + z_.name + " is not known");
    for (const Stmt* stmt : region_) {
      bool bad = false;
      walk(*stmt, [&](const Stmt& s) {
        if (s.is(StmtKind::return_))
          returns_.push_back(&s), bad = bad || enclosing_loop(s) != nullptr;
        bad = bad || s.is(StmtKind::goto_) || s.is(StmtKind::label);
        return true;
      });
      if (bad) return fail("the kernel leaves from inside a loop");
    }
    return true;
  }

  /// Takes `z < end` out of the terms of a condition (of `z >= end` under a return), notes `x <
  /// end`. False: it says more of them.
  bool take_bounds(const Expr& condition, bool negated, const Stmt& stmt) {
    std::vector<const Expr*> terms;
    split_terms(condition, negated ? "||" : "&&", terms);
    std::vector<std::string> kept;
    std::string z_end = z_.end, x_end = x_.end;
    for (const Expr* term : terms) {
      const bool on_z = mentions(*term, z_.name), on_x = width_ > 1 && mentions(*term, x_.name);
      const std::string text = unit_.plain_text(term->outer.empty() ? term->span : term->outer);
      if (!on_z && !on_x) {
        kept.push_back(text);
        continue;
      }
      const std::string& name = on_z ? z_.name : x_.name;
      std::string& end = on_z ? z_end : x_end;
      const bool upper = term->is_op(ExprKind::binary, negated ? ">=" : "<") &&
                         term->arg(0).is_name(name) &&
                         facts_.uniformity(term->arg(1)) != Uniformity::thread;
      if (!upper || !end.empty() || (on_z && on_x)) return false;
      end = unit_.plain_text(term->arg(1).outer.empty() ? term->arg(1).span : term->arg(1).outer);
      if (on_x)
        kept.push_back(replaced(text, {{x_.name, x_first()}})),
            x_bound_ = facts_.source_polynomial(term->arg(1));
    }
    if (!negated && kept.empty()) return false;
    z_.end = z_end, x_.end = x_end;
    std::string text;
    for (const std::string& term : kept)
      text += (text.empty() ? "" : negated ? " || " : " && ") + term;
    if (kept.empty()) {
      const Span line = whole_lines(unit_, stmt.span);
      edits_.push_back({line.begin, line.end, ""});
    } else {
      edits_.push_back({condition.span.begin, condition.span.end, text});
    }
    return true;
  }

  static void split_terms(const Expr& e, std::string_view op, std::vector<const Expr*>& out) {
    if (!e.is_op(ExprKind::binary, op)) return out.push_back(&e);
    split_terms(e.arg(0), op, out);
    split_terms(e.arg(1), op, out);
  }

  /// The number of blocks along a block axis, where it is one argument or a constant.
  bool end_from_launch() {
    if (!stencil_.axes.front().on_blocks) return false;
    const Expression& grid = context_.variant.launch.grid[z_.axis];
    if (grid.is_constant()) return z_.end = grid.text(), true;
    std::size_t at = 0;
    for (const ArgSpec& arg : context_.spec.io.args) {
      if (arg.is_meta || at == kernel_.kernel->parameters.size()) continue;
      const Declarator& parameter = *kernel_.kernel->parameters[at++];
      if (arg.name == grid.text() && arg.type == ArgType::integer && !parameter.name.empty())
        return z_.end = std::string(parameter.name), true;
    }
    return false;
  }

  /// Wide accesses are aligned and inside, and every point is stored to exactly once at the end of
  /// its work.
  bool wide_is_legal() {
    const Access& store = *stencil_.stores[0];
    const std::string atom = std::string("threadIdx.") + "xyz"[x_.axis];
    const Bindings multiples = facts_.multiples();
    if (x_.end.empty() || !x_bound_.is_known() ||
        !with_constants(kernel_, x_bound_).divisible_by(kWide, multiples))
      return fail("the extent of " + x_.name + " is no multiple of " + number(kWide));
    Polynomial rest = with_constants(kernel_, store.index)
                          .without(atom)
                          .without(std::string("blockIdx.") + "xyz"[x_.axis]);
    if (!rest.divisible_by(kWide, multiples))
      return fail("rows do not start at multiples of " + number(kWide));
    const Array& out = facts_.arrays[static_cast<std::size_t>(store.array)];
    if (std::any_of(stencil_.stores.begin(), stencil_.stores.end(),
                    [](const Access* a) { return replaceable(*a) == nullptr; }))
      return fail("a cache hint stores by the output's address");
    if (out.type != "float" || out.alignment_bytes % 16 != 0 || out.alignment_bytes == 0)
      return fail("the output is not float and aligned");
    for (const StencilLine& line : stencil_.lines) {
      if (line.array->type != "float" || line.array->alignment_bytes % 16 != 0 ||
          line.array->alignment_bytes == 0)
        return fail(line.array->name + " is not float and aligned");
      const bool across = line.axis > 0 && line.axis + 1 < stencil_.axes.size();
      if (across && !stencil_.axes[line.axis].index->bound)
        return fail("the extent of " + stencil_.axes[line.axis].index->name + " is not known");
      if (line.low > kWide || line.high > kWide)
        return fail("the stencil reaches beyond " + number(kWide) + " points");
    }
    const auto stores_here = [&](const Stmt& stmt) {
      return stmt.is(StmtKind::expression) &&
             std::any_of(stencil_.stores.begin(), stencil_.stores.end(),
                         [&](const Access* a) { return is_inside(*a->expr, stmt); });
    };
    bool good = stores_here(*region_.back()) && stencil_.stores.size() == returns_.size() + 1;
    for (const Stmt* stmt : returns_) {
      const std::vector<const Stmt*> siblings =
          stmt->parent == nullptr ? std::vector<const Stmt*>{} : statements(*stmt->parent);
      const auto at = std::find(siblings.begin(), siblings.end(), stmt);
      good = good && at != siblings.end() && at != siblings.begin() && stores_here(**(at - 1));
    }
    return good || fail("not every point is stored to as the last thing");
  }

  /// Index of the point with the axes as names: the store's, with locals of the region replaced.
  [[nodiscard]] std::string center() const {
    const Access& store = *stencil_.stores[0];
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
    return std::any_of(region_.begin(), region_.end(),
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

  static std::string replaced(const std::string& text,
                              const std::vector<std::pair<std::string, std::string>>& names) {
    const CodeText code(text);
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      for (const auto& [from, to] : names) {
        if (code.is(i, from) && code.is_name(i) && !is_member(code, i))
          edits.push_back({code.tokens[i].begin, code.tokens[i].end, to});
      }
    }
    return edited(text, std::move(edits));
  }

  std::string x_first() {
    return x_first_.empty() ? x_first_ = fresh_name(unit_, x_.name + "_first", &taken_) : x_first_;
  }
  std::string fresh(const std::string& wish) { return fresh_name(unit_, wish, &taken_); }

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
    const std::string index = center(), first = fresh(z_.name + "_first"),
                      last = fresh(z_.name + "_last"), size = fresh("PLANES"), d = fresh("d"),
                      u = fresh("u");
    const std::string type = stencil_.axes.front().type, z = z_.name,
                      side = width_ == 1 ? "" : "[" + number(width_) + "]";
    const std::size_t begin = line_of_statement(unit_.source(), region_.front()->span.begin);
    const std::string pad = indentation(unit_, region_.front()->span.begin),
                      step = indent_unit(unit_);
    CodeWriter head(step, 0);
    head.line("// March along " + z +
              ": each thread keeps the points before and behind its own in registers.");
    head.line("constexpr int " + size + " = " + number(planes_) + ";");
    head.line(type + " " + first + " = blockIdx." + std::string(1, "xyz"[z_.axis]) + " * " + size +
              ";");
    head.line(type + " " + last + " = " + first + " + " + size + " < " + z_.end + " ? " + first +
              " + " + size + " : " + z_.end + ";");
    CodeWriter inside(step, 1);
    const auto at = [&](const std::string& z_text) {
      std::vector<std::pair<std::string, std::string>> names{{z, z_text}};
      if (width_ > 1) names.emplace_back(x_.name, x_first());
      return replaced(index, names);
    };
    for (const StencilLine& line : stencil_.lines) {
      if (line.axis == 0) {
        const std::int64_t high = line.high + ahead_;
        const std::string count = number(line.low + high + 1), reach = number(line.low + high);
        if (line.low == 0 && line.high == 0 && width_ == 1) continue;
        const std::string name = fresh(line.array->name + "_column");
        head.line(declared(line, name, "[" + count + "]" + side));
        head.line("#pragma unroll")
            .open("for (int " + d + " = 1; " + d + " < " + count + "; " + d + "++)");
        head.line(type + " " + z + " = " + first + " + " + d + " - " + number(line.low + 1) + ";");
        write_load(head, name + "[" + d + "]", line, at(z), z + " >= 0 && " + z + " < " + z_.end);
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
                   z + " + " + number(high) + " < " + z_.end);
        edit_loads(line, name, line.low, u);
      } else if (width_ > 1 && line.axis + 1 == stencil_.axes.size()) {
        write_row(inside, line, at(z), d, u);
      } else if (width_ > 1) {
        write_across(inside, line, at(z), d, u);
      }
    }
    const std::string store_name =
                          facts_.arrays[static_cast<std::size_t>(stencil_.stores[0]->array)].name,
                      made = fresh(store_name + "_points");
    if (width_ > 1) {
      inside.line("alignas(16) float " + made + "[" + number(width_) + "];");
      inside.line("#pragma unroll")
          .open("for (int " + u + " = 0; " + u + " < " + number(width_) + "; " + u + "++)");
      inside.line(stencil_.axes.back().type + " " + x_.name + " = " + x_first() + " + " + u + ";");
      for (const Access* store : stencil_.stores)
        edits_.push_back({store->expr->span.begin, store->expr->span.end, made + "[" + u + "]"});
    }
    head.line("for (" + type + " " + z + " = " + first + "; " + z + " < " + last + "; " + z +
              "++) {");
    edits_.push_back({begin, begin, CodeWriter(pad, 1).lines(head.text() + inside.text()).text()});
    const std::size_t end = region_.back()->span.end;
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
    w.line(declared(line, name, "[" + number(3 * kWide) + "]"));
    w.line("#pragma unroll").open("for (int " + d + " = 0; " + d + " < 3; " + d + "++)");
    const std::string x = x_first() + " + (" + d + " - 1) * " + number(kWide);
    write_load(w, name + " + " + d + " * " + number(kWide), line,
               replaced(index, {{x_first(), "(" + x + ")"}}), x + " >= 0 && " + x + " < " + x_.end);
    w.close();
    for (const LineLoad& load : line.loads)
      edits_.push_back({replaceable(*load.access)->span.begin, replaceable(*load.access)->span.end,
                        name + "[" + u + " + " + place(load, kWide) + "]"}),
          unroll(load);
  }

  /// The points along an axis between, a row of registers each.
  void write_across(CodeWriter& w,
                    const StencilLine& line,
                    const std::string& index,
                    const std::string& d,
                    const std::string& u) {
    const StencilAxis& axis = stencil_.axes[line.axis];
    const std::string name = fresh(line.array->name + "_across"), y = axis.index->name,
                      moved = y + " + " + d + " - " + number(line.low);
    w.line(
        declared(line, name, "[" + number(line.low + line.high + 1) + "][" + number(width_) + "]"));
    w.line("#pragma unroll")
        .open("for (int " + d + " = 0; " + d + " < " + number(line.low + line.high + 1) + "; " + d +
              "++)");
    const std::string end = axis.index->bound ? axis.index->bound->text() : std::string();
    write_load(w, name + "[" + d + "]", line, replaced(index, {{y, "(" + moved + ")"}}),
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
    const Span z_line = whole_lines(unit_, axis_statement(0)->span);
    edits_.push_back({z_line.begin, z_line.end, ""});
    if (width_ > 1) {
      const Declarator& x = *stencil_.axes.back().index->declarator;
      const Span value = x.value()->outer.empty() ? x.value()->span : x.value()->outer;
      edits_.push_back({x.name_span.begin, x.name_span.end, x_first()});
      edits_.push_back(
          {value.begin, value.end, "(" + unit_.plain_text(value) + ") * " + number(width_)});
    }
    for (const Stmt* stmt : returns_)
      edits_.push_back({stmt->span.begin, stmt->span.begin + 6, "continue"});
    Variant out = context_.variant;
    out.source = edited(unit_.source(), std::move(edits_));
    try {
      out.launch.grid[z_.axis] =
          Expression::parse("ceil_div(" + points(z_.axis, stencil_.axes.front().on_blocks) + ", " +
                                number(planes_) + ")",
                            "launch plan");
      out.launch.block[z_.axis] = Expression(1);
      if (width_ > 1) {
        const std::string threads =
            number(width_) + " * (" + context_.variant.launch.block[x_.axis].text() + ")";
        out.launch.grid[x_.axis] = Expression::parse(
            "ceil_div(" + points(x_.axis, false) + ", " + threads + ")", "launch plan");
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
  Stencil stencil_;
  Marked z_, x_;
  Polynomial x_bound_ = Polynomial::unknown();
  std::string x_first_;
  std::vector<const Stmt*> region_, returns_;
  std::set<const Stmt*> unrolled_;
  std::set<std::string, std::less<>> taken_;
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
class StencilMarch final : public Move {
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
                    {1, kWide},
                    1,
                    "points side by side that a thread makes; 4: by wide loads, rows must be "
                    "multiples of 4"},
            Tunable{"ahead", {0, 1, 2, 3}, 0, "planes that are loaded before they are needed"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const std::vector<Tunable> known = domain(context, wanted.site);
    if (known.empty() || wanted.parameters.size() != known.size())
      return why = "stencil_march takes planes, width and ahead, and no site", std::nullopt;
    for (const Tunable& t : known) {
      const auto value = wanted.parameters.find(t.name);
      if (value == wanted.parameters.end())
        return why = "stencil_march takes planes, width and ahead, and no site", std::nullopt;
      if (!std::binary_search(t.values.begin(), t.values.end(), value->second))
        return why = "no such value of " + t.name, std::nullopt;
    }
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
