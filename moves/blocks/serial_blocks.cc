#include "moves/blocks/serial_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/grid_stride.h"
#include "moves/edit/launch_places.h"
#include "moves/edit/span_rewrite.h"
#include "moves/normal/helper_call.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

class SerialBlocks {
 public:
  SerialBlocks(const MoveContext& context,
               const KernelModel& kernel,
               std::size_t axis,
               std::int64_t count,
               std::string& why)
      : context_(context),
        kernel_(kernel),
        unit_(kernel.unit),
        facts_(kernel.facts),
        body_(*kernel.kernel->body),
        axis_(axis),
        count_(count),
        why_(why) {
    meets_ = facts_.has_barrier || facts_.has_assembly ||
             std::ranges::any_of(facts_.arrays,
                                 [](const Array& array) { return array.space == Space::shared; });
  }

  std::optional<Variant> made() {
    if (!may_follow() || !find_places() || !find_exits() || !copy_parameters() || !find_end())
      return std::nullopt;
    Variant out = context_.variant;
    out.launch.grid[axis_] = divided(out.launch.grid[axis_], count_);
    out.source = edited(unit_.source(), {{body_.span.begin, body_.span.end, text()}});
    return out;
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }
  std::string fresh(std::string_view wish) { return fresh_name(unit_, wish, &taken_); }

  /// A block may run behind another one.
  bool may_follow() {
    if (!facts_.veto.empty()) return fail(facts_.veto);
    if (has_own_plans(context_.spec)) return fail("workloads have launch plans of their own");
    if (context_.variant.launch.cluster != std::array{Expression(1), Expression(1), Expression(1)})
      return fail("blocks form clusters");
    bool plain = true;
    walk(body_, [&](const Stmt& s) {
      plain = plain && !s.is(StmtKind::goto_) && !s.is(StmtKind::label);
      for (const Declarator* d : s.declarators) plain = plain && !d->has(kStatic);
      return plain;
    });
    if (!plain) return fail("the kernel jumps, or keeps a variable");
    return !waits_for_others(facts_) || fail("a loop waits for what others write");
  }

  /// Where the kernel asks for its block along the axis.
  bool find_places() {
    const auto places = launch_places(kernel_, axis_, why_);
    if (!places) return false;
    if (!places->grids.empty()) {
      const std::string grid = std::string("gridDim.") + "xyz"[axis_];
      for (const auto& loop : facts_.loops) {
        if (strides_by(*loop, grid)) return fail("a loop goes over the grid already");
      }
      grid_ = fresh("grid");
      for (const Expr* const e : places->grids)
        edits_.push_back({e->span.begin, e->span.end, grid_});
    }
    if (places->blocks.empty())
      return fail(std::string("the kernel does not ask for its block along ") + "xyz"[axis_]);
    block_ = fresh("block");
    for (const Expr* const e : places->blocks)
      edits_.push_back({e->span.begin, e->span.end, block_});
    return true;
  }

  [[nodiscard]] bool strides_by(const Loop& loop, const std::string& extent) const {
    if (loop.counted) return loop.step.mentions(extent);
    const Expr* const step = loop.stmt->step;
    return step != nullptr && step->is(ExprKind::assign) &&
           facts_.polynomial(step->arg(1)).mentions(extent);
  }

  /// A thread that has finished goes on with the next block.
  bool find_exits() {
    const bool together = meets_ || facts_.has_warp_ops;
    bool nested = false, apart = false;
    walk(body_, [&](const Stmt& s) {
      if (!s.is(StmtKind::return_)) return true;
      nested = nested || enclosing_loop(s) != nullptr;
      apart = apart || (together && !facts_.uniformly_reached(s) && joined_behind(s));
      edits_.push_back({s.span.begin, s.span.end, "continue;"});
      return true;
    });
    if (nested) return fail("the kernel leaves from inside a loop");
    return !apart || fail("threads leave the kernel at different places");
  }

  [[nodiscard]] bool joined_behind(const Stmt& exit) const {
    bool found = false;
    walk(body_, [&](const Stmt& s) {
      const bool plain = s.is(StmtKind::expression) || s.is(StmtKind::declaration) ||
                         s.is(StmtKind::assembly) || s.is_loop() || s.is(StmtKind::if_);
      found = found || (plain && s.span.begin > exit.span.end && joins_threads(s));
      return !found;
    });
    return found;
  }

  /// Parameters that the kernel changes are those of the launch again for the next block.
  bool copy_parameters() {
    for (const std::string& name : facts_.names_written(body_)) {
      if (kernel_.kernel->parameter(name) == nullptr) continue;
      bool hidden = is_said_by_macro(unit_, name);
      walk(body_, [&](const Stmt& s) {
        for (const Declarator* d : s.declarators) hidden = hidden || d->name == name;
        return !hidden;
      });
      if (hidden) return fail("another variable is named like " + name + ", which changes");
      const std::string own = fresh(name);
      rename_variable(body_, name, own, edits_);
      copies_ += "auto " + own + " = " + name + ";\n";
    }
    return true;
  }

  /// The last block of the launch.
  bool find_end() {
    const Expression& grid = context_.variant.launch.grid[axis_];
    for (const Workload* const w : workloads_of(context_)) {
      const LaunchNumbers n =
          evaluate(launch_for(context_.spec, context_.variant, *w),
                   context_.spec.bindings(*w, context_.variant.tunables), "launch plan");
      const std::int64_t left = n.grid[0] * n.grid[1] * n.grid[2] / count_;
      if (n.grid[axis_] < count_ || left < context_.device.multiprocessors)
        return fail("too few blocks would remain");
    }
    const auto text = source_text(context_, kernel_, grid);
    if (!text) return fail("the number of blocks cannot be said in the kernel");
    if (!grid_.empty()) copies_ += "const unsigned int " + grid_ + " = " + *text + ";\n";
    const auto number = integer_value(*text);
    if (!number || *number % count_ != 0) end_ = *text;
    return true;
  }

  [[nodiscard]] std::string text() {
    const std::string i = fresh("turn"), blocks = fresh("BLOCKS");
    const std::string unit_of_indent = indent_unit(unit_);
    CodeWriter w(unit_of_indent);
    w.line("constexpr int " + blocks + " = " + number(count_) +
           ";  // neighbouring blocks, one after the other");
    const bool short_loops = std::ranges::all_of(
        facts_.loops, [](const auto& loop) { return loop->trip_count.has_value(); });
    if (short_loops && !meets_) w.line("#pragma unroll");
    w.open("for (int " + i + " = 0; " + i + " < " + blocks + "; ++" + i + ")");
    w.line("const unsigned int " + block_ + " = blockIdx." + "xyz"[axis_] + " * " + blocks + " + " +
           i + ";");
    if (!end_.empty()) w.line("if (" + block_ + " >= " + end_ + ") break;");
    if (meets_) {
      w.line("if (" + i + " > 0) __syncthreads();  // all have done with the last one");
    } else if (facts_.has_warp_ops) {
      w.line("__syncwarp();");
    }
    w.lines(copies_);
    const std::string indent = indentation(unit_, kernel_.kernel->span.begin);
    std::string out = "{\n" + indented(w.text(), indent);
    out += indented(body_text(unit_, body_, edits_), indent + unit_of_indent + unit_of_indent);
    return out + indent + unit_of_indent + "}\n" + indent + "}";
  }

  const MoveContext& context_;
  const KernelModel& kernel_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const Stmt& body_;
  const std::size_t axis_;
  const std::int64_t count_;
  std::string& why_;
  bool meets_ = false;  ///< threads of the block meet, or share memory
  std::vector<Edit> edits_;
  std::string block_, grid_, copies_, end_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

std::optional<Variant> blocks_in_turn(const MoveContext& context,
                                      const KernelModel& kernel,
                                      std::size_t axis,
                                      std::int64_t count,
                                      std::string& why) {
  return SerialBlocks(context, kernel, axis, count, why).made();
}

}  // namespace warpath
