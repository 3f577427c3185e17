#include "moves/rows/row_scan.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/packs.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Access;
using model::Array;
using model::Expr;
using model::Loop;
using model::Polynomial;
using model::Reduction;
using model::Stmt;
using model::StmtKind;
using model::Unit;

const Reduction* scanned(const Loop& loop) {
  return loop.reductions.size() == 1 ? &loop.reductions[0] : nullptr;
}

class ScanWriter {
 public:
  ScanWriter(const model::KernelModel& model,
             const Loop& loop,
             const LaneGroup& group,
             const ScanShape& shape,
             std::set<std::string, std::less<>>& taken)
      : model_(model),
        unit_(model.unit),
        loop_(loop),
        r_(*scanned(loop)),
        group_(group),
        shape_(shape),
        taken_(taken),
        tab_(model::indent_unit(model.unit)) {}

  std::optional<std::string> text() {
    items_ = shape_.packs * shape_.vector;
    tile_ = items_ * group_.lanes;
    running_ = fresh("running"), total_ = fresh("total"), before_ = fresh("before"),
    left_ = fresh("left"), at_ = fresh("at");
    p_ = free_name(unit_, {"p", "pack"}, taken_), d_ = group_.step;
    k_ = shape_.vector == 1 ? p_ : group_.part;
    const auto end = model_.facts.resolved(loop_.end).constant(),
               first = model_.facts.resolved(loop_.first).constant();
    if (end && first) length_ = std::max<std::int64_t>(0, *end - *first);
    once_ = length_ && *length_ <= tile_;
    full_ = length_ && *length_ % tile_ == 0;
    if (!once_) t_ = fresh("t");
    find_packs();
    if (shape_.vector > 1 && loaded_.empty() && stored_.empty()) return std::nullopt;
    std::string body = loads() + totals();
    body += group_.within_warp() ? within_warp() : over_block();
    for (const auto& [access, local] : stored_) body += transfer(*access, local, false);
    return wrapped(body);
  }

 private:
  struct Packed {
    const Access* access;
    std::string local;
  };

  std::string fresh(std::string_view wish) {
    return *taken_.insert(model::fresh_name(unit_, wish, &taken_)).first;
  }
  [[nodiscard]] const Array& array_of(const Access& a) const {
    return model_.facts.arrays[static_cast<std::size_t>(a.array)];
  }
  [[nodiscard]] std::int64_t warps() const { return group_.block() / kWarpLanes; }
  /// lanes that shuffle
  [[nodiscard]] std::int64_t span() const {
    return group_.within_warp() ? group_.lanes : kWarpLanes;
  }
  [[nodiscard]] std::string combined(std::string_view a, std::string_view b) const {
    return model::combine_text(r_.op, r_.type, a, b);
  }
  [[nodiscard]] std::string identity() const {
    return std::string(model::identity_text(r_.op, r_.type));
  }
  [[nodiscard]] std::string mask() const {
    return group_.lanes < kWarpLanes ? group_.mask : "0xffffffffu";
  }
  [[nodiscard]] std::string rank() const {
    return group_.lanes <= kWarpLanes ? group_.lane : group_.lane + " % 32";
  }
  [[nodiscard]] std::string width() const {
    return group_.lanes < kWarpLanes ? ", " + group_.lanes_name : "";
  }

  /// Accesses of the loop that run along memory are moved in packs through local arrays.
  void find_packs() {
    for (const Access* a : model_.facts.accesses_in(*loop_.stmt)) {
      const std::string atom = loop_atom(a->source_index, loop_),
                        folded = loop_atom(a->index, loop_);
      if (a->loops.back() != &loop_ || a->kind == model::AccessKind::atomic ||
          a->kind == model::AccessKind::read_write)
        continue;
      if (a->vector_width != 1 || a->in_helper || array_of(*a).space != model::Space::global ||
          is_moved(model_.facts, array_of(*a)))
        continue;
      if (a->expr->kind != model::ExprKind::subscript || is_address(*a->expr) || is_conditional(*a))
        continue;
      if (!a->source_index.affine_in(atom) ||
          !(a->source_index.coefficient_of(atom) == Polynomial(1)) || !a->index.affine_in(folded))
        continue;
      const Polynomial start = a->index.without(folded) + loop_.first;
      if (shape_.vector > 1 && !can_pack(model_.facts, array_of(*a), start, shape_.vector))
        continue;
      if (shape_.vector > 1 && !(length_ && *length_ % shape_.vector == 0)) continue;
      auto& list = a->writes() ? stored_ : loaded_;
      const auto known = std::find_if(list.begin(), list.end(), [&](const Packed& p) {
        return p.access->array == a->array && p.access->index == a->index;
      });
      const std::string local = known != list.end()
                                    ? known->local
                                    : fresh(array_of(*a).name + (a->writes() ? "_out" : "_pack"));
      if (known == list.end()) list.push_back({a, local});
      replaced_[a->expr] = local + "[" + k_ + "]";
    }
  }

  static bool is_address(const Expr& e) {
    return e.parent != nullptr && e.parent->is_op(model::ExprKind::unary, "&");
  }

  [[nodiscard]] bool is_conditional(const Access& a) const {
    return std::any_of(a.guards.begin(), a.guards.end(), [&](const model::Guard* g) {
      return g->stmt != nullptr && g->stmt != loop_.stmt && model::is_inside(*g->stmt, *loop_.stmt);
    });
  }

  [[nodiscard]] std::string start_text() const {
    const std::string first = loop_.source_first.is_zero() ? "" : loop_.source_first.text() + " + ";
    return once_ ? first : t_ + " + ";
  }
  [[nodiscard]] std::string element_place() const {
    if (shape_.vector == 1)
      return start_text() + k_ + " * " + group_.lanes_name + " + " + group_.lane;
    const std::string v = std::to_string(shape_.vector);
    return start_text() + k_ + " / " + v + " * " + std::to_string(group_.lanes * shape_.vector) +
           " + " + group_.lane + " * " + v + " + " + k_ + " % " + v;
  }
  [[nodiscard]] std::string pack_place() const {
    return start_text() + k_ + " * " + group_.lanes_name + " + " + group_.lane +
           (shape_.vector > 1 ? " * " + std::to_string(shape_.vector) : "");
  }
  [[nodiscard]] std::string end_text() const { return loop_.source_end.text(); }

  [[nodiscard]] std::string transfer(const Access& a, const std::string& local, bool load) const {
    const Polynomial base = a.source_index.without(loop_atom(a.source_index, loop_));
    const std::string there = (base.is_zero() ? "" : base.text() + " + ") + pack_place();
    std::string move = pack_move(array_of(a), shape_.vector, local, k_, there, load);
    if (!full_) move = "if (" + pack_place() + " < " + end_text() + ") " + move;
    return "#pragma unroll\nfor (int " + k_ + " = 0; " + k_ + " < " + std::to_string(items_) +
           "; " + (shape_.vector > 1 ? k_ + " += " + std::to_string(shape_.vector) : "++" + k_) +
           ") {\n" + tab_ + move + "\n}\n";
  }

  [[nodiscard]] std::string loads() const {
    std::string out;
    const std::string align = shape_.vector > 1 ? "alignas(16) " : "";
    for (const Packed& p : stored_)
      out +=
          align + array_of(*p.access).type + " " + p.local + "[" + std::to_string(items_) + "];\n";
    for (const Packed& p : loaded_) {
      out += align + array_of(*p.access).type + " " + p.local + "[" + std::to_string(items_) +
             "];\n" + transfer(*p.access, p.local, true);
    }
    return out;
  }

  /// Text of a statement of the loop, its comments too, with packed accesses replaced and the
  /// accumulator under its new name; a block without its braces, lines as far left as they go.
  [[nodiscard]] std::string body_text(const Stmt& stmt) const {
    model::Span span = stmt.span;
    if (stmt.is(StmtKind::block)) ++span.begin, --span.end;
    std::vector<Edit> edits;
    model::walk_expressions(stmt, [&](const Expr& e) {
      const auto packed = replaced_.find(&e);
      if (packed != replaced_.end())
        return edits.push_back(
                   {e.span.begin - span.begin, e.span.end - span.begin, packed->second}),
               false;
      if (e.is_name(r_.accumulator))
        edits.push_back({e.span.begin - span.begin, e.span.end - span.begin, running_});
      return true;
    });
    return shifted_left(edited(unit_.text(span), std::move(edits)));
  }

  static std::string shifted_left(std::string_view text) {
    std::vector<std::string> lines;
    std::size_t least = std::string::npos;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines.emplace_back(text.substr(begin, end - begin));
      const std::size_t blanks = lines.back().find_first_not_of(" \t\r");
      if (blanks == std::string::npos)
        lines.back().clear();
      else if (lines.size() > 1)
        least = std::min(least, blanks);
      begin = end + 1;
    }
    std::string out;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const std::size_t cut = k == 0 ? lines[k].find_first_not_of(" \t") : least;
      const std::string line = cut < lines[k].size() ? lines[k].substr(cut) : std::string();
      if (!line.empty()) out += (out.empty() ? "" : "\n") + line;
    }
    return out;
  }

  [[nodiscard]] bool needs_place(const std::vector<const Stmt*>& list) const {
    bool out = !full_;
    for (const Stmt* s : list) {
      model::walk_expressions(*s, [&](const Expr& e) {
        if (replaced_.contains(&e)) return false;
        out = out || e.is_name(loop_.variable);
        return true;
      });
    }
    return out;
  }

  /// `text` for each element of pack p that lies in the row; `used`: what of the loop it holds.
  [[nodiscard]] std::string each_element(const std::vector<const Stmt*>& used,
                                         const std::string& text) const {
    std::string element;
    if (needs_place(used)) {
      const std::string type =
          loop_.declarator == nullptr ? "int" : std::string(unit_.text(loop_.declarator->type));
      element = "const " + type + " " + loop_.variable + " = " + element_place() + ";\n";
    }
    if (shape_.vector == 1) {
      if (full_) return "{\n" + model::indented(element + text, tab_) + "}\n";
      return element + "if (" + loop_.variable + " < " + end_text() + ") {\n" +
             model::indented(text, tab_) + "}\n";
    }
    if (!full_) element += "if (" + loop_.variable + " >= " + end_text() + ") break;\n";
    const std::string v = std::to_string(shape_.vector);
    return "#pragma unroll\nfor (int " + k_ + " = " + p_ + " * " + v + "; " + k_ + " < " + p_ +
           " * " + v + " + " + v + "; ++" + k_ + ") {\n" + model::indented(element + text, tab_) +
           "}\n";
  }

  [[nodiscard]] std::string pack_loop(const std::string& text) const {
    return "#pragma unroll\nfor (int " + p_ + " = 0; " + p_ + " < " + std::to_string(shape_.packs) +
           "; ++" + p_ + ") {\n" + model::indented(text, tab_) + "}\n";
  }

  /// Each lane's value is combined with those of the lanes before it.
  [[nodiscard]] std::string shuffle_scan(const std::string& variable,
                                         const std::string& lanes,
                                         const std::string& width) const {
    return "#pragma unroll\nfor (int " + d_ + " = 1; " + d_ + " < " + lanes + "; " + d_ +
           " *= 2) {\n" + tab_ + "const " + r_.type + " " + left_ + " = __shfl_up_sync(" + mask() +
           ", " + variable + ", " + d_ + width + ");\n" + tab_ + "if (" + rank() + " >= " + d_ +
           ") " + variable + " = " + combined(left_, variable) + ";\n}\n";
  }

  /// Statements that make the value to be combined: declarations before the update.
  [[nodiscard]] std::vector<const Stmt*> value_statements() const {
    std::vector<const Stmt*> out;
    for (const Stmt* s : model::statements(*loop_.stmt->body)) {
      if (s == r_.stmt) break;
      if (s->is(StmtKind::declaration) && !model::mentions(*s, r_.accumulator)) out.push_back(s);
    }
    return out;
  }

  [[nodiscard]] std::string value_text() const {
    if (r_.value == nullptr) return {};
    std::vector<Edit> edits;
    const std::size_t at = r_.value->outer.begin;
    model::walk(*r_.value, [&](const Expr& e) {
      const auto packed = replaced_.find(&e);
      if (packed == replaced_.end()) return true;
      return edits.push_back({e.span.begin - at, e.span.end - at, packed->second}), false;
    });
    const std::string text = edited(unit_.text(r_.value->outer), std::move(edits));
    return r_.negated ? "-(" + text + ")" : text;
  }

  [[nodiscard]] std::string update(const std::string& variable, std::string_view other) const {
    return update_text({variable, r_.type, r_.op}, other);
  }

  /// Sum of each pack, then of all packs of the lanes before in the warp.
  [[nodiscard]] std::string totals() const {
    const std::string packs = std::to_string(shape_.packs), own = total_ + "[" + p_ + "]";
    std::vector<const Stmt*> used = value_statements();
    std::string element;
    for (const Stmt* s : used) element += body_text(*s) + "\n";
    element += update(own, value_text()) + "\n";
    used.push_back(r_.stmt);
    std::string in = own + " = " + identity() + ";\n" + each_element(used, element) +
                     shuffle_scan(own, std::to_string(span()), width());
    in +=
        before_ + "[" + p_ + "] = __shfl_up_sync(" + mask() + ", " + own + ", 1" + width() + ");\n";
    return r_.type + " " + total_ + "[" + packs + "], " + before_ + "[" + packs +
           "];  // up to a lane's pack, and before it, in the warp\n" + pack_loop(in);
  }

  /// The loop's body over the elements of pack p; `running` holds what precedes them.
  [[nodiscard]] std::string elements() const {
    const std::string first =
        "if (" + rank() + " > 0) " + update(running_, before_ + "[" + p_ + "]") + "\n";
    return first +
           each_element(model::statements(*loop_.stmt->body), body_text(*loop_.stmt->body) + "\n");
  }

  [[nodiscard]] std::string within_warp() const {
    const std::string last = "__shfl_sync(" + mask() + ", " + total_ + "[" + p_ + "], " +
                             group_.lanes_name + " - 1" + width() + ")";
    return pack_loop(r_.type + " " + running_ + " = " + r_.accumulator + ";\n" + elements() +
                     update(r_.accumulator, last) + "\n");
  }

  std::string over_block() {
    const std::int64_t all = warps() * shape_.packs;
    const std::string count = std::to_string(all), w = std::to_string(warps()),
                      shared = fresh(r_.accumulator + "_warp");
    const std::string chosen = once_ ? shared : shared + "[" + (side_ = fresh("side")) + "]",
                      sum = fresh("warps");
    if (model::enclosing_loop(*loop_.stmt) != nullptr)
      shared_ = "__syncthreads();  // the last totals have been read\n";
    shared_ += "__shared__ " + r_.type + " " + shared + (once_ ? "" : "[2]") + "[" + count +
               "];  // totals of the warps\n";
    const std::string place = p_ + " * " + w + " + " + group_.lane + " / 32";
    std::string out =
        "if (" + rank() + " == 31) {\n" +
        model::indented(pack_loop(chosen + "[" + place + "] = " + total_ + "[" + p_ + "];\n"),
                        tab_) +
        "}\n__syncthreads();\n";
    out += r_.type + " " + sum + " = " + (all < kWarpLanes ? rank() + " < " + count + " ? " : "") +
           chosen + "[" + rank() + "]" + (all < kWarpLanes ? " : " + identity() : std::string()) +
           ";\n";
    out += shuffle_scan(sum, count, "");
    std::string in = "const int " + at_ + " = " + place + ";\n";
    in += "const " + r_.type + " " + left_ + " = __shfl_sync(0xffffffffu, " + sum + ", " + at_ +
          " == 0 ? 0 : " + at_ + " - 1);\n";
    in += r_.type + " " + running_ + " = " + r_.accumulator + ";\n";
    in += "if (" + at_ + " > 0) " + update(running_, left_) + "\n" + elements();
    out += pack_loop(in);
    return out +
           update(r_.accumulator,
                  "__shfl_sync(0xffffffffu, " + sum + ", " + std::to_string(all - 1) + ")") +
           "\n";
  }

  [[nodiscard]] std::string wrapped(const std::string& body) const {
    const std::string note =
        "// Each lane takes " +
        std::string(shape_.packs > 1 ? std::to_string(shape_.packs) + " packs of " : "") +
        std::to_string(shape_.vector) + (shape_.vector > 1 ? " neighbours" : " element") +
        "; what precedes them comes from a scan over all lanes.\n";
    if (once_) return note + "{\n" + model::indented(shared_ + body, tab_) + "}";
    std::string out = note;
    std::string inside = body;
    if (!side_.empty()) {
      out += shared_ + "int " + side_ + " = 0;\n";
      inside += side_ + " ^= 1;\n";
    }
    const std::string first = loop_.source_first.text();
    return out + "for (int " + t_ + " = " + first + "; " + t_ + " < " + end_text() + "; " + t_ +
           " += " + std::to_string(tile_) + ") {\n" + model::indented(inside, tab_) + "}";
  }

  const model::KernelModel& model_;
  const Unit& unit_;
  const Loop& loop_;
  const Reduction& r_;
  const LaneGroup& group_;
  ScanShape shape_;
  std::set<std::string, std::less<>>& taken_;
  std::string tab_;
  std::int64_t items_ = 0, tile_ = 0;
  std::optional<std::int64_t> length_;
  bool once_ = false, full_ = false;
  std::string running_, total_, before_, left_, at_, t_, side_, shared_;
  std::string p_, k_, d_;  ///< loop variables over packs, elements, distances
  std::vector<Packed> loaded_, stored_;
  std::map<const Expr*, std::string> replaced_;
};

}  // namespace

std::string scan_refusal(const model::KernelModel& model, const model::Loop& loop) {
  const Reduction* r = scanned(loop);
  if (loop.kind != model::LoopClass::scan || r == nullptr)
    return "the loop is no scan of one accumulator";
  if (r->access >= 0)
    return "the result is accumulated in memory, in " + r->accumulator + ": promote_scalars";
  if (r->value == nullptr || model::identity_text(r->op, r->type).empty())
    return "the operator has no neutral element to start from";
  if (model::size_of_type(r->type) < 4) return "the accumulator is of type " + r->type;
  if (!loop.counted || !loop.stmt->is(StmtKind::for_) || !loop.declared_inside || loop.descending ||
      loop.exits_early || loop.has_barrier) {
    return "the loop does not count upwards in its header to its end";
  }
  if (loop.step.constant() != 1) return "the loop's step is not 1";
  if (!loop.children.empty()) return "a loop stands inside the scan";
  bool plain = r->stmt != nullptr && r->stmt->parent != nullptr &&
               (r->stmt->parent == loop.stmt || r->stmt->parent == loop.stmt->body);
  model::walk(*loop.stmt->body, [&](const Stmt& s) {
    return plain = plain && !s.is(StmtKind::continue_) && !s.is(StmtKind::return_), true;
  });
  if (!plain) return "the update stands under a condition";
  // The value is computed twice, the first time apart from the rest of the body.
  std::set<std::string> made;
  for (const Stmt* s : model::statements(*loop.stmt->body)) {
    if (s == r->stmt) break;
    if (s->is(StmtKind::declaration)) {
      for (const model::Declarator* d : s->declarators) made.insert(std::string(d->name));
    }
  }
  for (const std::string& name : loop.private_scalars) {
    if (!made.contains(name) && model::mentions(*r->value, name))
      return name + " is set in an earlier statement";
  }
  for (const model::Access* a : model.facts.accesses_in(*loop.stmt)) {
    if (!a->writes() ||
        model.facts.arrays[static_cast<std::size_t>(a->array)].space == model::Space::global)
      continue;
    return "the loop writes " + model.facts.arrays[static_cast<std::size_t>(a->array)].name;
  }
  return {};
}

std::optional<std::string> scan_text(const model::KernelModel& model,
                                     const model::Loop& loop,
                                     const LaneGroup& group,
                                     const ScanShape& shape,
                                     std::set<std::string, std::less<>>& taken) {
  return ScanWriter(model, loop, group, shape, taken).text();
}

}  // namespace warpath
