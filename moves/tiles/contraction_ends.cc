#include "moves/tiles/contraction_ends.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/text/local_names.h"
#include "engine/text/source_edit.h"
#include "moves/model/moved_pointers.h"
#include "moves/model/reduce_op.h"
#include "moves/syntax/syntax_query.h"
#include "moves/tiles/contraction_factors.h"

namespace warpath {

using namespace model;

namespace {

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

/// Sets where the sum starts, from the statements that set or change the accumulator before the
/// loop, in order.
bool read_start(const ContractionParts& parts,
                Contraction& out,
                const std::vector<const ContractionParts::Definition*>& starts,
                const Reduction& reduction,
                std::string& why) {
  const std::string& name = out.accumulator;
  const auto value_of = [](const ContractionParts::Definition& d) -> const Expr* {
    if (d.declarator != nullptr) return d.declarator->value();
    const Expr* e = d.stmt->is(StmtKind::expression) ? d.stmt->expr : nullptr;
    return e != nullptr && e->is_op(ExprKind::assign, "=") ? &e->arg(1) : nullptr;
  };
  const auto sets = [&](const ContractionParts::Definition* d) {
    const Expr* value = value_of(*d);
    return value != nullptr && !mentions(*value, name);
  };
  const auto last = std::find_if(starts.rbegin(), starts.rend(), sets);
  if (last == starts.rend())
    return why = "where " + reduction.accumulator + " starts is not known", false;
  out.initial = parts.unit().plain_text(value_of(**last)->span);
  if (last == starts.rbegin() && !parts.on_threads(out.initial)) return true;
  if (last == starts.rbegin()) {
    out.start = name + " += " + out.initial + ";\n";
  } else {
    const std::string start = fresh_name(parts.unit(), name + "_start");
    out.start = out.accumulator_type + " " + start + " = " + out.initial + ";\n";
    for (auto at = last.base(); at != starts.end(); ++at)
      out.start +=
          replace_name(dedented((*at)->text, indentation(parts.unit(), (*at)->stmt->span.begin)),
                       name, start) +
          "\n";
    out.start += name + " += " + start + ";\n";
  }
  out.initial = identity_text(ReduceOp::add, out.accumulator_type);
  return out.initial.empty() ? (why = "a sum of " + out.accumulator_type, false) : true;
}

}  // namespace

bool read_prologue(const ContractionParts& parts,
                   Contraction& out,
                   const std::vector<AxisPart>& axes,
                   const Reduction& reduction,
                   std::vector<std::string>& dropped_names,
                   std::string& why) {
  std::vector<const ContractionParts::Definition*> starts;
  for (const ContractionParts::Definition& d : parts.definitions()) {
    if (d.defines.size() == 1 && parts.is_axis(d.defines[0])) continue;
    if (d.is(out.k)) {
      dropped_names.push_back(d.defines[0]);
      continue;
    }
    if (d.defines.size() == 1 && parts.is_flat_index(d.defines[0])) {
      const std::string type(parts.unit().text(d.declarator->type));
      out.prologue.push_back({(d.declarator->has(kAuto) ? "int" : type) + " " + parts.flat().name +
                                  " = " + parts.flat().value.text() + ";",
                              d.defines,
                              {},
                              true,
                              true});
      continue;
    }
    if (d.is(out.accumulator)) {
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
    for (const std::string& name : dropped_names) dropped = dropped || used.contains(name);
    if (dropped) {
      dropped_names.insert(dropped_names.end(), d.defines.begin(), d.defines.end());
      continue;
    }
    ContractionStatement s;
    s.text =
        dedented(d.text, d.stmt == nullptr ? "" : indentation(parts.unit(), d.stmt->span.begin));
    s.defines = d.defines;
    s.uses.assign(used.begin(), used.end());
    s.on_m = parts.depends(d.text, out.m.name);
    s.on_n = parts.depends(d.text, out.n.name);
    out.prologue.push_back(std::move(s));
  }
  return read_start(parts, out, starts, reduction, why);
}

std::string contraction_epilogue(const ContractionParts& parts) {
  if (parts.after().empty()) return {};
  const Span span{parts.after().front()->span.begin, parts.after().back()->span.end};
  return dedented(std::string(parts.unit().text(span)), indentation(parts.unit(), span.begin));
}

void read_store(const ContractionParts& parts,
                Contraction& out,
                const std::vector<AxisPart>& axes) {
  const auto all = parts.stores();
  if (all.size() != 1 || all[0]->kind != AccessKind::write ||
      !all[0]->expr->is(ExprKind::subscript))
    return;
  const Stmt& last = *parts.after().back();
  if (!last.is(StmtKind::expression) || last.expr == nullptr ||
      !last.expr->is_op(ExprKind::assign, "=") || &last.expr->arg(0) != all[0]->expr)
    return;
  for (const Stmt* stmt : parts.after()) {
    if (stmt != &last && !stmt->is(StmtKind::declaration)) return;
  }
  const Array& array = parts.facts().arrays[static_cast<std::size_t>(all[0]->array)];
  const Polynomial index = parts.expanded(all[0]->source_index);
  if (!array.is_parameter || !index.is_known() || is_moved(parts.facts(), array)) return;
  out.output = array.name;
  out.output_element = array.type;
  const Expr& target = *all[0]->expr;
  out.output_index = target.arg(0).is_name(array.name) ? parts.unit().plain_text(target.arg(1).span)
                                                       : all[0]->source_index.text();
  out.output_value = parts.unit().plain_text(last.expr->arg(1).span);
  out.output_before = out.start;
  if (parts.after().size() > 1) {
    const Span before{parts.after().front()->span.begin,
                      parts.after()[parts.after().size() - 2]->span.end};
    out.output_before +=
        dedented(std::string(parts.unit().text(before)), indentation(parts.unit(), before.begin));
  }
  out.output_n_contiguous =
      index.affine_in(out.n.name) && parts.fixed(index.coefficient_of(out.n.name)) == 1;
  if (!out.output_n_contiguous) return;
  for (const AxisPart& part : axes) {
    if (part.axis.name == out.n.name)
      out.output_vector = widest_vector(parts, all[0]->array, index.without(out.n.name),
                                        parts.expanded(part.extent));
  }
}

}  // namespace warpath
