#include "moves/rows/keep_row.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/text/source_edit.h"
#include "moves/edit/device_limits.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"
#include "moves/rows/packs.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Access;
using model::Array;
using model::Expr;
using model::KernelFacts;
using model::Loop;
using model::Polynomial;
using model::Space;
using model::Stmt;
using model::StmtKind;
using model::Unit;

/// of all kept operands a lane: beyond it registers spill
constexpr std::int64_t kMostElements = 128;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

bool compiles_before(const model::KernelModel& model, const Polynomial& value, const Stmt& place) {
  for (const std::string& name : value.names()) {
    if (name.find('.') != std::string::npos || model.unit.constants().contains(name)) continue;
    if (model::visible(model.unit, *model.kernel, name, place.span.begin) == nullptr) return false;
  }
  return true;
}

/// Nothing but the operand's own uses touches its memory while it is kept.
bool is_alone(const KernelFacts& facts, const RowOperand& o) {
  for (const Access& a : facts.accesses) {
    const bool own = std::any_of(o.uses.begin(), o.uses.end(),
                                 [&](const RowOperand::Use& u) { return u.access == &a; });
    if (own || (a.array != o.array && !facts.may_alias(a.array, o.array))) continue;
    if (a.writes() || o.written()) return false;
  }
  return true;
}

std::vector<const RowOperand*> kept_operands(const model::KernelModel& model,
                                             const RowSweeps& sweeps) {
  std::vector<const RowOperand*> out;
  for (const RowOperand& o : sweeps.operands) {
    const Array& array = model.facts.arrays[static_cast<std::size_t>(o.array)];
    if (o.conditional_write || !o.unconditional || array.element_bytes == 0 || array.escapes)
      continue;
    // Elements that no sweep writes would be stored as they are: they must have been loaded.
    const bool skips = std::any_of(o.uses.begin(), o.uses.end(), [&](const RowOperand::Use& u) {
      return u.access->writes() && sweeps.offsets[u.sweep] > 0;
    });
    if (skips && !o.read_first()) continue;
    if (is_alone(model.facts, o) &&
        compiles_before(model, o.base, *sweeps.loops[o.first_sweep()]->stmt))
      out.push_back(&o);
  }
  return out;
}

bool used_twice(const RowOperand& o) {
  return o.uses.front().sweep != o.uses.back().sweep;
}

bool fits_packs(const KernelFacts& facts, const RowOperand& o, std::int64_t vector) {
  return can_pack(facts, facts.arrays[static_cast<std::size_t>(o.array)], o.folded_base, vector);
}

/// Text that the body of a kept row is rewritten with, shared by both forms.
class RowKeeper {
 public:
  RowKeeper(const MoveContext& context, const model::KernelModel& model, const RowSweeps& sweeps)
      : context_(context),
        unit_(model.unit),
        facts_(model.facts),
        model_(model),
        sweeps_(sweeps),
        tab_(model::indent_unit(unit_)),
        k_(free_name(unit_, {"k", "e"}, taken_)),
        lanes_(lanes_text()) {}

  std::optional<Variant> in_registers(std::int64_t vector, std::string& why) {
    const std::vector<const RowOperand*> kept = kept_operands(model_, sweeps_);
    if (!worthwhile(kept, why) || !order_is_free(kept, vector, why)) return std::nullopt;
    const auto items = elements_a_lane(sweeps_, vector);
    if (!items)
      return why = "the row's length is no constant of the source: specialise_shape", std::nullopt;
    std::int64_t words = 0;
    for (const RowOperand* o : kept)
      words += ceil_div(*items * static_cast<std::int64_t>(array_of(*o).element_bytes), 4);
    if (words > 2 * kMostElements ||
        (words / 2 + 24) * sweeps_.threads > kMultiprocessorRegisters) {
      return why = std::to_string(words) + " registers a thread would hold the row", std::nullopt;
    }
    if (*items < 2) return why = "a lane has one element of the row", std::nullopt;
    items_ = *items, vector_ = vector;
    for (const RowOperand* o : kept) keep(*o);
    for (std::size_t s = 0; s < sweeps_.loops.size(); ++s) unroll_sweep(s);
    Variant out = context_.variant;
    if (sweeps_.lanes >= sweeps_.threads && sweeps_.lanes > 1 && !fix_block(out, why))
      return std::nullopt;
    out.source = edited(unit_.source(), std::move(edits_));
    return out;
  }

  std::optional<Variant> in_shared(std::string& why) {
    std::vector<const RowOperand*> kept;
    for (const RowOperand* o : kept_operands(model_, sweeps_)) {
      const bool updated = std::any_of(
          o->uses.begin(), o->uses.end(),
          [](const RowOperand::Use& u) { return u.access->kind == model::AccessKind::read_write; });
      const bool moves = std::any_of(sweeps_.offsets.begin(), sweeps_.offsets.end(),
                                     [&](std::int64_t c) { return c % sweeps_.lanes != 0; });
      if (used_twice(*o) && !updated && !(moves && o->written())) kept.push_back(o);
    }
    if (!worthwhile(kept, why)) return std::nullopt;
    const std::int64_t rows = std::max<std::int64_t>(1, sweeps_.threads / sweeps_.lanes);
    if (sweeps_.lanes > sweeps_.threads)
      return why = "a row is shared by several blocks", std::nullopt;
    std::int64_t bytes = 0;
    for (const RowOperand* o : kept)
      bytes +=
          sweeps_.length.value_or(0) * rows * static_cast<std::int64_t>(array_of(*o).element_bytes);
    if (bytes > context_.device.max_smem_per_block_bytes)
      return why = std::to_string(bytes) + " bytes of shared memory would hold the row",
             std::nullopt;
    const bool dynamic = !sweeps_.length || bytes > kStaticSmemBytes;
    if (dynamic && (kept.size() != 1 || rows != 1 ||
                    context_.variant.launch.dynamic_smem_bytes != Expression(0))) {
      return why = "one row of one operand fits dynamic shared memory", std::nullopt;
    }
    Variant out = context_.variant;
    for (const RowOperand* o : kept) stage(*o, rows, dynamic);
    if (dynamic && !set_smem(out.launch, *kept.front(), why)) return std::nullopt;
    out.source = edited(unit_.source(), std::move(edits_));
    return out;
  }

 private:
  [[nodiscard]] const Array& array_of(const RowOperand& o) const {
    return facts_.arrays[static_cast<std::size_t>(o.array)];
  }

  static bool worthwhile(const std::vector<const RowOperand*>& kept, std::string& why) {
    const bool again =
        std::any_of(kept.begin(), kept.end(), [](const RowOperand* o) { return used_twice(*o); });
    if (!again) why = "no element of the row is used by two sweeps";
    return again;
  }

  /// With packs, and where a sweep starts later than another, elements change lanes; those that are
  /// not kept must not care.
  bool order_is_free(const std::vector<const RowOperand*>& kept,
                     std::int64_t vector,
                     std::string& why) const {
    const bool same =
        vector == 1 && std::all_of(sweeps_.offsets.begin(), sweeps_.offsets.end(),
                                   [&](std::int64_t c) { return c % sweeps_.lanes == 0; });
    if (same) return true;
    for (const Loop* loop : sweeps_.loops) {
      for (const Access* w : facts_.accesses_in(*loop->stmt)) {
        const bool is_kept = std::any_of(kept.begin(), kept.end(),
                                         [&](const RowOperand* o) { return o->array == w->array; });
        if (!w->writes() || is_kept || w->kind == model::AccessKind::atomic) continue;
        for (const Access& a : facts_.accesses) {
          if ((a.array == w->array || facts_.may_alias(a.array, w->array)) &&
              !loop->stmt->span.contains(a.expr->span)) {
            return why = "elements of " + facts_.arrays[static_cast<std::size_t>(w->array)].name +
                         " would change lanes between sweeps",
                   false;
          }
        }
      }
    }
    return true;
  }

  std::string fresh(std::string_view wish) {
    std::string out = model::fresh_name(unit_, wish, &taken_);
    taken_.insert(out);
    return out;
  }

  // --- registers
  // ------------------------------------------------------------------------------------------------------

  /// The count of lanes: its constant, if the loops have one under a name.
  [[nodiscard]] std::string lanes_text() const {
    const Expr* step = sweeps_.loops.front()->stmt->step;
    const bool named =
        step->is_op(model::ExprKind::assign, "+=") && step->arg(1).kind == model::ExprKind::name;
    const model::Declarator* d = named ? model::declaration_of(unit_, step->arg(1)) : nullptr;
    return d != nullptr && d->is_constant() ? std::string(d->name) : std::to_string(sweeps_.lanes);
  }

  static std::string times(std::string_view factor, std::int64_t n) {
    return n == 1 ? std::string(factor) : std::string(factor) + " * " + std::to_string(n);
  }

  /// First element of the pack that starts at local place `k`.
  [[nodiscard]] std::string pack_place(const std::string& k) const {
    if (sweeps_.lanes == 1) return k;
    return k + " * " + lanes_ + " + " + times(sweeps_.lane, vector_);
  }

  [[nodiscard]] std::string element_place() const {
    if (sweeps_.lanes == 1) return k_;
    if (vector_ == 1) return k_ + " * " + lanes_ + " + " + sweeps_.lane;
    const std::string v = std::to_string(vector_);
    return "(" + k_ + " / " + v + " * " + lanes_ + " + " + sweeps_.lane + ") * " + v + " + " + k_ +
           " % " + v;
  }

  [[nodiscard]] std::string loop_head(std::int64_t step) const {
    return "#pragma unroll\nfor (int " + k_ + " = 0; " + k_ + " < " + std::to_string(items_) +
           "; " + (step > 1 ? k_ + " += " + std::to_string(step) : "++" + k_) + ")";
  }

  [[nodiscard]] bool is_full() const { return *sweeps_.length == items_ * sweeps_.lanes; }

  [[nodiscard]] std::int64_t width_of(const RowOperand& o) const {
    return fits_packs(facts_, o, vector_) && *sweeps_.length % vector_ == 0 ? vector_ : 1;
  }

  static std::string base_text(const RowOperand& o) {
    return o.base.is_zero() ? "" : o.base.text() + " + ";
  }

  /// The loop that fills the local array from the row.
  [[nodiscard]] std::string load(const RowOperand& o, const std::string& local) const {
    const std::int64_t width = width_of(o);
    const std::string place = width > 1 ? pack_place(k_) : element_place();
    std::string move = pack_move(array_of(o), width, local, k_, base_text(o) + place, true);
    if (!is_full()) move = "if (" + place + " < " + std::to_string(*sweeps_.length) + ") " + move;
    return loop_head(width) + " {\n" + tab_ + move + "\n}";
  }

  /// The statement that writes element k to the row, or the pack that k ends.
  [[nodiscard]] std::string store(const RowOperand& o, const std::string& local) const {
    const std::int64_t width = width_of(o);
    if (width == 1)
      return pack_move(array_of(o), 1, local, k_, base_text(o) + element_place(), false);
    const std::string w = std::to_string(width), last = std::to_string(width - 1),
                      first = k_ + " - " + last;
    const std::string place = sweeps_.lanes == 1 ? first : pack_place("(" + first + ")");
    return "if (" + k_ + " % " + w + " == " + last + ") " +
           pack_move(array_of(o), width, local, first, base_text(o) + place, false);
  }

  void keep(const RowOperand& o) {
    const Array& array = array_of(o);
    const std::string local = fresh(array.name + "_row");
    for (const RowOperand::Use& use : o.uses) replaced_[use.access->expr] = local + "[" + k_ + "]";
    std::string head = vector_ > 1 ? "alignas(16) " : "";
    head += array.type + " " + local + "[" + std::to_string(items_) + "];  // this " +
            (sweeps_.lanes > 1 ? "lane" : "thread") + "'s elements of the row";
    if (o.read_first()) head += "\n" + load(o, local);
    before_[o.first_sweep()] += head + "\n";
    if (const auto last = o.last_write()) stores_[*last] += store(o, local) + "\n";
  }

  void unroll_sweep(std::size_t s) {
    const Loop& loop = *sweeps_.loops[s];
    const Stmt& stmt = *loop.stmt;
    const std::size_t begin = stmt.pragma != nullptr ? stmt.pragma->span.begin : stmt.span.begin;
    const std::string indent = model::indentation(unit_, begin);
    std::string mask;
    if (sweeps_.offsets[s] > 0) mask = loop.variable + " < " + std::to_string(sweeps_.offsets[s]);
    if (!is_full())
      mask +=
          (mask.empty() ? "" : " || ") + loop.variable + " >= " + std::to_string(*sweeps_.length);
    std::string inside;
    if (!mask.empty() || needs_place(loop)) {
      inside =
          "const " + type_of_variable(loop) + " " + loop.variable + " = " + element_place() + ";";
      if (!mask.empty()) inside += "\nif (" + mask + ") continue;";
    }
    std::string head = before_[s] + loop_head(1);
    edits_.push_back({begin, stmt.header.end, hanging(head, indent)});
    const std::string deeper = indent + tab_, last = model::indented(stores_[s], deeper);
    const bool braces = stmt.body->is(StmtKind::block),
               add_braces = !braces && !(inside.empty() && last.empty());
    const model::Span body = stmt.body->span;
    if (braces && !inside.empty())
      edits_.push_back({body.begin + 1, body.begin + 1, "\n" + model::indented(inside, deeper)});
    if (add_braces) {
      edits_.push_back(
          {body.begin, body.begin,
           "{\n" + (inside.empty() ? "" : model::indented(inside, deeper) + "\n") + deeper});
    }
    for (const auto& [expr, text] : replaced_) {
      if (stmt.span.contains(expr->span))
        edits_.push_back({expr->span.begin, expr->span.end, text});
    }
    if (add_braces) {
      edits_.push_back({body.end, body.end, "\n" + last + indent + "}"});
    } else if (!last.empty()) {
      edits_.push_back({body.end - 1, body.end - 1, tab_ + hanging(stores_[s], deeper) + indent});
    }
  }

  /// The body asks for the place of an element, not only for the kept elements.
  [[nodiscard]] bool needs_place(const Loop& loop) const {
    bool out = false;
    model::walk_expressions(*loop.stmt->body, [&](const Expr& e) {
      if (replaced_.contains(&e)) return false;
      out = out || e.is_name(loop.variable);
      return true;
    });
    return out;
  }

  [[nodiscard]] std::string type_of_variable(const Loop& loop) const {
    return loop.declarator == nullptr ? "int" : std::string(unit_.text(loop.declarator->type));
  }

  // --- shared memory
  // --------------------------------------------------------------------------------------------------

  void stage(const RowOperand& o, std::int64_t rows, bool dynamic) {
    const Array& array = array_of(o);
    const std::string name = fresh(array.name + "_row"),
                      end = sweeps_.length ? std::to_string(*sweeps_.length) : sweeps_.end.text();
    const std::string lane = sweeps_.lanes > 1 ? sweeps_.lane : "0",
                      stride = std::to_string(sweeps_.lanes);
    const Loop& first = *sweeps_.loops[o.first_sweep()];
    const std::string& j = first.variable;
    std::string head = dynamic ? "extern __shared__ " + array.type + " " + name + "[];"
                               : "__shared__ " + array.type + " " + name +
                                     (rows > 1 ? "[" + std::to_string(rows) + "]" : "") + "[" +
                                     end + "];";
    head += rows > 1 ? "  // the block's rows" : "  // the row";
    const std::string row = rows > 1 ? name + "[threadIdx.x / " + stride + "]" : name;
    if (o.read_first()) {
      const std::string base = o.base.is_zero() ? "" : o.base.text() + " + ";
      head += "\nfor (int " + j + " = " + lane + "; " + j + " < " + end + "; " + j +
              " += " + stride + ") " + row + "[" + j + "] = " + array.name + "[" + base + j + "];";
    }
    for (std::size_t s = o.first_sweep(); s < sweeps_.loops.size(); ++s) {
      if (sweeps_.offsets[s] % sweeps_.lanes == 0) continue;
      head += sweeps_.lanes > kWarp ? "\n__syncthreads();"
              : sweeps_.lanes > 1   ? "\n__syncwarp();"
                                    : "";
      break;
    }
    const std::size_t at =
        first.stmt->pragma != nullptr ? first.stmt->pragma->span.begin : first.stmt->span.begin;
    const std::string indent = model::indentation(unit_, at);
    edits_.push_back({at, at, hanging(head, indent) + "\n" + indent});
    const auto last = o.last_write();
    for (const RowOperand::Use& use : o.uses) {
      // the final values go to global memory
      if (last && use.sweep == *last && use.access->writes()) continue;
      const Loop& loop = *sweeps_.loops[use.sweep];
      edits_.push_back({use.access->expr->span.begin, use.access->expr->span.end,
                        row + "[" + loop.variable + "]"});
    }
  }

  bool set_smem(LaunchPlan& plan, const RowOperand& o, std::string& why) const {
    const std::int64_t bytes = static_cast<std::int64_t>(array_of(o).element_bytes);
    if (sweeps_.length) return plan.dynamic_smem_bytes = Expression(*sweeps_.length * bytes), true;
    const Polynomial length = facts_.resolved(sweeps_.loops.front()->end);
    for (const std::string& name : length.names()) {
      if (context_.spec.io.find(name) == nullptr)
        return why = "the row's length is no expression over the arguments", false;
    }
    try {
      plan.dynamic_smem_bytes =
          Expression::parse("(" + length.text() + ") * " + std::to_string(bytes), "shared memory");
    } catch (const Error&) {
      return why = "the row's length is no expression over the arguments", false;
    }
    return true;
  }

  /// The numbers in the new text hold for this block size alone.
  bool fix_block(Variant& out, std::string& why) const {
    const std::set<std::string> block = out.launch.block[0].names(),
                                grid = out.launch.grid[0].names();
    const auto shared = std::find_if(block.begin(), block.end(),
                                     [&](const std::string& name) { return grid.contains(name); });
    if (shared != block.end())
      return why = "the grid depends on " + *shared + ", the size of a block", false;
    out.launch.block[0] = Expression(sweeps_.threads);
    return true;
  }

  const MoveContext& context_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const model::KernelModel& model_;
  const RowSweeps& sweeps_;
  std::string tab_;
  std::int64_t items_ = 0, vector_ = 1;
  std::map<const Expr*, std::string> replaced_;
  /// text before a sweep, at the end of its body
  std::map<std::size_t, std::string> before_, stores_;
  std::set<std::string, std::less<>> taken_;
  /// loop variable over a lane's elements; the count of lanes
  std::string k_, lanes_;
  std::vector<Edit> edits_;
};

}  // namespace

std::int64_t widest_pack(const model::KernelModel& model, const RowSweeps& sweeps) {
  if (!sweeps.length) return 1;
  const std::vector<const RowOperand*> kept = kept_operands(model, sweeps);
  for (const std::int64_t vector : {8, 4, 2}) {
    if (*sweeps.length % vector != 0 || *sweeps.length < sweeps.lanes * vector / 2) continue;
    const bool all = std::all_of(kept.begin(), kept.end(), [&](const RowOperand* o) {
      return fits_packs(model.facts, *o, vector);
    });
    if (all && !kept.empty()) return vector;
  }
  return 1;
}

std::optional<std::int64_t> elements_a_lane(const RowSweeps& sweeps, std::int64_t vector) {
  if (!sweeps.length) return std::nullopt;
  return ceil_div(*sweeps.length, sweeps.lanes * vector) * vector;
}

std::optional<Variant> keep_in_registers(const MoveContext& context,
                                         const model::KernelModel& model,
                                         const RowSweeps& sweeps,
                                         std::int64_t vector,
                                         std::string& why) {
  return RowKeeper(context, model, sweeps).in_registers(vector, why);
}

std::optional<Variant> keep_in_shared(const MoveContext& context,
                                      const model::KernelModel& model,
                                      const RowSweeps& sweeps,
                                      std::string& why) {
  return RowKeeper(context, model, sweeps).in_shared(why);
}

}  // namespace warpath
