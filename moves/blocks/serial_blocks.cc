#include "moves/blocks/serial_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/code_writer.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/grid_stride.h"
#include "moves/launch/launch_places.h"
#include "moves/model/value_reader.h"
#include "moves/normal/helper_call.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/assembly.h"
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
    if (!may_follow() || !find_places() || !find_exits() || !find_meetings() ||
        !copy_parameters() || !find_end())
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

  /// Threads that a barrier or shuffle does not wait for because they have finished would go on
  /// with the next block: all that may take part do.
  bool find_meetings() {
    bool apart = false;
    walk(body_, [&](const Stmt& s) {
      if (s.is(StmtKind::block)) return true;
      const auto meet = [&](const Expr& e) {
        if (const std::string_view met = meeting_in(e); !apart && !met.empty())
          apart = !is_always_evaluated(e) || !taken_together(s, is_of_block(met));
        return !apart;
      };
      for (const Expr* const e : expressions_of(s)) walk(*e, meet);
      if (s.is(StmtKind::assembly) && effect_of_assembly(unit_, s) != AssemblyEffect::none)
        apart = apart || !taken_together(s, is_of_block(unit_.text(s.span)));
      return !apart;
    });
    return !apart ||
           fail("threads that do not take part in a shuffle or barrier may have finished");
  }

  /// The function by which threads meet in a call, also through macros; empty if they do not.
  [[nodiscard]] std::string_view meeting_in(const Expr& call, int depth = 0) const {
    constexpr int kMostMacros = 4;
    const std::string_view name = callee(call);
    if (name.starts_with("__threadfence")) return {};
    if (joins_threads(name)) return name;
    const Macro* const macro = unit_.macro(name);
    const auto expansion = macro == nullptr ? std::nullopt : expansion_of(unit_, call);
    if (!expansion) return macro == nullptr ? std::string_view() : name;
    std::string_view out = depth < kMostMacros ? std::string_view() : name;
    walk(*expansion->result, [&](const Expr& e) {
      if (out.empty() && e.is(ExprKind::call)) out = meeting_in(e, depth + 1);
      return out.empty();
    });
    return out;
  }

  /// A barrier; otherwise the threads of a warp meet.
  static bool is_of_block(std::string_view name) {
    return name.find("syncthreads") != std::string_view::npos ||
           name.find("bar") != std::string_view::npos;
  }

  /// All threads of the block, or of each warp, reach the statement or none does.
  [[nodiscard]] bool taken_together(const Stmt& stmt, bool block) {
    if (facts_.uniformly_reached(stmt)) return true;
    for (const Guard* const guard : facts_.guards_at(stmt)) {
      if (facts_.uniformity(*guard->condition) < Uniformity::thread) continue;
      if (!guard->complete || !agree(guard->nonnegative, true, block)) return false;
    }
    for (const Stmt* s = stmt.parent; s != nullptr; s = s->parent) {
      if (s->is(StmtKind::switch_)) return false;
      if (!s->is_loop()) continue;
      const Loop* const loop = facts_.loop_of(*s);
      if (loop == nullptr || loop->exits_early) return false;
      const bool agreed =
          loop->counted && agree({loop->first, loop->end, loop->step}, false, block);
      if (!agreed && !counts_alike(*s)) return false;
    }
    return true;
  }

  /// A loop of as many iterations for each thread that enters it: `for (int i = 16; i > 0; i /=
  /// 2)`.
  [[nodiscard]] bool counts_alike(const Stmt& loop) const {
    if (!loop.is(StmtKind::for_) || loop.init == nullptr || loop.init->declarators.size() != 1 ||
        loop.expr == nullptr || loop.step == nullptr)
      return false;
    const Declarator& own = *loop.init->declarators[0];
    if (own.reference || own.is_array() || own.value() == nullptr) return false;
    const std::vector<std::string> written = facts_.names_written(*loop.body);
    bool alike = std::ranges::count(written, own.name) == 0;
    for (const Expr* const head : {own.value(), loop.expr, loop.step}) {
      walk(*head, [&](const Expr& e) {
        const bool plain = e.is(ExprKind::number) || e.is(ExprKind::unary) ||
                           e.is(ExprKind::binary) || e.is(ExprKind::assign) ||
                           e.is(ExprKind::postfix) || e.is(ExprKind::cast);
        const bool uniform = e.is(ExprKind::name) &&
                             (e.name == own.name || facts_.uniformity(e) < Uniformity::thread);
        alike = alike && (plain || uniform) && !e.is_op(ExprKind::unary, "*") &&
                !e.is_op(ExprKind::unary, "&");
        return alike;
      });
    }
    return alike;
  }

  /// Whether the values, or their signs, are the same for all threads of a block or of each warp,
  /// in the first and the last blocks along each axis.
  [[nodiscard]] bool agree(const std::vector<Polynomial>& values, bool signs, bool block) const {
    constexpr std::int64_t kWarp = 32, kBlocks = 3;
    for (const Workload* const w : workloads_of(context_)) {
      const LaunchNumbers n =
          evaluate(launch_for(context_.spec, context_.variant, *w),
                   context_.spec.bindings(*w, context_.variant.tunables), "launch plan");
      const std::int64_t threads = n.block[0] * n.block[1] * n.block[2];
      Bindings at = facts_.values(*w);
      for (std::int64_t i = 0; i < 2 * kBlocks; ++i) {
        for (std::size_t a = 0; a < 3; ++a) {
          const std::int64_t of_axis =
              i < kBlocks ? std::min(i, n.grid[a] - 1)
                          : std::max<std::int64_t>(0, n.grid[a] - 1 - (i - kBlocks));
          at[std::string("blockIdx.") + "xyz"[a]] = of_axis;
        }
        std::vector<std::int64_t> first;
        for (std::int64_t t = 0; t < threads; ++t) {
          at["threadIdx.x"] = t % n.block[0];
          at["threadIdx.y"] = t / n.block[0] % n.block[1];
          at["threadIdx.z"] = t / n.block[0] / n.block[1];
          std::vector<std::int64_t> own;
          for (const Polynomial& p : values) {
            const auto value = p.evaluate(at);
            if (!value) return false;
            own.push_back(signs ? *value >= 0 : *value);
          }
          if (signs) own = {std::ranges::count(own, 0) == 0};
          if (t % (block ? threads : kWarp) == 0) first = own;
          if (own != first) return false;
        }
      }
    }
    return true;
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
