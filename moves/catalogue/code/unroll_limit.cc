#include <algorithm>
#include <array>
#include <limits>

#include "engine/text/source_edit.h"
#include "moves/edit/kernel_move.h"
#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kAllLoops = "loops", kCopiesOfBody = "copies";
constexpr std::int64_t kAsCompiled = 0;
/// Of "#pragma unroll" without a number.
constexpr std::int64_t kAllIterations = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 3> kFirstUnrollLimits{1, 4, 2};  // best guess first
constexpr std::array<std::int64_t, 6> kUnrollLimits{kAsCompiled, 1, 2, 4, 8, 16};

/// Copies of the body that the loop's pragma asks for, kAsCompiled without one; nullopt for a
/// pragma of another kind.
std::optional<std::int64_t> copies_of(const Unit& unit, const Stmt& loop) {
  if (loop.pragma == nullptr) return kAsCompiled;
  constexpr std::string_view kUnroll = "#pragma unroll";
  const std::string text = unit.plain_text(loop.pragma->span);
  if (text == kUnroll) return kAllIterations;
  if (!text.starts_with(kUnroll)) return std::nullopt;
  const auto copies = integer_value(std::string_view(text).substr(kUnroll.size() + 1));
  return copies && *copies > 0 ? copies : std::nullopt;
}

/// The variable tells apart elements of an array that the compiler may keep in registers, which it
/// can with all iterations written out alone.
bool indexes_registers(const KernelModel& model, const Loop& loop) {
  bool found = false;
  walk_expressions(*loop.stmt->body, [&](const Expr& expr) {
    if (found || !expr.is(ExprKind::subscript)) return !found;
    const Expr* const whole = expr.parent;  // of several axes
    if (whole != nullptr && whole->is(ExprKind::subscript) && &whole->arg(0) == &expr) return true;
    const Access* const access = model.facts.access_of(expr);
    if (access == nullptr)
      found = mentions(expr, loop.variable);
    else if (model.facts.arrays[static_cast<std::size_t>(access->array)].space == Space::local)
      found = !access->index.is_known() || access->index.mentions(loop.variable);
    return true;
  });
  return found;
}

/// Why the loop is left alone, in one line; empty: it is not.
std::string refusal(const KernelModel& model, const Loop& loop) {
  if (!loop.stmt->is(StmtKind::for_) || loop.variable.empty()) return "it is no counting for loop";
  if (loop.stmt->parent != nullptr && loop.stmt->parent->is(StmtKind::macro))
    return "a macro stands before it";
  if (!copies_of(model.unit, *loop.stmt)) return "it has another pragma";
  if (indexes_registers(model, loop)) return "it goes over an array that may be in registers";
  return "";
}

/// unroll_loops sets the copies of the others while a kernel is searched for.
bool is_left_by_the_search(const KernelModel& model, const Loop& loop) {
  return !loop.children.empty() || copies_of(model.unit, *loop.stmt) == kAllIterations;
}

/// How many copies of a loop's body the compiler may make: of loops around others, of those that it
/// was told to write out whole, or of all at once. Fewer take fewer registers and less of the
/// instruction cache.
class UnrollLimit final : public KernelMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "unroll_limit"; }
  [[nodiscard]] bool polishes() const override { return true; }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kAllLoops && !is_loop_site(site)) return {};
    return {Tunable{std::string(kCopiesOfBody),
                    {kUnrollLimits.begin(), kUnrollLimits.end()},
                    kAsCompiled,
                    "most copies of the body; 0: leave it to the compiler"}};
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    std::optional<std::int64_t> common;
    for (const Loop* const loop : loops_at(*model, done.site)) {
      const std::int64_t copies = *copies_of(model->unit, *loop->stmt);
      if (common && *common != copies) return std::nullopt;
      common = copies;
    }
    if (!common || std::ranges::find(kUnrollLimits, *common) == kUnrollLimits.end())
      return std::nullopt;
    return MoveInstance{done.move, done.site, {{std::string(kCopiesOfBody), *common}}};
  }

 private:
  [[nodiscard]] std::vector<MoveInstance> candidates(const MoveContext&,
                                                     const KernelModel& model) const override {
    std::vector<MoveInstance> out;
    const auto list = [&](const std::string& site) {
      for (const std::int64_t copies : kFirstUnrollLimits)
        out.push_back({std::string(name()), site, {{std::string(kCopiesOfBody), copies}}});
    };
    if (loops_at(model, kAllLoops).size() > 1) list(std::string(kAllLoops));
    for (std::size_t i = 0; i < model.facts.loops.size(); ++i) {
      const Loop& loop = *model.facts.loops[i];
      if (refusal(model, loop).empty() && is_left_by_the_search(model, loop)) list(loop_site(i));
    }
    return out;
  }

  /// Those that are not left alone.
  static std::vector<const Loop*> loops_at(const KernelModel& model, std::string_view site) {
    std::vector<const Loop*> out;
    for (std::size_t i = 0; i < model.facts.loops.size(); ++i) {
      const Loop& loop = *model.facts.loops[i];
      if ((site == kAllLoops || site == loop_site(i)) && refusal(model, loop).empty())
        out.push_back(&loop);
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const MoveInstance& wanted,
                                                 std::string& why) const override {
    const std::int64_t copies = wanted.parameters.find(kCopiesOfBody)->second;
    const std::vector<const Loop*> loops = loops_at(model, wanted.site);
    if (wanted.site == kAllLoops && loops.size() < 2)
      return why = "there are no two loops to limit at once", std::nullopt;
    if (loops.empty()) {
      why = "there is no loop at " + wanted.site;
      for (std::size_t i = 0; i < model.facts.loops.size(); ++i) {
        if (wanted.site == loop_site(i)) why = refusal(model, *model.facts.loops[i]);
      }
      return std::nullopt;
    }
    Rewrite rewrite(model);
    bool changes = false;
    for (const Loop* const loop : loops) {
      const std::int64_t present = *copies_of(model.unit, *loop->stmt);
      // among all loops, one that has fewer copies keeps them
      const bool fewer = wanted.site == kAllLoops && copies != kAsCompiled &&
                         present != kAsCompiled && present < copies;
      const bool short_of_it = copies > 1 && loop->trip_count && *loop->trip_count <= copies;
      if (present == copies || fewer || short_of_it) continue;
      changes = true;
      const std::string text = "#pragma unroll " + std::to_string(copies);
      if (present == kAsCompiled)
        rewrite.before(*loop->stmt, text + "\n");
      else if (copies == kAsCompiled)
        rewrite.replace(whole_lines(model.unit, loop->stmt->pragma->span), "");
      else
        rewrite.replace(loop->stmt->pragma->span, text);
    }
    if (!changes) return why = "no loop makes more copies", std::nullopt;
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_unroll_limit(MoveRegistry& registry) {
  registry.add("unroll_limit", "how many copies of a loop's body the compiler may make",
               [] { return std::make_unique<UnrollLimit>(); });
}

}  // namespace warpath
