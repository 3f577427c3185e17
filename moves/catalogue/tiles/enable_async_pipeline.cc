#include <algorithm>
#include <array>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/edit/code_template.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/kernel_rewrite.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

const std::array<Tunable, 1> kParameters{
    {{"stages",
      {2, 3, 4, 5},
      3,
      "tiles in shared memory: one is read, the others are on their way"}}};

constexpr std::string_view kHelpers =
    R"(// Starts copying @BYTES bytes to shared memory; without `wanted` they become zero and nothing is read.
__device__ __forceinline__ void @COPY(void* to, const void* from, bool wanted) {
  asm volatile("cp.async.@CACHE.shared.global [%0], [%1], @BYTES, %2;"
               :: "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "r"(wanted ? @BYTES : 0) : "memory");
}
)";

constexpr std::string_view kWaitHelpers = R"(
__device__ __forceinline__ void @commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until all but the newest @PENDING groups of this thread's copies are there.
__device__ __forceinline__ void @wait_copies() { asm volatile("cp.async.wait_group @PENDING;" ::: "memory"); }
)";

constexpr std::string_view kFill = R"(// Tiles are on their way for STAGES - 1 steps ahead.
constexpr int @STAGES = @STAGES_VALUE;
#pragma unroll
for (int @ahead = 0; @ahead < @STAGES - 1; @ahead++) {
  const @TYPE @K = @FIRST + @ahead * (@STEP);
  const int @fill = @ahead;
  if (@K < @END) {
@COPIES  }
  @commit_copies();
}
)";

constexpr std::string_view kBody = R"(
  @wait_copies();
  __syncthreads();  // this step's tiles are there, and those of the step before are done with
  const @TYPE @next = @K + (@STAGES - 1) * (@STEP);
  if (@next < @END) {
    const @TYPE @K = @next;
    const int @fill = @PLACE % @STAGES;
@COPIES  }
  @commit_copies();
  const int @use = @PLACE % @STAGES;
@COMPUTE)";

/// Element of shared memory that a copy writes, the global one that it reads, and when.
struct Copy {
  const Stmt* stmt = nullptr;
  const Expr* target = nullptr;
  const Expr* load = nullptr;
  const Expr* condition = nullptr;  ///< null: always
  std::size_t bytes = 0;
};

bool is_zero(const Expr& e) {
  const Expr& inner = strip_casts(e);
  return inner.is(ExprKind::number) &&
         inner.name.find_first_not_of("0.fF") == std::string_view::npos;
}

bool is_barrier(const Stmt& stmt) {
  return stmt.is(StmtKind::expression) && stmt.expr != nullptr &&
         callee(*stmt.expr) == "__syncthreads";
}

class Pipeline {
 public:
  Pipeline(const KernelModel& kernel, std::string& why)
      : unit_(kernel.unit), facts_(kernel.facts), why_(why) {}

  /// Reads the loop as a staged one; false with one line in `why`.
  bool read(const Loop& loop) {
    loop_ = &loop;
    const bool plain = loop.counted && loop.stmt->is(StmtKind::for_) && !loop.descending &&
                       loop.uniform && !loop.exits_early && !loop.inclusive &&
                       loop.declared_inside && loop.bound_expr != nullptr &&
                       loop.first_expr != nullptr;
    if (facts_.has_opaque || !plain || !read_step())
      return fail("no plain loop of the whole block");
    if (!split() || !read_copies() || !check_tiles() || !find_repeated()) return false;
    for (const std::string& name : loop.assigned) {
      if (name == loop.variable) continue;
      for (const Stmt* stmt : copy_) {
        if (mentions(*stmt, name))
          return fail("the copies depend on " + name + " from step to step");
      }
    }
    return true;
  }

  [[nodiscard]] std::string source(int stages) const {
    CodeTemplate code(unit_);
    code.set("STAGES_VALUE", stages);
    code.set("PENDING", stages - 2);
    code.set("TYPE", std::string(unit_.text(loop_->declarator->type)));
    code.set("K", loop_->variable);
    code.set("FIRST", unit_.plain_text(loop_->first_expr->outer));
    code.set("STEP", step_);
    code.set("END", unit_.plain_text(loop_->bound_expr->outer));
    code.set("PLACE", loop_->first.is_zero() ? code.fill("@K / (@STEP)")
                                             : code.fill("(@K - (@FIRST)) / (@STEP)"));
    std::string helpers;
    for (const std::size_t bytes : {4, 8, 16}) {
      if (std::none_of(copies_.begin(), copies_.end(),
                       [&](const Copy& c) { return c.bytes == bytes; }))
        continue;
      code.set("BYTES", static_cast<long long>(bytes));
      code.set("CACHE", bytes == 16 ? "cg" : "ca");
      code.set("COPY", copy_name(code, bytes));
      helpers += code.fill(kHelpers) + "\n";
    }
    helpers += code.fill(kWaitHelpers) + "\n";

    const std::string indent = indentation(unit_, loop_->stmt->span.begin),
                      deep = indent_unit(unit_);
    std::string copies, compute;
    for (const Stmt* stmt : copy_) copies += rewritten(code, *stmt, code.name("fill"), true) + "\n";
    for (const Stmt* stmt : repeated_)
      compute += rewritten(code, *stmt, code.name("use"), false) + "\n";
    for (const Stmt* stmt : compute_)
      compute += rewritten(code, *stmt, code.name("use"), false) + "\n";
    code.set("COPIES", model::indented(copies, deep + deep));
    const std::string fill = code.fill(kFill);
    code.set("COMPUTE", model::indented(compute, deep));
    const std::string loop = unit_.plain_text(loop_->stmt->header) + " {" + code.fill(kBody) + "}";

    std::vector<Edit> edits;
    const std::size_t before = whole_lines(unit_, facts_.kernel->span, true).begin;
    edits.push_back({before, before, helpers});
    for (const int tile : tiles_) {
      const std::size_t at =
          facts_.arrays[static_cast<std::size_t>(tile)].declarator->name_span.end;
      edits.push_back({at, at, "[" + std::to_string(stages) + "]"});
    }
    const std::string text = model::indented(fill + loop, indent);
    const std::size_t begin =
        loop_->stmt->pragma != nullptr ? loop_->stmt->pragma->span.begin : loop_->stmt->span.begin;
    edits.push_back({begin, loop_->stmt->span.end, text.substr(indent.size())});
    return edited(unit_.source(), std::move(edits));
  }

  /// Of the kernel's shared memory once the tiles are a ring.
  [[nodiscard]] std::int64_t smem_bytes(int stages) const {
    return static_smem_bytes(facts_) + bytes_ * (stages - 1);
  }

 private:
  bool fail(std::string text) { return why_ = std::move(text), false; }

  static std::string copy_name(CodeTemplate& code, std::size_t bytes) {
    return code.name("copy_async_" + std::to_string(bytes));
  }

  bool read_step() {
    const Expr* step = loop_->stmt->step;
    if (step == nullptr) return false;
    if (step->is_op(ExprKind::assign, "+="))
      return step_ = unit_.plain_text(step->arg(1).outer), true;
    if (step->op == "++") return step_ = "1", true;
    return false;
  }

  /// copies, barrier, use, barrier; or barrier, copies, barrier, use.
  bool split() {
    std::vector<const Stmt*> all;
    for (const Stmt* stmt : statements(*loop_->stmt->body)) {
      if (!stmt->is(StmtKind::empty)) all.push_back(stmt);
    }
    int barriers = 0;
    walk_expressions(*loop_->stmt->body, [&](const Expr& e) {
      return barriers += callee(e) == "__syncthreads" ? 1 : 0, true;
    });
    if (barriers != 2 || all.empty()) return fail("not two barriers a step");
    const bool leading = is_barrier(*all.front());
    if (!leading && !is_barrier(*all.back())) return fail("no barrier at either end of the step");
    all.erase(leading ? all.begin() : all.end() - 1);
    const auto middle =
        std::find_if(all.begin(), all.end(), [](const Stmt* s) { return is_barrier(*s); });
    if (middle == all.end()) return fail("the barriers stand deeper in the step");
    copy_.assign(all.begin(), middle), compute_.assign(middle + 1, all.end());
    return copy_.empty() || compute_.empty() ? fail("nothing is copied or nothing is used") : true;
  }

  bool read_copies() {
    for (const Stmt* top : copy_) {
      bool ok = true;
      walk(*top, [&](const Stmt& stmt) {
        if (stmt.is(StmtKind::expression) && stmt.expr != nullptr) ok = ok && read_copy(stmt);
        if (stmt.is(StmtKind::if_) && stmt.otherwise != nullptr) ok = false;
        if (stmt.is(StmtKind::declaration)) ok = ok && reads_nothing(stmt);
        if (stmt.is(StmtKind::while_) || stmt.is(StmtKind::do_) || stmt.is(StmtKind::switch_) ||
            stmt.is(StmtKind::return_))
          ok = false;
        return ok;
      });
      if (!ok)
        return fail(why_.empty() ? "the copies do more than copy: " + unit_.plain_text(top->span)
                                 : why_);
    }
    return copies_.empty() ? fail("nothing is copied to shared memory") : true;
  }

  /// Copies run steps ahead of the use: a local that both need (the last element of the step) is
  /// made twice.
  bool find_repeated() {
    for (auto at = copy_.rbegin(); at != copy_.rend(); ++at) {
      for (const Declarator* d : (*at)->declarators) {
        const auto needs = [&](const Stmt* stmt) { return mentions(*stmt, d->name); };
        if (std::none_of(compute_.begin(), compute_.end(), needs) &&
            std::none_of(repeated_.begin(), repeated_.end(), needs))
          continue;
        const bool pure = std::all_of(d->init.begin(), d->init.end(),
                                      [&](const Expr* e) { return is_pure(unit_, *e); });
        const bool set = std::any_of(copy_.begin(), copy_.end(), [&](const Stmt* stmt) {
          const std::vector<std::string> written = facts_.names_written(*stmt);
          return std::find(written.begin(), written.end(), d->name) != written.end();
        });
        if (!pure || set || d->is_array())
          return fail("the copies make " + std::string(d->name) + " for the use");
        if (repeated_.empty() || repeated_.front() != *at) repeated_.insert(repeated_.begin(), *at);
      }
    }
    return true;
  }

  [[nodiscard]] bool reads_nothing(const Stmt& stmt) const {
    return std::none_of(facts_.accesses.begin(), facts_.accesses.end(),
                        [&](const Access& a) { return a.stmt == &stmt; });
  }

  [[nodiscard]] const Access* whole_access(const Expr& e) const {
    for (const Access& access : facts_.accesses) {
      if (access.expr == &e || access.expr == &strip_casts(e)) return &access;
    }
    return nullptr;
  }

  bool read_copy(const Stmt& stmt) {
    if (!stmt.expr->is_op(ExprKind::assign, "=")) return false;
    Copy out;
    out.stmt = &stmt, out.target = &stmt.expr->arg(0);
    const Expr* value = &stmt.expr->arg(1);
    if (value->is(ExprKind::conditional) && is_zero(value->arg(2)))
      out.condition = &value->arg(0), value = &value->arg(1);
    out.load = value;
    const Access *to = whole_access(*out.target), *from = whole_access(*value);
    if (to == nullptr || from == nullptr) return false;
    const Array &tile = facts_.arrays[static_cast<std::size_t>(to->array)],
                &source = facts_.arrays[static_cast<std::size_t>(from->array)];
    if (tile.space != Space::shared || source.space != Space::global ||
        to->vector_width != from->vector_width)
      return false;
    out.bytes = tile.element_bytes * static_cast<std::size_t>(to->vector_width);
    if (tile.type != source.type) return fail(source.name + " changes its type on the way");
    if (out.bytes != 4 && out.bytes != 8 && out.bytes != 16)
      return fail("copies of " + std::to_string(out.bytes) + " bytes cannot be asynchronous");
    if (source.written || source.atomic) return fail(source.name + " is written too");
    if (std::find(tiles_.begin(), tiles_.end(), to->array) == tiles_.end())
      tiles_.push_back(to->array);
    copies_.push_back(out);
    return true;
  }

  /// The tiles live in this loop alone, and their names stand only in front of subscripts.
  bool check_tiles() {
    for (const int index : tiles_) {
      const Array& tile = facts_.arrays[static_cast<std::size_t>(index)];
      if (tile.dynamic_shared || tile.declarator == nullptr || tile.declarator->extents.empty())
        return fail(tile.name + " has no size of its own");
      if (tile.declarator->stmt == nullptr || is_inside(*tile.declarator->stmt, *loop_->stmt))
        return fail(tile.name + " is declared inside the loop");
      std::int64_t elements = 1;
      for (const Polynomial& extent : tile.extents) {
        const auto value = facts_.resolved(extent).constant();
        if (!value) return fail(tile.name + " has no constant size");
        elements *= *value;
      }
      bytes_ += elements * static_cast<std::int64_t>(tile.element_bytes);
      for (const Access& access : facts_.accesses) {
        if (access.array != index) continue;
        if (!is_inside(*access.stmt, *loop_->stmt))
          return fail(tile.name + " is used outside the loop");
        const bool copied = std::any_of(copies_.begin(), copies_.end(),
                                        [&](const Copy& c) { return c.stmt == access.stmt; });
        if (access.writes() && !copied) return fail(tile.name + " is written by more than copies");
      }
      bool plain = true;
      walk_expressions(*facts_.kernel->body, [&](const Expr& e) {
        if (e.is_name(tile.name) &&
            (e.parent == nullptr || !e.parent->is(ExprKind::subscript) || e.parent->args[0] != &e))
          plain = false;
        return true;
      });
      if (!plain) return fail(tile.name + " is used as a pointer");
    }
    return true;
  }

  /// Text of a statement with the tiles' slot put in and, if `async`, copies as calls.
  std::string rewritten(CodeTemplate& code,
                        const Stmt& stmt,
                        const std::string& slot,
                        bool async) const {
    const Span span =
        stmt.pragma != nullptr ? Span{stmt.pragma->span.begin, stmt.span.end} : stmt.span;
    std::vector<Edit> edits;
    walk_expressions(stmt, [&](const Expr& e) {
      const bool tile =
          e.is(ExprKind::name) && std::any_of(tiles_.begin(), tiles_.end(), [&](int i) {
            return facts_.arrays[static_cast<std::size_t>(i)].name == e.name;
          });
      if (tile)
        edits.push_back({e.span.end - span.begin, e.span.end - span.begin, "[" + slot + "]"});
      return true;
    });
    for (const Copy& copy : copies_) {
      if (!async || !is_inside(*copy.stmt, stmt)) continue;
      const auto at = [&](std::size_t byte) { return byte - span.begin; };
      const std::string wanted =
          copy.condition == nullptr ? "true" : unit_.plain_text(copy.condition->outer);
      edits.push_back({at(copy.stmt->span.begin), at(copy.stmt->span.begin),
                       copy_name(code, copy.bytes) + "(&"});
      edits.push_back({at(copy.target->outer.end), at(copy.load->outer.begin), ", &"});
      edits.push_back({at(copy.load->outer.end), at(copy.stmt->span.end), ", " + wanted + ");"});
    }
    // Lines lose the indentation that the statement had.
    const std::string text = edited(unit_.text(span), std::move(edits)),
                      old = "\n" + indentation(unit_, span.begin);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool line = text.compare(i, old.size(), old) == 0;
      out += line ? '\n' : text[i];
      if (line) i += old.size() - 1;
    }
    return out;
  }

  const Unit& unit_;
  const KernelFacts& facts_;
  std::string& why_;
  const Loop* loop_ = nullptr;
  std::string step_;
  std::vector<const Stmt*> copy_, compute_;
  std::vector<const Stmt*> repeated_;  // declarations among the copies that the use needs
  std::vector<Copy> copies_;
  std::vector<int> tiles_;
  std::int64_t bytes_ = 0;
};

/// Copies of tiles to shared memory become asynchronous and run some steps ahead of their use, in a
/// ring of tiles.
class EnableAsyncPipeline final : public ParameterMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "enable_async_pipeline"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    if (!context.device.is_gpu) return out;
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return out;
    for (std::size_t i = 0; i < kernel->facts.loops.size(); ++i) {
      Pipeline pipeline(*kernel, why);
      if (!pipeline.read(*kernel->facts.loops[i])) continue;
      for (const int stages : {3, 2, 4}) {
        if (!room(context.device, pipeline, stages).empty()) continue;
        out.push_back({std::string(name()), loop_site(i), {{"stages", stages}}});
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view) const override {
    return {kParameters.begin(), kParameters.end()};
  }

  [[nodiscard]] std::optional<Variant> applied(const MoveContext& context,
                                               const MoveInstance& wanted,
                                               std::string& why) const override {
    const auto stages = static_cast<int>(wanted.parameters.at("stages"));
    const auto kernel = model_kernel(context.spec, context.variant, why);
    if (kernel == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < kernel->facts.loops.size(); ++i) {
      if (wanted.site != loop_site(i)) continue;
      why.clear();
      Pipeline pipeline(*kernel, why);
      if (!pipeline.read(*kernel->facts.loops[i])) return std::nullopt;
      why = room(context.device, pipeline, stages);
      if (!why.empty()) return std::nullopt;
      Variant out = context.variant;
      out.source = pipeline.source(stages);
      return out;
    }
    return why = "no loop at " + wanted.site, std::nullopt;
  }

 private:
  static std::string room(const DeviceFacts& device, const Pipeline& pipeline, int stages) {
    if (!device.is_gpu) return "asynchronous copies need a GPU";
    const std::int64_t bytes = pipeline.smem_bytes(stages);
    return bytes > kStaticSmemBytes ? "with the ring the kernel takes " + std::to_string(bytes) +
                                          " bytes of shared memory"
                                    : "";
  }
};

}  // namespace

void register_move_enable_async_pipeline(MoveRegistry& registry) {
  registry.add("enable_async_pipeline",
               "copy tiles to shared memory asynchronously, some steps ahead of their use",
               [] { return std::make_unique<EnableAsyncPipeline>(); });
}

}  // namespace warpath
