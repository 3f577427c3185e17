// The second half of ContractionParts: factors, the group search, what is kept of the prologue, the
// store.
#include <algorithm>

#include "engine/text/source_edit.h"
#include "moves/model/moved_pointers.h"
#include "moves/model/reduce_op.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_parts.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kWidestAccess = 16;

/// `text` trimmed, with the indentation of its first line taken from all lines.
std::string dedented(const std::string& text, const std::string& indent) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.starts_with(indent)) line.erase(0, indent.size());
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out += line + "\n";
    at = end + 1;
  }
  const std::size_t first = out.find_first_not_of(" \n\t");
  const std::size_t last = out.find_last_not_of(" \n\t");
  return first == std::string::npos ? std::string() : out.substr(first, last + 1 - first);
}

}  // namespace

bool ContractionParts::only_steps(const Stmt& stmt, std::string_view name) const {
  if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr) return false;
  const Expr& e = *stmt.expr;
  const bool step =
      (e.is(ExprKind::unary) || e.is(ExprKind::postfix)) && e.op == "++" && e.arg(0).is_name(name);
  return step || (e.is_op(ExprKind::assign, "+=") && e.arg(0).is_name(name) &&
                  constant_value(unit_, e.arg(1)) == 1);
}

bool ContractionParts::find_groups(const std::vector<AxisPart>& axes, std::string& why) {
  for (const Definition& d : definitions_) {
    if (d.stmt == nullptr || !d.stmt->is_loop() || d.defines.size() != 1) continue;
    const std::string& g = d.defines[0];
    const Definition* first = definition(g);
    const bool from_zero = first != nullptr && first->declarator != nullptr &&
                           first->declarator->value() != nullptr &&
                           constant_value(unit_, *first->declarator->value()) == 0;
    const Expr* step = d.stmt->step;
    const bool steps =
        (step != nullptr && (step->is(ExprKind::unary) || step->is(ExprKind::postfix)) &&
         step->op == "++" && step->arg(0).is_name(g)) ||
        (d.stmt->body != nullptr && statements(*d.stmt->body).size() == 1 &&
         only_steps(*statements(*d.stmt->body)[0], g));
    std::vector<Condition> conditions;
    if (d.stmt->expr != nullptr) conditions.push_back({d.stmt->expr, false});
    if (d.stmt->expr != nullptr && d.stmt->expr->is_op(ExprKind::binary, "&&")) {
      conditions = {{&d.stmt->expr->arg(0), false}, {&d.stmt->expr->arg(1), false}};
    }
    for (const Condition& condition : conditions) {
      const Expr& e = *condition.expr;
      if (!e.is(ExprKind::binary) || (e.op != ">=" && e.op != "<=")) continue;
      const Expr& row = strip_casts(e.op == ">=" ? e.arg(0) : e.arg(1));
      const Expr& end = strip_casts(e.op == ">=" ? e.arg(1) : e.arg(0));
      const auto axis = std::find_if(axes.begin(), axes.end(),
                                     [&](const AxisPart& a) { return row.is_name(a.axis.name); });
      if (axis == axes.end() || !end.is(ExprKind::subscript) || !end.arg(0).is(ExprKind::name) ||
          !from_zero || !steps)
        continue;
      const CodeText index(unit_.text(end.arg(1)));
      const bool next =
          index.text.size() == 3 && index.is(1, "+") &&
          ((index.is(0, g) && index.is(2, "1")) || (index.is(0, "1") && index.is(2, g)));
      const Declarator* offsets = kernel_.parameter(end.arg(0).name);
      if (!next || offsets == nullptr) continue;
      ContractionGroups found{std::string(offsets->name), g, "", ""};
      const std::string head = found.offsets + "[";
      const std::string& extent = axis->axis.extent;
      if (extent.starts_with(head) && extent.ends_with("]"))
        found.count = extent.substr(head.size(), extent.size() - head.size() - 1);
      found.launch_count = launch_text(found.count).value_or("");
      if (found.count.empty() || found.launch_count.empty())
        return why = "the number of groups is not told by a guard", false;
      groups_ = found;
      group_axis_ = axis->axis.name;
    }
    if (!groups_ && on_threads(d.text))
      return why = "a loop before the sum is no search for a group of rows", false;
  }
  if (groups_) {
    std::erase_if(definitions_, [&](const Definition& d) {
      return d.defines.size() == 1 && d.defines[0] == groups_->group;
    });
  }
  return true;
}

std::optional<FactorPart> ContractionParts::factor(const Expr& expr,
                                                   const Loop& loop,
                                                   std::string& why) const {
  const Expr* e = &expr;
  // float a = A[...]; in the loop's body
  for (int depth = 0; depth < 4 && e->is(ExprKind::name); ++depth) {
    const Declarator* d = declaration_of(unit_, *e);
    if (d == nullptr || d->stmt == nullptr || !is_inside(*d->stmt, *loop.stmt) ||
        d->value() == nullptr)
      break;
    e = d->value();
  }
  const Access* load = nullptr;
  int loads = 0;
  bool inner_names = false;
  walk(*e, [&](const Expr& sub) {
    if (const Access* access = facts_.access_of(sub)) load = access, ++loads;
    if (sub.is(ExprKind::name)) {
      const Declarator* d = declaration_of(unit_, sub);
      inner_names = inner_names ||
                    (d != nullptr && d->stmt != nullptr && is_inside(*d->stmt, *loop.stmt->body));
    }
    return true;
  });
  if (loads != 1 || load->in_helper || !load->expr->is(ExprKind::subscript) ||
      load->vector_width != 1) {
    return why = "a factor of the sum is not one plain load: " + unit_.plain_text(e->span),
           std::nullopt;
  }
  const Array& array = facts_.arrays[static_cast<std::size_t>(load->array)];
  if (array.space != Space::global || !array.is_parameter || array.written || array.escapes) {
    return why = array.name + " is not an input that is only read", std::nullopt;
  }
  if (is_moved(facts_, array))
    return why = "the kernel moves the pointer " + array.name, std::nullopt;
  for (const Access* store : stores()) {
    if (facts_.may_alias(load->array, store->array))
      return why = array.name + " may be the same memory as the output", std::nullopt;
  }
  FactorPart out;
  out.array = load->array;
  out.index = expanded(load->source_index);
  // a variable from before the loop has its value of each step
  for (const std::string& name : out.index.names()) {
    if (name.starts_with(loop.variable + "'"))
      out.index = out.index.substituted(name, Polynomial::name(loop.variable));
  }
  if (!out.index.is_known())
    return why = "the index of " + array.name + " is not understood", std::nullopt;
  const bool plain =
      load->expr->arg(0).is_name(array.name) && load->expr->args.size() == 2 && !inner_names;
  const Span whole = e->outer.empty() ? e->span : e->outer;
  const std::string before = unit_.plain_text({whole.begin, load->expr->span.begin});
  const std::string behind = unit_.plain_text({load->expr->span.end, whole.end});
  if (inner_names && !mentions_only_load(*e, *load))
    return why = "a factor of the sum uses values of the loop", std::nullopt;
  ContractionOperand& o = out.operand;
  o.pointer = array.name, o.argument = array.spec_name;
  o.element = array.type, o.element_bytes = array.element_bytes;
  o.index = plain ? unit_.plain_text(load->expr->arg(1).span)
                  : (inner_names ? out.index : load->source_index).text();
  o.load = array.name + "[" + o.index + "]";
  o.value_prefix = before, o.value_suffix = behind;
  o.value = before + o.load + behind;
  o.value_type = type_of(facts_, *e);
  if (o.value_type.empty()) o.value_type = before.empty() ? o.element : "float";
  return out;
}

bool ContractionParts::mentions_only_load(const Expr& e, const Access& load) {
  bool ok = true;
  walk(e, [&](const Expr& sub) {
    if (&sub == load.expr) return false;
    if (sub.is(ExprKind::name) && (sub.parent == nullptr || !sub.parent->is(ExprKind::call)))
      ok = false;
    return true;
  });
  return ok;
}

int ContractionParts::widest_vector(int array,
                                    const Polynomial& rest,
                                    const Polynomial& extent) const {
  const Array& a = facts_.arrays[static_cast<std::size_t>(array)];
  const Bindings multiples = facts_.multiples();
  int best = 1;
  const auto bytes = static_cast<std::int64_t>(a.element_bytes);
  for (std::int64_t v = 2; bytes > 0 && v * bytes <= kWidestAccess; v *= 2) {
    if (a.alignment_bytes % (v * bytes) != 0 || a.alignment_bytes == 0) break;
    if (!with_constants(rest).divisible_by(v, multiples) || !extent.is_known() ||
        !with_constants(extent).divisible_by(v, multiples))
      break;
    best = static_cast<int>(v);
  }
  return best;
}

bool ContractionParts::strides(ContractionOperand& operand,
                               const FactorPart& factor,
                               const Loop& loop,
                               const AxisPart& axis,
                               std::string& why) const {
  const Polynomial& index = factor.index;
  const std::string& k = loop.variable;
  const std::string& outer = axis.axis.name;
  if (!index.affine_in(k) || !index.affine_in(outer))
    return why = "the index of " + operand.pointer + " is not affine", false;
  const Polynomial with_k = index.coefficient_of(k), with_outer = index.coefficient_of(outer);
  if (with_k.is_zero()) return why = operand.pointer + " does not depend on the sum's index", false;
  if (with_k.mentions(outer) || with_outer.mentions(k))
    return why = "the index of " + operand.pointer + " is not affine", false;
  operand.k_stride = with_k.factor_text(), operand.outer_stride = with_outer.factor_text();
  operand.k_stride_size = fixed(with_k), operand.outer_stride_size = fixed(with_outer);
  operand.k_contiguous = operand.k_stride_size == 1;
  operand.outer_contiguous = operand.outer_stride_size == 1;
  if (operand.k_contiguous)
    operand.vector = widest_vector(factor.array, index.without(k), expanded(loop.source_end));
  if (operand.outer_contiguous)
    operand.vector = widest_vector(factor.array, index.without(outer), expanded(axis.extent));
  return true;
}

bool ContractionParts::prologue(Contraction& out,
                                const std::vector<AxisPart>& axes,
                                const Reduction& reduction,
                                std::string& why) {
  std::vector<const Definition*> starts;
  for (const Definition& d : definitions_) {
    if (d.defines.size() == 1 && axis_names_.contains(d.defines[0])) continue;
    if (d.defines.size() == 1 && d.defines[0] == out.k) {
      dropped_.push_back(d.defines[0]);
      continue;
    }
    if (d.defines.size() == 1 && d.defines[0] == flat_index_) {
      const std::string type(unit_.text(d.declarator->type));
      out.prologue.push_back({(d.declarator->has(kAuto) ? "int" : type) + " " + flat_index_ +
                                  " = " + flat_value_.text() + ";",
                              d.defines,
                              {},
                              true,
                              true});
      continue;
    }
    if (d.defines.size() == 1 && d.defines[0] == out.accumulator) {
      starts.push_back(&d);
      continue;
    }
    if (std::find(d.defines.begin(), d.defines.end(), out.accumulator) != d.defines.end() ||
        (d.stmt != nullptr && d.stmt->is(StmtKind::if_)))
      return why = "a statement before the sum is not understood", false;
    const std::set<std::string> used = names_in(d.text);
    bool dropped = used.contains("threadIdx");
    for (const AxisPart& part : axes) {
      for (const std::size_t axis : part.launch_axes)
        dropped = dropped || mentions_block_index(d.text, axis);
    }
    for (const std::string& name : dropped_) dropped = dropped || used.contains(name);
    if (dropped) {
      dropped_.insert(dropped_.end(), d.defines.begin(), d.defines.end());
      continue;
    }
    ContractionStatement s;
    s.text = dedented(d.text, d.stmt == nullptr ? "" : indentation(unit_, d.stmt->span.begin));
    s.defines = d.defines;
    s.uses.assign(used.begin(), used.end());
    s.on_m = depends(d.text, out.m.name);
    s.on_n = depends(d.text, out.n.name);
    out.prologue.push_back(std::move(s));
  }
  return read_start(out, starts, reduction, why);
}

bool ContractionParts::read_start(Contraction& out,
                                  const std::vector<const Definition*>& starts,
                                  const Reduction& reduction,
                                  std::string& why) const {
  const std::string& name = out.accumulator;
  const auto value_of = [](const Definition& d) -> const Expr* {
    if (d.declarator != nullptr) return d.declarator->value();
    const Expr* e = d.stmt->is(StmtKind::expression) ? d.stmt->expr : nullptr;
    return e != nullptr && e->is_op(ExprKind::assign, "=") ? &e->arg(1) : nullptr;
  };
  const auto sets = [&](const Definition* d) {
    const Expr* value = value_of(*d);
    return value != nullptr && !mentions(*value, name);
  };
  const auto last = std::find_if(starts.rbegin(), starts.rend(), sets);
  if (last == starts.rend())
    return why = "where " + reduction.accumulator + " starts is not known", false;
  out.initial = unit_.plain_text(value_of(**last)->span);
  if (last == starts.rbegin() && !on_threads(out.initial)) return true;
  if (last == starts.rbegin()) {
    out.start = name + " += " + out.initial + ";\n";
  } else {
    const std::string start = fresh_name(unit_, name + "_start");
    out.start = out.accumulator_type + " " + start + " = " + out.initial + ";\n";
    for (auto at = last.base(); at != starts.end(); ++at)
      out.start += replace_name(dedented((*at)->text, indentation(unit_, (*at)->stmt->span.begin)),
                                name, start) +
                   "\n";
    out.start += name + " += " + start + ";\n";
  }
  out.initial = identity_text(ReduceOp::add, out.accumulator_type);
  return out.initial.empty() ? (why = "a sum of " + out.accumulator_type, false) : true;
}

std::vector<const Access*> ContractionParts::stores() const {
  std::vector<const Access*> out;
  for (const Stmt* stmt : after_) {
    for (const Access* access : facts_.accesses_in(*stmt)) {
      if (access->writes()) out.push_back(access);
    }
  }
  return out;
}

std::string ContractionParts::epilogue_text() const {
  if (after_.empty()) return {};
  const Span span{after_.front()->span.begin, after_.back()->span.end};
  return dedented(std::string(unit_.text(span)), indentation(unit_, span.begin));
}

void ContractionParts::read_store(Contraction& out, const std::vector<AxisPart>& axes) const {
  const auto all = stores();
  if (all.size() != 1 || all[0]->kind != AccessKind::write ||
      !all[0]->expr->is(ExprKind::subscript))
    return;
  const Stmt& last = *after_.back();
  if (!last.is(StmtKind::expression) || last.expr == nullptr ||
      !last.expr->is_op(ExprKind::assign, "=") || &last.expr->arg(0) != all[0]->expr)
    return;
  for (const Stmt* stmt : after_) {
    if (stmt != &last && !stmt->is(StmtKind::declaration)) return;
  }
  const Array& array = facts_.arrays[static_cast<std::size_t>(all[0]->array)];
  const Polynomial index = expanded(all[0]->source_index);
  if (!array.is_parameter || !index.is_known() || is_moved(facts_, array)) return;
  out.output = array.name;
  out.output_element = array.type;
  const Expr& target = *all[0]->expr;
  out.output_index = target.arg(0).is_name(array.name) ? unit_.plain_text(target.arg(1).span)
                                                       : all[0]->source_index.text();
  out.output_value = unit_.plain_text(last.expr->arg(1).span);
  out.output_before = out.start;
  if (after_.size() > 1) {
    const Span before{after_.front()->span.begin, after_[after_.size() - 2]->span.end};
    out.output_before +=
        dedented(std::string(unit_.text(before)), indentation(unit_, before.begin));
  }
  out.output_n_contiguous =
      index.affine_in(out.n.name) && fixed(index.coefficient_of(out.n.name)) == 1;
  if (!out.output_n_contiguous) return;
  for (const AxisPart& part : axes) {
    if (part.axis.name == out.n.name)
      out.output_vector =
          widest_vector(all[0]->array, index.without(out.n.name), expanded(part.extent));
  }
}

}  // namespace warpath
