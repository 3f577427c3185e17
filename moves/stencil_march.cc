#include <algorithm>
#include <array>
#include <set>

#include "engine/error.h"
#include "moves/code_writer.h"
#include "moves/model/facts.h"
#include "moves/register_moves.h"
#include "moves/source_edit.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::array<std::int64_t, 4> kPlanes{64, 32, 16, 128};
constexpr std::int64_t kMostReach = 16;

std::string number(std::int64_t value) { return std::to_string(value); }

/// A load at index(center) + (constant + per_r * r) planes.
struct ColumnLoad {
  const Access* access = nullptr;
  std::int64_t constant = 0, per_r = 0;
  const Loop* loop = nullptr;      ///< of r; null if per_r is 0
};

/// The loads of one array along the marched axis.
struct Column {
  const Array* array = nullptr;
  std::vector<ColumnLoad> loads;
  std::int64_t low = 0, high = 0;  ///< planes before and behind the center
};

/// A stencil kernel and how one of its thread axes becomes a loop.
class March {
 public:
  March(const MoveContext& context, const KernelModel& kernel, std::string& why)
      : context_(context), unit_(kernel.unit), kernel_(*kernel.kernel), facts_(kernel.facts), why_(why) {}

  std::optional<Variant> with_planes(std::int64_t planes) {
    if (!find_axis() || !find_region()) return std::nullopt;
    return rewritten(planes);
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  bool find_axis() {
    if (!facts_.veto.empty()) return fail(facts_.veto);
    if (facts_.has_barrier || facts_.has_warp_ops || facts_.has_assembly) return fail("the threads of a block work together already");
    for (const Access& access : facts_.accesses) {
      if (!access.writes()) continue;
      if (access.kind != AccessKind::write || !access.index.is_known()) return fail("the output is not only stored to");
      if (store_ != nullptr && (store_->array != access.array || !(store_->index == access.index))) return fail("a thread stores to more than one place");
      store_ = &access;
    }
    if (store_ == nullptr) return fail("nothing is stored");
    for (int axis = 2; axis >= 1; --axis) {
      for (const ThreadIndex& index : facts_.thread_indices) {
        if (index.axis == axis && take_axis(index)) return true;
      }
    }
    return fail("no thread axis beyond the first has loads on both sides of its point");
  }

  bool take_axis(const ThreadIndex& index) {
    const bool block = index.form == ThreadIndex::Form::block;
    if (index.name.empty() || index.declarator == nullptr || (!block && index.form != ThreadIndex::Form::global)) return false;
    const Stmt* stmt = index.declarator->stmt;
    if (stmt == nullptr || stmt->parent != kernel_.body || stmt->declarators.size() != 1) return false;
    const std::string letter(1, "xyz"[index.axis]);
    const std::string atom = (block ? "blockIdx." : "threadIdx.") + letter;
    if (block && context_.variant.launch.block[static_cast<std::size_t>(index.axis)] != Expression(1)) return false;
    if (!store_->index.affine_in(atom)) return false;
    const Polynomial stride = store_->index.coefficient_of(atom);
    if (stride.is_zero() || stride == Polynomial(1)) return false;
    columns_.clear();
    for (const Access& access : facts_.accesses) {
      if (access.writes() || access.array == store_->array || !access.index.is_known() || access.in_helper || access.vector_width != 1) continue;
      const Array& array = facts_.arrays[static_cast<std::size_t>(access.array)];
      if (array.space != Space::global || array.written || facts_.may_alias(access.array, store_->array)) continue;
      note_load(access, array, stride);
    }
    std::erase_if(columns_, [](const Column& c) { return c.low == 0 || c.high == 0 || c.low + c.high > kMostReach; });
    if (columns_.empty()) return false;
    z_ = index.name, axis_ = static_cast<std::size_t>(index.axis), definition_ = stmt, is_block_ = block;
    z_type_ = index.declarator->has(kAuto) ? "int" : std::string(unit_.text(index.declarator->type));
    return true;
  }

  void note_load(const Access& access, const Array& array, const Polynomial& stride) {
    const Polynomial offset = access.index - store_->index;
    ColumnLoad load{&access, 0, 0, nullptr};
    Polynomial rest = offset;
    for (const Loop* loop : access.loops) {
      if (!offset.mentions(loop->variable)) continue;
      if (load.loop != nullptr || !offset.affine_in(loop->variable) || !loop->counted || !loop->trip_count || !loop->first.constant()) return;
      load.loop = loop;
      const auto per = multiple(offset.coefficient_of(loop->variable), stride);
      if (!per || *per == 0) return;
      load.per_r = *per;
      rest = offset.without(loop->variable);
    }
    const auto constant = multiple(rest, stride);
    if (!constant) return;
    load.constant = *constant;
    std::int64_t first = load.constant, last = load.constant;
    if (load.loop != nullptr) {
      const auto step = load.loop->step.constant();
      if (!step || *load.loop->trip_count < 1) return;
      first += load.per_r * *load.loop->first.constant();
      last = first + load.per_r * *step * (*load.loop->trip_count - 1);
    }
    auto column = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.array == &array; });
    if (column == columns_.end()) column = columns_.insert(columns_.end(), {&array, {}, 0, 0});
    column->loads.push_back(load);
    column->low = std::max({column->low, -first, -last});
    column->high = std::max({column->high, first, last});
  }

  static std::optional<std::int64_t> multiple(const Polynomial& value, const Polynomial& stride) {
    for (std::int64_t n = -kMostReach; n <= kMostReach; ++n) {
      if (value == stride * Polynomial(n)) return n;
    }
    return std::nullopt;
  }

  /// `stmt` reads the marched index, through locals too.
  bool on_axis(const Stmt& stmt) const {
    return std::any_of(on_axis_.begin(), on_axis_.end(), [&](const std::string& name) { return mentions(stmt, name); });
  }

  /// Finds the first statement that the loop must hold; conditions before it lose what they say of the index.
  bool find_region() {
    on_axis_ = {z_};
    const Stmt* block = kernel_.body;
    for (std::size_t i = 0; i < block->children.size();) {
      const Stmt& stmt = *block->children[i];
      if (&stmt == definition_ || !on_axis(stmt)) {
        ++i;
        continue;
      }
      const bool exits = stmt.is(StmtKind::if_) && stmt.otherwise == nullptr && stmt.init == nullptr && statements(*stmt.body).size() == 1 &&
                         statements(*stmt.body)[0]->is(StmtKind::return_);
      const bool last = stmt.is(StmtKind::if_) && stmt.otherwise == nullptr && stmt.init == nullptr && i + 1 == block->children.size() && stmt.body->is(StmtKind::block);
      if (exits && take_bound(*stmt.expr, true, stmt)) {
        ++i;
      } else if (last && take_bound(*stmt.expr, false, stmt)) {
        block = stmt.body, i = 0;
      } else {
        region_ = {block->children.begin() + static_cast<std::ptrdiff_t>(i), block->children.end()};
        break;
      }
    }
    if (region_.empty()) return fail("nothing depends on " + z_);
    if (end_.empty() && !end_from_launch()) return fail("the extent of " + z_ + " is not known");
    for (const Stmt* stmt : region_) {
      bool bad = false;
      walk(*stmt, [&](const Stmt& s) {
        if (s.is(StmtKind::return_)) returns_.push_back(&s), bad = bad || enclosing_loop(s) != nullptr;
        bad = bad || s.is(StmtKind::goto_) || s.is(StmtKind::label);
        return true;
      });
      if (bad) return fail("the kernel leaves from inside a loop");
    }
    return planes_exist();
  }

  /// Takes `z < end` out of the terms of a condition (of `z >= end` under a return). False: the condition says more of z than that.
  bool take_bound(const Expr& condition, bool negated, const Stmt& stmt) {
    std::vector<const Expr*> terms;
    split_terms(condition, negated ? "||" : "&&", terms);
    std::vector<std::string> kept;
    std::string end;
    for (const Expr* term : terms) {
      if (!mentions(*term, z_)) {
        kept.push_back(unit_.plain_text(term->outer.empty() ? term->span : term->outer));
        continue;
      }
      const bool upper = term->is_op(ExprKind::binary, negated ? ">=" : "<") && term->arg(0).is_name(z_) && !mentions(term->arg(1), z_);
      if (!upper || !end.empty() || facts_.uniformity(term->arg(1)) == Uniformity::thread) return false;
      end = unit_.plain_text(term->arg(1).outer.empty() ? term->arg(1).span : term->arg(1).outer);
    }
    if (end.empty() || !end_.empty() || (!negated && kept.empty())) return false;
    end_ = end;
    std::string text;
    for (const std::string& term : kept) text += (text.empty() ? "" : negated ? " || " : " && ") + term;
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
    if (!is_block_) return false;
    const Expression& grid = context_.variant.launch.grid[axis_];
    if (grid.is_constant()) return end_ = grid.text(), true;
    std::size_t at = 0;
    for (const ArgSpec& arg : context_.spec.io.args) {
      if (arg.is_meta || at == kernel_.parameters.size()) continue;
      const Declarator& parameter = *kernel_.parameters[at++];
      if (arg.name == grid.text() && arg.type == ArgType::integer && !parameter.name.empty()) return end_ = std::string(parameter.name), true;
    }
    return false;
  }

  /// Every plane below the end exists: the array is as large as the output, or its center is loaded wherever the thread works.
  bool planes_exist() {
    const ArgSpec* out = context_.spec.io.find(facts_.arrays[static_cast<std::size_t>(store_->array)].spec_name);
    for (const Column& column : columns_) {
      const ArgSpec* in = context_.spec.io.find(column.array->spec_name);
      const bool same = out != nullptr && in != nullptr && out->tensor && in->tensor && out->tensor->shape == in->tensor->shape;
      if (!same) return fail(column.array->name + " and the output have different shapes");
    }
    return true;
  }

  /// Index of the center with x, y and z as names: the store's, with locals of the loop's region replaced.
  std::string center() const {
    Polynomial value = store_->source_index;
    const Expr& index = store_->expr->arg(1);
    if (index.is(ExprKind::name)) {
      const Declarator* d = declaration_of(unit_, index);
      if (d != nullptr && d->value() != nullptr && d->stmt != nullptr && only_outer_names(*d->value())) return unit_.plain_text(d->value()->span);
    }
    for (int depth = 0; depth < 8; ++depth) {
      bool changed = false;
      for (const std::string& name : value.names()) {
        const Declarator* d = visible(unit_, kernel_, name, store_->expr->span.begin);
        if (d == nullptr || name == z_ || d->stmt == nullptr || d->value() == nullptr || !in_region(*d->stmt)) continue;
        value = value.substituted(name, facts_.source_polynomial(*d->value()));
        changed = true;
      }
      if (!changed) break;
    }
    return value.text();
  }

  bool in_region(const Stmt& stmt) const {
    return std::any_of(region_.begin(), region_.end(), [&](const Stmt* r) { return is_inside(stmt, *r); });
  }

  bool only_outer_names(const Expr& e) const {
    bool ok = true;
    walk(e, [&](const Expr& sub) {
      const Declarator* d = sub.is(ExprKind::name) ? declaration_of(unit_, sub) : nullptr;
      if (d != nullptr && d->stmt != nullptr && in_region(*d->stmt)) ok = false;
      return true;
    });
    return ok;
  }

  std::optional<Variant> rewritten(std::int64_t planes) {
    std::set<std::string, std::less<>> taken;
    const auto fresh = [&](const std::string& wish) { return fresh_name(unit_, wish, &taken); };
    const std::string first = fresh(z_ + "_first"), last = fresh(z_ + "_last"), size = fresh("PLANES"), d = fresh("d");
    const std::string index = center();
    const std::string step = indent_unit(unit_);
    const std::size_t begin = line_of_statement(unit_.source(), region_.front()->span.begin);
    const std::string pad = indentation(unit_, region_.front()->span.begin);
    std::string head = pad + "// March along " + z_ + ": each thread keeps the points before and behind its own in registers.\n";
    head += pad + "constexpr int " + size + " = " + number(planes) + ";\n";
    head += pad + z_type_ + " " + first + " = blockIdx." + std::string(1, "xyz"[axis_]) + " * " + size + ";\n";
    head += pad + z_type_ + " " + last + " = " + first + " + " + size + " < " + end_ + " ? " + first + " + " + size + " : " + end_ + ";\n";
    std::string inside;
    for (const Column& column : columns_) {
      const std::string name = fresh(column.array->name + "_column");
      const std::string count = number(column.low + column.high + 1), reach = number(column.low + column.high);
      const std::string zero = column.array->type == "float" ? "0.0f" : column.array->type + "()";
      const auto load = [&](const std::string& z) { return column.array->name + "[" + replaced(index, z) + "]"; };
      head += pad + column.array->type + " " + name + "[" + count + "];\n";
      head += pad + "#pragma unroll\n";
      head += pad + "for (int " + d + " = 1; " + d + " < " + count + "; " + d + "++) {\n";
      head += pad + step + z_type_ + " " + z_ + " = " + first + " + " + d + " - " + number(column.low + 1) + ";\n";
      head += pad + step + name + "[" + d + "] = " + z_ + " >= 0 && " + z_ + " < " + end_ + " ? " + load(z_) + " : " + zero + ";\n";
      head += pad + "}\n";
      inside += pad + step + "#pragma unroll\n";
      inside += pad + step + "for (int " + d + " = 0; " + d + " < " + reach + "; " + d + "++) " + name + "[" + d + "] = " + name + "[" + d + " + 1];\n";
      inside += pad + step + name + "[" + reach + "] = " + z_ + " + " + number(column.high) + " < " + end_ + " ? " + load("(" + z_ + " + " + number(column.high) + ")") + " : " + zero + ";\n";
      edit_loads(column, name);
    }
    head += pad + "for (" + z_type_ + " " + z_ + " = " + first + "; " + z_ + " < " + last + "; " + z_ + "++) {\n" + inside;
    const Span definition = whole_lines(unit_, definition_->span);
    edits_.push_back({definition.begin, definition.end, ""});
    edits_.push_back({begin, begin, head});
    const std::size_t end = region_.back()->span.end;
    for (std::size_t at = begin; at < end;) {
      const std::size_t next = std::min(unit_.source().find('\n', at), unit_.source().size()) + 1;
      if (next > at + 1) edits_.push_back({at, at, step});
      at = next;
    }
    for (const Stmt* stmt : returns_) edits_.push_back({stmt->span.begin, stmt->span.begin + 6, "continue"});
    edits_.push_back({end, end, "\n" + pad + "}"});
    Variant out = context_.variant;
    out.source = edited(unit_.source(), std::move(edits_));
    if (!set_launch(out.launch, planes)) return why_ = "the launch does not say how long " + z_ + " is", std::nullopt;
    return out;
  }

  std::string replaced(const std::string& index, const std::string& z) const {
    const CodeText code(index);
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (code.is(i, z_) && !is_member(code, i)) edits.push_back({code.tokens[i].begin, code.tokens[i].end, z});
    }
    return edited(index, std::move(edits));
  }

  void edit_loads(const Column& column, const std::string& name) {
    for (const ColumnLoad& load : column.loads) {
      const Span span = load.access->expr->span;
      const std::int64_t at = column.low + load.constant;
      std::string index = number(at);
      if (load.loop != nullptr) {
        const std::string r = load.per_r == 1 || load.per_r == -1 ? load.loop->variable : number(std::abs(load.per_r)) + " * " + load.loop->variable;
        index = at == 0 && load.per_r > 0 ? r : number(at) + (load.per_r > 0 ? " + " : " - ") + r;
        const Stmt* loop = load.loop->stmt;
        if (loop->pragma == nullptr && unrolled_.insert(loop).second) {
          edits_.push_back({loop->span.begin, loop->span.begin, "#pragma unroll\n" + indentation(unit_, loop->span.begin) + indent_unit(unit_)});
        }
      }
      edits_.push_back({span.begin, span.end, name + "[" + index + "]"});
    }
  }

  bool set_launch(LaunchPlan& launch, std::int64_t planes) const {
    const std::string grid = launch.grid[axis_].text(), block = launch.block[axis_].text();
    std::string extent = is_block_ ? grid : "(" + grid + ") * (" + block + ")";
    const std::string tail = ", " + block + ")";
    if (!is_block_ && grid.starts_with("ceil_div(") && grid.ends_with(tail)) extent = grid.substr(9, grid.size() - 9 - tail.size());
    try {
      launch.grid[axis_] = Expression::parse("ceil_div(" + extent + ", " + number(planes) + ")", "launch plan");
    } catch (const Error&) {
      return false;
    }
    launch.block[axis_] = Expression(1);
    return true;
  }

  const MoveContext& context_;
  const Unit& unit_;
  const Function& kernel_;
  const KernelFacts& facts_;
  std::string& why_;
  const Access* store_ = nullptr;
  std::vector<Column> columns_;
  std::string z_, z_type_, end_;
  std::size_t axis_ = 2;
  bool is_block_ = true;
  const Stmt* definition_ = nullptr;
  std::vector<std::string> on_axis_;
  std::vector<const Stmt*> region_, returns_;
  std::set<const Stmt*> unrolled_;
  std::vector<Edit> edits_;
};

std::optional<Variant> marched(const MoveContext& context, std::int64_t planes, std::string& why) {
  const auto kernel = model_kernel(context.spec, context.variant, why);
  if (kernel == nullptr) return std::nullopt;
  return March(context, *kernel, why).with_planes(planes);
}

/// Makes the slowest thread axis of a stencil a loop: the points along it stay in registers from one plane to the next.
class StencilMarch final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "stencil_march"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    for (const std::int64_t planes : kPlanes) {
      if (!marched(context, planes, why)) break;
      out.push_back({std::string(name()), "", {{"planes", planes}}});
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view site) const override {
    if (!site.empty()) return {};
    return {Tunable{"planes", values(), values().front(), "points along the marched axis that a thread makes"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context, const MoveInstance& wanted, std::string& why) const override {
    const auto planes = wanted.parameters.find("planes");
    if (!wanted.site.empty() || planes == wanted.parameters.end() || wanted.parameters.size() != 1) {
      return why = "stencil_march takes one parameter, planes, and no site", std::nullopt;
    }
    const std::vector<std::int64_t> legal = values();
    if (!std::binary_search(legal.begin(), legal.end(), planes->second)) return why = number(planes->second) + " is no value of planes", std::nullopt;
    return marched(context, planes->second, why);
  }

 private:
  static std::vector<std::int64_t> values() { return {4, 8, 16, 32, 64, 128, 256, 512}; }
};

}  // namespace

void register_move_stencil_march(MoveRegistry& registry) {
  registry.add("stencil_march", "walk along a stencil's slowest axis with its points in registers", [] { return std::make_unique<StencilMarch>(); });
}

}  // namespace warpath
