#include "moves/row_split.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "engine/error.h"
#include "moves/row_sweeps.h"
#include "moves/source_edit.h"

namespace warpath {
namespace {

using model::Access;
using model::Expr;
using model::ExprKind;
using model::KernelFacts;
using model::Loop;
using model::LoopClass;
using model::Polynomial;
using model::Reduction;
using model::Space;
using model::Stmt;
using model::StmtKind;
using model::Unit;

constexpr std::array<std::string_view, 4> kBuiltins{"threadIdx", "blockIdx", "blockDim", "gridDim"};

/// Accumulators that are whole again behind `stmt`, the outermost loop that only adds to them.
struct Combine {
  const Stmt* stmt = nullptr;
  std::vector<const Reduction*> reductions;
};

bool is_idempotent(model::ReduceOp op) {
  using model::ReduceOp;
  return op != ReduceOp::add && op != ReduceOp::multiply && op != ReduceOp::bit_xor;
}

bool is_identity(const Unit& unit, const Reduction& r, const Expr& value) {
  const Expr& e = model::strip_casts(value);
  if (e.kind != ExprKind::number) return false;
  const std::string text(unit.text(e));
  const double number = std::strtod(text.c_str(), nullptr);
  return number == (r.op == model::ReduceOp::multiply ? 1.0 : 0.0) && r.op != model::ReduceOp::bit_and;
}

class Splitter {
 public:
  Splitter(const MoveContext& context, const model::KernelModel& model, const ScanShape* scan)
      : context_(context), model_(model), unit_(model.unit), facts_(model.facts), body_(*model.kernel->body), kernel_(*model.kernel),
        scan_(scan) {}

  bool plan(std::string& why) {
    if (!facts_.veto.empty()) return why = facts_.veto, false;
    if (facts_.has_barrier || facts_.has_warp_ops || facts_.has_assembly) {
      return why = "threads of the kernel already work together", false;
    }
    if (facts_.has_unknown_calls) return why = "the kernel calls " + facts_.unknown_calls.front() + ", which may write memory", false;
    if (has_workload_plans(context_.spec)) return why = "workloads have launch plans of their own", false;
    for (const model::Array& a : facts_.arrays) {
      if (a.escapes) return why = "the address of " + a.name + " leaves the kernel", false;
    }
    if (!find_index(why) || !visit(body_, why)) return false;
    const bool scans = std::any_of(splits_.begin(), splits_.end(), [](const Loop* l) { return l->kind == LoopClass::scan; });
    if (splits_.empty() || (scan_ != nullptr && !scans)) return why = first_refusal_.empty() ? "no loop over an item that threads could share" : first_refusal_, false;
    for (const Loop* split : splits_) {
      if (!keeps_locals_apart(*split, why)) return false;
    }
    return find_conflicts(why);
  }

  std::optional<Variant> rewrite(LaneGroup group, std::string& why) {
    if (group.cluster > 1 && !barriers_.empty()) return why = "lanes of several blocks would exchange memory between loops", std::nullopt;
    for (const Combine& c : combines_) {
      if (group.cluster > 1 && model::enclosing_loop(*c.stmt) != nullptr) {
        return why = "a cluster combines no values inside a loop", std::nullopt;
      }
    }
    name_things(group);
    edit_index(group);
    for (const Stmt* s : barriers_) {
      insert_before(*s, (group.within_warp() ? warp_barrier(group) : "__syncthreads();") + "  // what other lanes wrote is read next");
    }
    for (const Loop* split : splits_) {
      if (!edit_loop(*split, group, why)) return std::nullopt;
    }
    for (const Combine& c : combines_) edit_combine(c, group);
    for (const Stmt* s : single_) edit_single(*s, group);
    Variant out = context_.variant;
    close_statements();
    out.source = edited(unit_.source(), std::move(edits_));
    if (!set_plan(out.launch, group, why)) return std::nullopt;
    return out;
  }

 private:
  // --- who does which item -------------------------------------------------------------------------------------------

  bool find_index(std::string& why) {
    for (std::size_t axis = 1; axis < 3; ++axis) {
      if (context_.variant.launch.block[axis] != Expression(1)) return why = "the block has more than one axis", false;
    }
    for (const model::ThreadIndex& t : facts_.thread_indices) {
      if (t.axis == 0 && t.form == model::ThreadIndex::Form::global) index_ = &t;
    }
    if (index_ == nullptr) return why = "no item a thread: i = blockIdx.x * blockDim.x + threadIdx.x", false;
    factor_ = index_->value.coefficient_of("blockIdx.x");
    const Polynomial plain = factor_ * Polynomial::name("blockIdx.x") + Polynomial::name("threadIdx.x");
    if (!(index_->value == plain)) return why = "the thread's index is more than blockIdx.x * blockDim.x + threadIdx.x", false;
    if (!same_as_block(factor_)) return why = "the index counts blocks of another size than the launch plan's", false;
    const Polynomial stride = factor_ * Polynomial::name("gridDim.x");
    bool covered = true;
    model::walk_expressions(body_, [&](const Expr& e) {
      if (!mentions_builtin(e)) return false;
      if (e.kind == ExprKind::name || e.kind == ExprKind::member) return covered = covered && !is_builtin_x(e), false;
      const Polynomial value = facts_.polynomial(e);
      if (e.kind == ExprKind::assign || e.kind == ExprKind::comma) return true;
      if (value == plain) return indices_.push_back(&e), false;
      if (value == stride) return strides_.push_back(&e), false;
      return true;
    });
    if (!covered || indices_.empty()) return why = "threads are told apart in another way than by one index", false;
    return true;
  }

  bool same_as_block(const Polynomial& factor) const {
    if (factor.as_name() == "blockDim.x") return true;
    Bindings values(context_.variant.tunables.begin(), context_.variant.tunables.end());
    const auto extent = facts_.resolved(factor).constant();
    try {
      return extent && *extent == context_.variant.launch.block[0].evaluate(values, "block");
    } catch (const Error&) {
      return false;
    }
  }

  static bool mentions_builtin(const Expr& e) {
    return std::any_of(kBuiltins.begin(), kBuiltins.end(), [&](std::string_view b) { return model::mentions(e, b); });
  }

  static bool is_builtin_x(const Expr& e) { return e.kind != ExprKind::member || e.name == "x"; }

  // --- which loops are shared ----------------------------------------------------------------------------------------

  bool visit(const Stmt& stmt, std::string& why) {
    switch (stmt.kind) {
      case StmtKind::block:
        return std::all_of(stmt.children.begin(), stmt.children.end(), [&](const Stmt* s) { return visit(*s, why); });
      case StmtKind::if_:
        return visit(*stmt.body, why) && (stmt.otherwise == nullptr || visit(*stmt.otherwise, why));
      case StmtKind::for_:
      case StmtKind::while_:
      case StmtKind::do_: {
        const Loop* loop = facts_.loop_of(stmt);
        if (loop != nullptr) {
          if (const Loop* best = best_split(*loop)) return add_split(*best), best == loop || visit_rest(stmt, *best, why);
        }
        return stmt.body == nullptr || visit(*stmt.body, why);
      }
      case StmtKind::declaration:
      case StmtKind::expression: return note_writes(stmt, why);
      case StmtKind::switch_: return visit(*stmt.body, why);
      case StmtKind::return_:
      case StmtKind::break_:
      case StmtKind::continue_:
      case StmtKind::case_:
      case StmtKind::empty:
      case StmtKind::directive: return true;
      default: return why = "a statement of the kernel is not understood", false;
    }
  }

  /// The loop around `split` runs in every lane; what else stands in it is visited as usual.
  bool visit_rest(const Stmt& outer, const Loop& split, std::string& why) {
    if (outer.body == nullptr || &outer == split.stmt) return true;
    for (const Stmt* s : model::statements(*outer.body)) {
      if (s == split.stmt) continue;
      if (model::is_inside(*split.stmt, *s) && s->is_loop()) {
        if (!visit_rest(*s, split, why)) return false;
      } else if (!visit(*s, why)) {
        return false;
      }
    }
    return true;
  }

  /// Of a nest of loops that could be shared the one whose variable runs along memory; null if none can be.
  const Loop* best_split(const Loop& loop) {
    if (!can_share(loop)) return nullptr;
    const Loop* best = &loop;
    int most = contiguous_accesses(loop);
    const std::function<void(const Loop&)> look = [&](const Loop& outer) {
      for (const Loop* child : outer.children) {
        const int count = contiguous_accesses(*child);
        if (outer.children.size() == 1 && count > most && can_share(*child)) best = child, most = count;
        if (outer.children.size() == 1) look(*child);
      }
    };
    look(loop);
    return best;
  }

  int contiguous_accesses(const Loop& loop) const {
    int count = 0;
    for (const Access* a : facts_.accesses_in(*loop.stmt)) {
      if (facts_.arrays[static_cast<std::size_t>(a->array)].space == Space::local) continue;
      const std::string atom = loop_atom(a->index, loop);
      if (!a->index.affine_in(atom)) continue;
      const auto step = a->index.coefficient_of(atom).constant();
      if (step && (*step == 1 || *step == -1)) ++count;
    }
    return count;
  }

  bool can_share(const Loop& loop) {
    const std::string why = refusal(loop);
    if (!why.empty() && first_refusal_.empty()) {
      first_refusal_ = "line " + std::to_string(model::line_of(unit_, loop.stmt->span.begin)) + ": " + why;
    }
    return why.empty();
  }

  std::string refusal(const Loop& loop) const {
    if (loop.kind == LoopClass::scan) {
      if (scan_ == nullptr) return "a running value is stored: scan_parallelise";
      const bool inside = std::any_of(indices_.begin(), indices_.end(), [&](const Expr* e) { return loop.stmt->span.contains(e->span); });
      return inside ? "the thread's index is written out inside the scan" : scan_refusal(model_, loop);
    }
    if (loop.kind == LoopClass::serial) return loop.reason.empty() ? "the loop's iterations depend on each other" : loop.reason;
    if (!loop.counted || !loop.stmt->is(StmtKind::for_) || loop.first_expr == nullptr || loop.stmt->step == nullptr) {
      return "the loop does not count in its header";
    }
    if (loop.exits_early || loop.has_barrier) return "the loop may end early";
    if (!loop.step.constant()) return "the loop's step is no constant";
    if (loop.trip_count && *loop.trip_count < 4) return "the loop is short";
    std::set<std::string> changed(loop.assigned.begin(), loop.assigned.end());
    changed.erase(loop.variable);
    for (const Reduction& r : loop.reductions) {
      if (r.access >= 0) return "the result is accumulated in memory, in " + r.accumulator + ": promote_scalars";
      if (r.prefix_used) return "a running value is used";
      if (model::size_of_type(r.type) < 4) return "the accumulator is of type " + r.type;
      changed.erase(r.accumulator);
    }
    for (const std::string& name : loop.private_scalars) {
      if (read_behind(name, loop)) return name + " of the last iteration is used behind the loop";
      changed.erase(name);
    }
    if (!changed.empty()) return *changed.begin() + " is carried from one iteration to the next";
    if (!loop.declared_inside && read_behind(loop.variable, loop)) return loop.variable + " is used behind the loop";
    return {};
  }

  /// `name` is used outside the loop other than where another loop sets it anew.
  bool read_behind(const std::string& name, const Loop& loop) const {
    bool used = false;
    model::walk_expressions(body_, [&](const Expr& e) {
      if (!e.is_name(name) || loop.stmt->span.contains(e.span) || e.span.begin < loop.stmt->span.begin) return true;
      for (const auto& other : facts_.loops) {
        if (!other->stmt->span.contains(e.span)) continue;
        const auto& p = other->private_scalars;
        if ((other->variable == name && other->first_expr != nullptr) || std::find(p.begin(), p.end(), name) != p.end()) return true;
      }
      used = true;
      return true;
    });
    return used;
  }

  void add_split(const Loop& loop) {
    splits_.push_back(&loop);
    if (loop.kind == LoopClass::scan) return;  // every lane ends with the accumulator's last value
    for (const Reduction& r : loop.reductions) {
      const Loop* top = &loop;
      while (top->parent != nullptr && accumulates(*top->parent, r)) top = top->parent;
      auto c = std::find_if(combines_.begin(), combines_.end(), [&](const Combine& x) { return x.stmt == top->stmt; });
      if (c == combines_.end()) c = combines_.insert(combines_.end(), {top->stmt, {}});
      const bool known = std::any_of(c->reductions.begin(), c->reductions.end(),
                                     [&](const Reduction* x) { return x->accumulator == r.accumulator; });
      if (!known) c->reductions.push_back(&r);
    }
  }

  static bool accumulates(const Loop& loop, const Reduction& wanted) {
    return std::any_of(loop.reductions.begin(), loop.reductions.end(), [&](const Reduction& r) {
      return r.declarator == wanted.declarator && r.op == wanted.op && !r.prefix_used;
    });
  }

  // --- what one lane does, and who must wait --------------------------------------------------------------------------

  bool note_writes(const Stmt& stmt, std::string& why) {
    bool writes = false;
    for (const Access* a : facts_.accesses_in(stmt)) {
      writes |= a->writes() && facts_.arrays[static_cast<std::size_t>(a->array)].space != Space::local;
    }
    if (!writes) return true;
    if (stmt.is(StmtKind::declaration)) return why = "a declaration writes memory", false;
    if (changes_locals(stmt)) return why = "a statement writes memory and a variable at once", false;
    single_.push_back(&stmt);
    return true;
  }

  bool changes_locals(const Stmt& stmt) const {
    for (const std::string& name : facts_.names_written(stmt)) {
      const model::Array* array = facts_.array(name);
      if (array == nullptr || array->space == Space::local) return true;
    }
    return false;
  }

  const Loop* split_around(const Access& a) const {
    for (const Loop* l : splits_) {
      if (std::find(a.loops.begin(), a.loops.end(), l) != a.loops.end()) return l;
    }
    return nullptr;
  }

  /// Which lane touches the element: equal texts, same lane. Empty outside the shared loops.
  std::string owner(const Access& a) const {
    const Loop* split = split_around(a);
    if (split == nullptr) return {};
    const std::string atom = loop_atom(a.index, *split);
    if (!a.index.affine_in(atom)) return {};
    return sweep_key(*split) + " " + a.index.substituted(atom, Polynomial::name("@")).key();
  }

  static std::string sweep_key(const Loop& l) { return (l.kind == LoopClass::scan ? "scan " : "") + l.first.key() + ":" + l.step.key(); }

  bool is_single(const Access& a) const {
    return std::any_of(single_.begin(), single_.end(), [&](const Stmt* s) { return s->span.contains(a.expr->span); });
  }

  /// A local array that is written in a shared loop holds in each lane only that lane's elements.
  bool keeps_locals_apart(const Loop& split, std::string& why) const {
    for (const Access* w : facts_.accesses_in(*split.stmt)) {
      if (!w->writes() || facts_.arrays[static_cast<std::size_t>(w->array)].space != Space::local) continue;
      if (facts_.arrays[static_cast<std::size_t>(w->array)].declarator != nullptr &&
          split.stmt->span.contains(facts_.arrays[static_cast<std::size_t>(w->array)].declarator->span)) {
        continue;  // declared in the iteration
      }
      for (const Access* other : facts_.accesses_to(w->array)) {
        if (other->writes() && split_around(*other) == nullptr && other->expr->span.end < split.stmt->span.begin) continue;
        if (owner(*other).empty() || owner(*other) != owner(*w)) {
          return why = "elements of " + facts_.arrays[static_cast<std::size_t>(w->array)].name + " would be needed by other lanes", false;
        }
      }
    }
    return true;
  }

  /// Where another lane reads or overwrites what a lane wrote, the lanes must wait for each other.
  bool find_conflicts(std::string& why) {
    for (const Access& w : facts_.accesses) {
      if (!w.writes() || facts_.arrays[static_cast<std::size_t>(w.array)].space == Space::local) continue;
      for (const Access& other : facts_.accesses) {
        if (&other == &w || !(other.array == w.array || facts_.may_alias(other.array, w.array))) continue;
        if (other.kind == model::AccessKind::atomic && w.kind == model::AccessKind::atomic) continue;
        if (same_lane(w, other)) continue;
        if (!wait_between(w, other, why)) return false;
      }
    }
    return true;
  }

  bool same_lane(const Access& a, const Access& b) const {
    const Loop* in = split_around(a);
    if (in != nullptr && in == split_around(b)) return true;  // no dependence between its iterations
    if (in == nullptr && split_around(b) == nullptr) return is_single(a) && is_single(b);
    return a.array == b.array && !owner(a).empty() && owner(a) == owner(b);
  }

  bool wait_between(const Access& a, const Access& b, std::string& why) {
    const Access& first = a.expr->span.begin < b.expr->span.begin ? a : b;
    const Access& second = &first == &a ? b : a;
    for (const Loop* l : first.loops) {
      if (std::find(second.loops.begin(), second.loops.end(), l) != second.loops.end()) {
        return why = "lanes would exchange " + facts_.arrays[static_cast<std::size_t>(a.array)].name + " inside a loop", false;
      }
    }
    const Stmt* place = second.stmt;
    while (place->parent != nullptr && !(place->parent->is(StmtKind::block) && model::is_inside(*first.stmt, *place->parent))) {
      place = place->parent;
    }
    if (place->parent == nullptr || model::is_inside(*first.stmt, *place)) {
      return why = "lanes would exchange " + facts_.arrays[static_cast<std::size_t>(a.array)].name + " within a statement", false;
    }
    barriers_.insert(place);
    return true;
  }

  // --- the new text ---------------------------------------------------------------------------------------------------

  void name_things(LaneGroup& group) {
    group.step = free_name(unit_, {"d", "step"}, taken_);
    group.part = free_name(unit_, {"k", "part"}, taken_);
    group.lane = fresh("lane");
    group.lanes_name = fresh("LANES");
    group.mask = fresh("row_mask");
    group.send = fresh("cluster_send");
    group.barrier = fresh("cluster_barrier");
  }

  std::string fresh(std::string_view wish) {
    std::string out = model::fresh_name(unit_, wish, &taken_);
    taken_.insert(out);
    return out;
  }

  void edit_index(const LaneGroup& group) {
    const std::string tab = model::indent_unit(unit_), item = index_->name.empty() ? "item" : index_->name;
    std::string head = "constexpr int " + group.lanes_name + " = " + std::to_string(group.lanes) + ";  // threads that share one " + item + "\n";
    const std::string block = factor_.factor_text();
    std::string index;
    if (group.within_warp()) {
      head += "const int " + group.lane + " = threadIdx.x % " + group.lanes_name + ";\n";
      if (group.lanes < kWarpLanes && needs_mask()) {
        head += "const unsigned " + group.mask + " = ((1u << " + group.lanes_name + ") - 1) << (threadIdx.x % 32 / " + group.lanes_name + " * " +
                group.lanes_name + ");\n";
      }
      index = "blockIdx.x * (" + block + " / " + group.lanes_name + ") + threadIdx.x / " + group.lanes_name;
    } else if (group.cluster == 1) {
      head += "const int " + group.lane + " = threadIdx.x;\n";
      index = "blockIdx.x";
    } else {
      const std::string blocks = std::to_string(group.cluster);
      head += "const int " + group.lane + " = blockIdx.x % " + blocks + " * " + std::to_string(group.block()) + " + threadIdx.x;\n";
      index = "blockIdx.x / " + blocks;
    }
    for (const Expr* e : indices_) replace(*e, index);
    const std::string all = group.within_warp() ? "gridDim.x * (" + block + " / " + group.lanes_name + ")"
                                                : "gridDim.x" + (group.cluster > 1 ? " / " + std::to_string(group.cluster) : std::string());
    for (const Expr* e : strides_) replace(*e, all);
    if (!kernel_.launch_bounds_args.empty() && !group.within_warp()) {
      const model::Span span = kernel_.launch_bounds_args[0]->span;
      edits_.push_back({span.begin, span.end, std::to_string(group.block())});
    }
    if (group.cluster > 1) {
      const model::Span whole = model::whole_lines(unit_, kernel_.span, true);
      edits_.push_back({whole.begin, whole.begin, cluster_helpers(group, tab)});
      head += group.barrier + "();  // every block of the cluster runs from here on\n";
    }
    const Stmt* place = indices_.front()->stmt;
    if (place == nullptr || place->parent != &body_ || group.cluster > 1) place = body_.children.front();
    if (group.cluster > 1 || place->span.begin > indices_.front()->span.begin) place = body_.children.front();
    head.pop_back();
    insert_before(*place, head);
  }

  bool needs_mask() const { return scan_ != nullptr || !combines_.empty() || !barriers_.empty(); }

  void replace(const Expr& e, std::string text) {
    const std::string type = model::type_of(facts_, e);
    const bool wide = model::size_of_type(type) == 8 && model::is_integer_type(type);
    const bool alone = e.stmt != nullptr && e.stmt->is(StmtKind::declaration) && e.parent == nullptr;
    if (wide && !alone) text = "(" + type + ")(" + text + ")";
    if (!alone && !wide && e.parent != nullptr && !e.parenthesised && e.parent->kind != ExprKind::assign) text = "(" + text + ")";
    edits_.push_back({e.span.begin, e.span.end, std::move(text)});
  }

  bool edit_loop(const Loop& loop, const LaneGroup& group, std::string& why) {
    if (loop.kind == LoopClass::scan) {
      const std::string indent = model::indentation(unit_, loop.stmt->span.begin);
      const auto text = scan_text(model_, loop, group, *scan_, taken_);
      if (!text) return why = "no array of the loop moves in packs of " + std::to_string(scan_->vector), false;
      const std::size_t begin = loop.stmt->pragma != nullptr ? loop.stmt->pragma->span.begin : loop.stmt->span.begin;
      edits_.push_back({begin, loop.stmt->span.end, open_wrap(*loop.stmt) + model::indented(*text, indent).substr(indent.size())});
      return true;
    }
    const std::int64_t step = *loop.step.constant(), size = step < 0 ? -step : step;
    const std::string places = size == 1 ? group.lane : group.lane + " * " + std::to_string(size);
    std::string first(unit_.text(loop.first_expr->outer));
    if (step > 0 && model::constant_value(unit_, *loop.first_expr) == 0) first = places;
    else first += (step > 0 ? " + " : " - ") + places;
    edits_.push_back({loop.first_expr->outer.begin, loop.first_expr->outer.end, first});
    const std::string stride = size == 1 ? group.lanes_name : group.lanes_name + " * " + std::to_string(size);
    const model::Span old = loop.stmt->step->outer;
    edits_.push_back({old.begin, old.end, loop.variable + (step > 0 ? " += " : " -= ") + stride});
    return true;
  }

  void edit_combine(const Combine& c, const LaneGroup& group) {
    std::vector<Partial> partials;
    std::vector<std::string> names;
    for (const Reduction* r : c.reductions) {
      partials.push_back({r->accumulator, r->type, r->op});
      names.push_back(group.within_warp() ? std::string() : fresh(r->accumulator + "_warp"));
      if (!is_idempotent(r->op) && !starts_neutral(*r, *c.stmt)) {
        insert_before(*c.stmt, "if (" + group.lane + " != 0) " + r->accumulator + " = " + model::identity_text(r->op, r->type) +
                                   ";  // only the first lane starts from its value");
      }
    }
    const bool again = model::enclosing_loop(*c.stmt) != nullptr;
    std::string text = combine_lanes(group, partials, names, again, model::indent_unit(unit_));
    text.pop_back();
    insert_behind(*c.stmt, text);
  }

  /// The accumulator's value before the loop is the operator's neutral element, by the statements before it in its block.
  bool starts_neutral(const Reduction& r, const Stmt& loop) const {
    if (loop.parent == nullptr || !loop.parent->is(StmtKind::block)) return false;
    const auto& list = loop.parent->children;
    auto at = std::find(list.begin(), list.end(), &loop);
    while (at != list.begin()) {
      const Stmt& s = **--at;
      if (s.is(StmtKind::declaration)) {
        for (const model::Declarator* d : s.declarators) {
          if (d == r.declarator) return d->value() != nullptr && is_identity(unit_, r, *d->value());
        }
      }
      const std::vector<std::string> written = facts_.names_written(s);
      if (std::find(written.begin(), written.end(), r.accumulator) == written.end()) continue;
      const Expr* e = s.is(StmtKind::expression) ? s.expr : nullptr;
      return e != nullptr && e->is_op(ExprKind::assign, "=") && e->arg(0).is_name(r.accumulator) && is_identity(unit_, r, e->arg(1));
    }
    return false;
  }

  void edit_single(const Stmt& stmt, const LaneGroup& group) {
    edits_.push_back({stmt.span.begin, stmt.span.begin, open_wrap(stmt) + "if (" + group.lane + " == 0) "});
  }

  static std::string warp_barrier(const LaneGroup& group) {
    return "__syncwarp(" + (group.lanes < kWarpLanes ? group.mask : std::string()) + ");";
  }

  // --- insertion ------------------------------------------------------------------------------------------------------

  /// "{ " once for a statement that is the whole body of an if or a loop.
  std::string open_wrap(const Stmt& stmt) {
    if (stmt.parent == nullptr || stmt.parent->is(StmtKind::block) || stmt.parent->is(StmtKind::switch_)) return {};
    return wrapped_.insert(&stmt).second ? "{ " : "";
  }

  /// What was put behind a statement comes after the braces of those that end with it, before its own.
  void close_statements() {
    const auto close = [&](const Stmt& s) { edits_.push_back({s.span.end, s.span.end, " }"}); };
    for (const Stmt* s : wrapped_) {
      if (!behind_.contains(s)) close(*s);
    }
    for (const auto& [s, text] : behind_) {
      edits_.push_back({s->span.end, s->span.end, text});
      if (wrapped_.contains(s)) close(*s);
    }
  }

  void insert_before(const Stmt& stmt, const std::string& text) {
    const std::size_t at = stmt.pragma != nullptr ? stmt.pragma->span.begin : stmt.span.begin;
    const std::string indent = model::indentation(unit_, at);
    std::string shifted = model::indented(text, indent).substr(indent.size());
    edits_.push_back({at, at, open_wrap(stmt) + shifted + "\n" + indent});
  }

  void insert_behind(const Stmt& stmt, const std::string& text) {
    if (const std::string open = open_wrap(stmt); !open.empty()) edits_.push_back({stmt.span.begin, stmt.span.begin, open});
    const std::string indent = model::indentation(unit_, stmt.span.begin);
    behind_[&stmt] += "\n" + model::indented(text, indent);
  }

  // --- the launch -----------------------------------------------------------------------------------------------------

  bool set_plan(LaunchPlan& plan, const LaneGroup& group, std::string& why) const {
    const auto items = items_of(plan);
    const std::string block = plan.block[0].text(), grid = plan.grid[0].text();
    try {
      if (group.within_warp()) {
        const std::string lanes = std::to_string(group.lanes);
        plan.grid[0] = Expression::parse(items ? "ceil_div((" + items->text() + ") * " + lanes + ", " + block + ")" : "(" + grid + ") * " + lanes, "grid");
        return true;
      }
      if (plan.dynamic_smem_bytes != Expression(0)) return why = "the kernel has dynamic shared memory", false;
      const std::string rows = items ? items->text() : strides_.empty() ? "(" + grid + ") * (" + block + ")" : grid;
      plan.grid[0] = Expression::parse(group.cluster == 1 ? rows : "(" + rows + ") * " + std::to_string(group.cluster), "grid");
      plan.block[0] = Expression(group.block());
      plan.cluster[0] = Expression(group.cluster);
      return true;
    } catch (const Error&) {
      return why = "the launch plan cannot be changed", false;
    }
  }

  const MoveContext& context_;
  const model::KernelModel& model_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const Stmt& body_;
  const model::Function& kernel_;
  const ScanShape* scan_;                   ///< null: no scan loops
  const model::ThreadIndex* index_ = nullptr;
  Polynomial factor_;                       ///< threads a block, as the source says it
  std::vector<const Expr*> indices_;        ///< expressions that are the index
  std::vector<const Expr*> strides_;        ///< expressions that count all threads
  std::vector<const Loop*> splits_;
  std::vector<Combine> combines_;
  std::vector<const Stmt*> single_;         ///< stores that one lane does
  std::set<const Stmt*> barriers_;          ///< lanes wait before them
  std::string first_refusal_;
  std::set<std::string, std::less<>> taken_;
  std::set<const Stmt*> wrapped_;           ///< now in braces of their own
  std::map<const Stmt*, std::string> behind_;
  std::vector<Edit> edits_;
};

}  // namespace

bool can_split_rows(const MoveContext& context, const model::KernelModel& model, const ScanShape* scan, std::string& why) {
  return Splitter(context, model, scan).plan(why);
}

std::optional<Variant> split_rows(const MoveContext& context, const model::KernelModel& model, LaneGroup group, const ScanShape* scan,
                                  std::string& why) {
  Splitter splitter(context, model, scan);
  if (!splitter.plan(why)) return std::nullopt;
  return splitter.rewrite(std::move(group), why);
}

double typical_trips(const MoveContext& context, const model::KernelModel& model) {
  double most = 0;
  for (const Workload& workload : context.spec.workloads) {
    const Bindings values = model.facts.values(workload);
    for (const auto& loop : model.facts.loops) {
      if (!loop->counted || !loop->trips || loop->kind == LoopClass::serial) continue;
      if (const auto trips = loop->trips->evaluate(values)) most = std::max(most, static_cast<double>(*trips));
    }
  }
  return most;
}

}  // namespace warpath
