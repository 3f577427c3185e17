#include "moves/row_scan.h"

#include <algorithm>
#include <map>
#include <set>

#include "moves/packs.h"
#include "moves/row_sweeps.h"
#include "moves/source_edit.h"

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

const Reduction* scanned(const Loop& loop) { return loop.reductions.size() == 1 ? &loop.reductions[0] : nullptr; }

class ScanWriter {
 public:
  ScanWriter(const model::KernelModel& model, const Loop& loop, const LaneGroup& group, const ScanShape& shape,
             const std::function<std::string(std::string_view)>& fresh)
      : model_(model), unit_(model.unit), loop_(loop), r_(*scanned(loop)), group_(group), shape_(shape), fresh_(fresh),
        tab_(model::indent_unit(model.unit)) {}

  std::optional<std::string> text() {
    items_ = shape_.packs * shape_.vector;
    tile_ = items_ * group_.lanes;
    running_ = fresh_("running"), total_ = fresh_("total"), before_ = fresh_("before");
    const auto end = model_.facts.resolved(loop_.end).constant(), first = model_.facts.resolved(loop_.first).constant();
    if (end && first) length_ = std::max<std::int64_t>(0, *end - *first);
    once_ = length_ && *length_ <= tile_;
    full_ = length_ && *length_ % tile_ == 0;
    if (!once_) t_ = fresh_("t");
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

  const Array& array_of(const Access& a) const { return model_.facts.arrays[static_cast<std::size_t>(a.array)]; }
  std::int64_t warps() const { return group_.block() / kWarpLanes; }
  std::int64_t span() const { return group_.within_warp() ? group_.lanes : kWarpLanes; }  ///< lanes that shuffle
  std::string combined(std::string_view a, std::string_view b) const { return model::combine_text(r_.op, r_.type, a, b); }
  std::string identity() const { return std::string(model::identity_text(r_.op, r_.type)); }
  std::string mask() const { return group_.lanes < kWarpLanes ? group_.mask : "0xffffffffu"; }
  std::string rank() const { return group_.lanes <= kWarpLanes ? group_.lane : group_.lane + " % 32"; }
  std::string width() const { return group_.lanes < kWarpLanes ? ", " + group_.lanes_name : ""; }

  /// Accesses of the loop that run along memory are moved in packs through local arrays.
  void find_packs() {
    for (const Access* a : model_.facts.accesses_in(*loop_.stmt)) {
      const std::string atom = loop_atom(a->source_index, loop_), folded = loop_atom(a->index, loop_);
      if (a->loops.back() != &loop_ || a->kind == model::AccessKind::atomic || a->kind == model::AccessKind::read_write) continue;
      if (a->vector_width != 1 || a->in_helper || array_of(*a).space != model::Space::global) continue;
      if (a->expr->kind != model::ExprKind::subscript || is_address(*a->expr) || is_conditional(*a)) continue;
      if (!a->source_index.affine_in(atom) || !(a->source_index.coefficient_of(atom) == Polynomial(1)) || !a->index.affine_in(folded)) continue;
      const Polynomial start = a->index.without(folded) + loop_.first;
      if (shape_.vector > 1 && !can_pack(model_.facts, array_of(*a), start, shape_.vector)) continue;
      if (shape_.vector > 1 && !(length_ && *length_ % shape_.vector == 0)) continue;
      auto& list = a->writes() ? stored_ : loaded_;
      const auto known = std::find_if(list.begin(), list.end(), [&](const Packed& p) { return p.access->array == a->array && p.access->index == a->index; });
      const std::string local = known != list.end() ? known->local : fresh_(array_of(*a).name + (a->writes() ? "_out" : "_pack"));
      if (known == list.end()) list.push_back({a, local});
      replaced_[a->expr] = local + "[k]";
    }
  }

  static bool is_address(const Expr& e) { return e.parent != nullptr && e.parent->is_op(model::ExprKind::unary, "&"); }

  bool is_conditional(const Access& a) const {
    return std::any_of(a.guards.begin(), a.guards.end(), [&](const model::Guard* g) {
      return g->stmt != nullptr && g->stmt != loop_.stmt && model::is_inside(*g->stmt, *loop_.stmt);
    });
  }

  std::string start_text() const {
    const std::string first = loop_.source_first.is_zero() ? "" : loop_.source_first.text() + " + ";
    return once_ ? first : t_ + " + ";
  }
  std::string element_place() const {
    if (shape_.vector == 1) return start_text() + "k * " + group_.lanes_name + " + " + group_.lane;
    const std::string v = std::to_string(shape_.vector);
    return start_text() + "k / " + v + " * " + std::to_string(group_.lanes * shape_.vector) + " + " + group_.lane + " * " + v + " + k % " + v;
  }
  std::string pack_place() const {
    return start_text() + "k * " + group_.lanes_name + " + " + group_.lane + (shape_.vector > 1 ? " * " + std::to_string(shape_.vector) : "");
  }
  std::string end_text() const { return loop_.source_end.text(); }

  std::string transfer(const Access& a, const std::string& local, bool load) const {
    const Polynomial base = a.source_index.without(loop_atom(a.source_index, loop_));
    const std::string there = (base.is_zero() ? "" : base.text() + " + ") + pack_place();
    std::string move = pack_move(array_of(a), shape_.vector, local, "k", there, load);
    if (!full_) move = "if (" + pack_place() + " < " + end_text() + ") " + move;
    return "#pragma unroll\nfor (int k = 0; k < " + std::to_string(items_) + "; " + (shape_.vector > 1 ? "k += " + std::to_string(shape_.vector) : "++k") +
           ") {\n" + tab_ + move + "\n}\n";
  }

  std::string loads() const {
    std::string out;
    const std::string align = shape_.vector > 1 ? "alignas(16) " : "";
    for (const Packed& p : stored_) out += align + array_of(*p.access).type + " " + p.local + "[" + std::to_string(items_) + "];\n";
    for (const Packed& p : loaded_) {
      out += align + array_of(*p.access).type + " " + p.local + "[" + std::to_string(items_) + "];\n" + transfer(*p.access, p.local, true);
    }
    return out;
  }

  /// Text of a statement of the loop, its comments too, with packed accesses replaced and the accumulator under its new name; a
  /// block without its braces, lines as far left as they go.
  std::string body_text(const Stmt& stmt) const {
    model::Span span = stmt.span;
    if (stmt.is(StmtKind::block)) ++span.begin, --span.end;
    std::vector<Edit> edits;
    model::walk_expressions(stmt, [&](const Expr& e) {
      const auto packed = replaced_.find(&e);
      if (packed != replaced_.end()) return edits.push_back({e.span.begin - span.begin, e.span.end - span.begin, packed->second}), false;
      if (e.is_name(r_.accumulator)) edits.push_back({e.span.begin - span.begin, e.span.end - span.begin, running_});
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
      if (blanks == std::string::npos) lines.back().clear();
      else if (lines.size() > 1) least = std::min(least, blanks);
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

  bool needs_place(const std::vector<const Stmt*>& list) const {
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

  std::string place_lines(const std::vector<const Stmt*>& list) const {
    if (!needs_place(list)) return {};
    const std::string type = loop_.declarator == nullptr ? "int" : std::string(unit_.text(loop_.declarator->type));
    std::string out = "const " + type + " " + loop_.variable + " = " + element_place() + ";\n";
    if (!full_) out += "if (" + loop_.variable + " >= " + end_text() + ") break;\n";
    return out;
  }

  /// Statements that make the value to be combined: declarations before the update.
  std::vector<const Stmt*> value_statements() const {
    std::vector<const Stmt*> out;
    for (const Stmt* s : model::statements(*loop_.stmt->body)) {
      if (s == r_.stmt) break;
      if (s->is(StmtKind::declaration) && !model::mentions(*s, r_.accumulator)) out.push_back(s);
    }
    return out;
  }

  std::string value_text() const {
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

  std::string update(const std::string& variable, std::string_view other) const {
    return update_text({variable, r_.type, r_.op}, other);
  }

  /// Sum of each pack, then of all packs of the lanes before in the warp.
  std::string totals() const {
    const std::string packs = std::to_string(shape_.packs), v = std::to_string(shape_.vector);
    std::string out = r_.type + " " + total_ + "[" + packs + "], " + before_ + "[" + packs + "];  // of a pack and all before it, of those before it: in the warp\n";
    out += "#pragma unroll\nfor (int p = 0; p < " + packs + "; ++p) {\n";
    std::string in = total_ + "[p] = " + identity() + ";\n";
    in += "#pragma unroll\nfor (int k = p * " + v + "; k < p * " + v + " + " + v + "; ++k) {\n";
    std::vector<const Stmt*> list = value_statements();
    std::string element;
    list.push_back(r_.stmt);
    element += place_lines(list);
    list.pop_back();
    for (const Stmt* s : list) element += body_text(*s) + "\n";
    element += update(total_ + "[p]", value_text()) + "\n";
    in += model::indented(element, tab_) + "}\n";
    in += "#pragma unroll\nfor (int d = 1; d < " + std::to_string(span()) + "; d *= 2) {\n";
    in += tab_ + "const " + r_.type + " left = __shfl_up_sync(" + mask() + ", " + total_ + "[p], d" + width() + ");\n";
    in += tab_ + "if (" + rank() + " >= d) " + total_ + "[p] = " + combined("left", total_ + "[p]") + ";\n}\n";
    in += before_ + "[p] = __shfl_up_sync(" + mask() + ", " + total_ + "[p], 1" + width() + ");\n";
    return out + model::indented(in, tab_) + "}\n";
  }

  /// The loop's body over the elements of pack p; `running` holds what precedes them.
  std::string elements() const {
    const std::string v = std::to_string(shape_.vector);
    std::string out = "if (" + rank() + " > 0) " + update(running_, before_ + "[p]") + "\n";
    out += "#pragma unroll\nfor (int k = p * " + v + "; k < p * " + v + " + " + v + "; ++k) {\n";
    const std::vector<const Stmt*> list = model::statements(*loop_.stmt->body);
    const std::string element = place_lines(list) + body_text(*loop_.stmt->body) + "\n";
    return out + model::indented(element, tab_) + "}\n";
  }

  std::string within_warp() const {
    std::string in = r_.type + " " + running_ + " = " + r_.accumulator + ";\n" + elements();
    in += update(r_.accumulator, "__shfl_sync(" + mask() + ", " + total_ + "[p], " + group_.lanes_name + " - 1" + width() + ")") + "\n";
    return "#pragma unroll\nfor (int p = 0; p < " + std::to_string(shape_.packs) + "; ++p) {\n" + model::indented(in, tab_) + "}\n";
  }

  std::string over_block() {
    const std::int64_t all = warps() * shape_.packs;
    const std::string count = std::to_string(all), w = std::to_string(warps()), shared = fresh_(r_.accumulator + "_warp");
    const std::string chosen = once_ ? shared : shared + "[" + (side_ = fresh_("side")) + "]", sum = fresh_("warps");
    if (model::enclosing_loop(*loop_.stmt) != nullptr) shared_ = "__syncthreads();  // the last totals have been read\n";
    shared_ += "__shared__ " + r_.type + " " + shared + (once_ ? "" : "[2]") + "[" + count + "];  // totals of the warps\n";
    std::string out = "if (" + rank() + " == 31) {\n" + tab_ + "#pragma unroll\n" + tab_ + "for (int p = 0; p < " + std::to_string(shape_.packs) +
                      "; ++p) " + chosen + "[p * " + w + " + " + group_.lane + " / 32] = " + total_ + "[p];\n}\n__syncthreads();\n";
    out += r_.type + " " + sum + " = " + (all < kWarpLanes ? rank() + " < " + count + " ? " : "") + chosen + "[" + rank() + "]" +
           (all < kWarpLanes ? " : " + identity() : std::string()) + ";\n";
    out += "#pragma unroll\nfor (int d = 1; d < " + count + "; d *= 2) {\n";
    out += tab_ + "const " + r_.type + " left = __shfl_up_sync(0xffffffffu, " + sum + ", d);\n";
    out += tab_ + "if (" + rank() + " >= d) " + sum + " = " + combined("left", sum) + ";\n}\n";
    out += "#pragma unroll\nfor (int p = 0; p < " + std::to_string(shape_.packs) + "; ++p) {\n";
    std::string in = "const int at = p * " + w + " + " + group_.lane + " / 32;\n";
    in += "const " + r_.type + " left = __shfl_sync(0xffffffffu, " + sum + ", at == 0 ? 0 : at - 1);\n";
    in += r_.type + " " + running_ + " = " + r_.accumulator + ";\n";
    in += "if (at > 0) " + update(running_, "left") + "\n" + elements();
    out += model::indented(in, tab_) + "}\n";
    return out + update(r_.accumulator, "__shfl_sync(0xffffffffu, " + sum + ", " + std::to_string(all - 1) + ")") + "\n";
  }

  std::string wrapped(const std::string& body) const {
    const std::string note = "// Each lane takes " + std::string(shape_.packs > 1 ? std::to_string(shape_.packs) + " packs of " : "") +
                             std::to_string(shape_.vector) + (shape_.vector > 1 ? " neighbours" : " element") + "; what precedes them comes from a scan over all lanes.\n";
    if (once_) return note + "{\n" + model::indented(shared_ + body, tab_) + "}";
    std::string out = note;
    std::string inside = body;
    if (!side_.empty()) {
      out += shared_ + "int " + side_ + " = 0;\n";
      inside += side_ + " ^= 1;\n";
    }
    const std::string first = loop_.source_first.text();
    return out + "for (int " + t_ + " = " + first + "; " + t_ + " < " + end_text() + "; " + t_ + " += " + std::to_string(tile_) + ") {\n" +
           model::indented(inside, tab_) + "}";
  }

  const model::KernelModel& model_;
  const Unit& unit_;
  const Loop& loop_;
  const Reduction& r_;
  const LaneGroup& group_;
  ScanShape shape_;
  const std::function<std::string(std::string_view)>& fresh_;
  std::string tab_;
  std::int64_t items_ = 0, tile_ = 0;
  std::optional<std::int64_t> length_;
  bool once_ = false, full_ = false;
  std::string running_, total_, before_, t_, side_, shared_;
  std::vector<Packed> loaded_, stored_;
  std::map<const Expr*, std::string> replaced_;
};

}  // namespace

std::string scan_refusal(const model::KernelModel& model, const model::Loop& loop) {
  const Reduction* r = scanned(loop);
  if (loop.kind != model::LoopClass::scan || r == nullptr) return "the loop is no scan of one accumulator";
  if (r->access >= 0) return "the result is accumulated in memory, in " + r->accumulator + ": promote_scalars";
  if (r->value == nullptr || model::identity_text(r->op, r->type).empty()) return "the operator has no neutral element to start from";
  if (model::size_of_type(r->type) < 4) return "the accumulator is of type " + r->type;
  if (!loop.counted || !loop.stmt->is(StmtKind::for_) || !loop.declared_inside || loop.descending || loop.exits_early || loop.has_barrier) {
    return "the loop does not count upwards in its header to its end";
  }
  if (loop.step.constant() != 1) return "the loop's step is not 1";
  if (!loop.children.empty()) return "a loop stands inside the scan";
  bool plain = r->stmt != nullptr && r->stmt->parent != nullptr && (r->stmt->parent == loop.stmt || r->stmt->parent == loop.stmt->body);
  model::walk(*loop.stmt->body, [&](const Stmt& s) { return plain = plain && !s.is(StmtKind::continue_) && !s.is(StmtKind::return_), true; });
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
    if (!made.contains(name) && model::mentions(*r->value, name)) return name + " is set in an earlier statement";
  }
  for (const model::Access* a : model.facts.accesses_in(*loop.stmt)) {
    if (!a->writes() || model.facts.arrays[static_cast<std::size_t>(a->array)].space == model::Space::global) continue;
    return "the loop writes " + model.facts.arrays[static_cast<std::size_t>(a->array)].name;
  }
  return {};
}

std::optional<std::string> scan_text(const model::KernelModel& model, const model::Loop& loop, const LaneGroup& group, const ScanShape& shape,
                      const std::function<std::string(std::string_view)>& fresh) {
  return ScanWriter(model, loop, group, shape, fresh).text();
}

}  // namespace warpath
