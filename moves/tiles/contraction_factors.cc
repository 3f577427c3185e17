#include "moves/tiles/contraction_factors.h"

#include "moves/model/moved_pointers.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kWidestAccess = 16;

/// True if no variable occurs outside the load.
bool mentions_only_load(const Expr& e, const Access& load) {
  bool ok = true;
  walk(e, [&](const Expr& sub) {
    if (&sub == load.expr) return false;
    if (sub.is(ExprKind::name) && (sub.parent == nullptr || !sub.parent->is(ExprKind::call)))
      ok = false;
    return true;
  });
  return ok;
}

}  // namespace

std::optional<FactorPart> contraction_factor(const ContractionParts& parts,
                                             const Expr& expr,
                                             const Loop& loop,
                                             std::string& why) {
  const Expr* e = &expr;
  // float a = A[...]; in the loop's body
  for (int depth = 0; depth < 4 && e->is(ExprKind::name); ++depth) {
    const Declarator* d = declaration_of(parts.unit(), *e);
    if (d == nullptr || d->stmt == nullptr || !is_inside(*d->stmt, *loop.stmt) ||
        d->value() == nullptr)
      break;
    e = d->value();
  }
  const Access* load = nullptr;
  int loads = 0;
  bool inner_names = false;
  walk(*e, [&](const Expr& sub) {
    if (const Access* access = parts.facts().access_of(sub)) load = access, ++loads;
    if (sub.is(ExprKind::name)) {
      const Declarator* d = declaration_of(parts.unit(), sub);
      inner_names = inner_names ||
                    (d != nullptr && d->stmt != nullptr && is_inside(*d->stmt, *loop.stmt->body));
    }
    return true;
  });
  if (loads != 1 || load->in_helper || !load->expr->is(ExprKind::subscript) ||
      load->vector_width != 1) {
    return why = "a factor of the sum is not one plain load: " + parts.unit().plain_text(e->span),
           std::nullopt;
  }
  const Array& array = parts.facts().arrays[static_cast<std::size_t>(load->array)];
  if (array.space != Space::global || !array.is_parameter || array.written || array.escapes) {
    return why = array.name + " is not an input that is only read", std::nullopt;
  }
  if (is_moved(parts.facts(), array))
    return why = "the kernel moves the pointer " + array.name, std::nullopt;
  for (const Access* store : parts.stores()) {
    if (parts.facts().may_alias(load->array, store->array))
      return why = array.name + " may be the same memory as the output", std::nullopt;
  }
  FactorPart out;
  out.array = load->array;
  out.index = parts.expanded(load->source_index);
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
  const std::string before = parts.unit().plain_text({whole.begin, load->expr->span.begin});
  const std::string behind = parts.unit().plain_text({load->expr->span.end, whole.end});
  if (inner_names && !mentions_only_load(*e, *load))
    return why = "a factor of the sum uses values of the loop", std::nullopt;
  ContractionOperand& o = out.operand;
  o.pointer = array.name, o.argument = array.spec_name;
  o.element = array.type, o.element_bytes = array.element_bytes;
  o.index = plain ? parts.unit().plain_text(load->expr->arg(1).span)
                  : (inner_names ? out.index : load->source_index).text();
  o.load = array.name + "[" + o.index + "]";
  o.value_prefix = before, o.value_suffix = behind;
  o.value = before + o.load + behind;
  o.value_type = type_of(parts.facts(), *e);
  if (o.value_type.empty()) o.value_type = before.empty() ? o.element : "float";
  return out;
}

int widest_vector(const ContractionParts& parts,
                  int array,
                  const Polynomial& rest,
                  const Polynomial& extent) {
  const Array& a = parts.facts().arrays[static_cast<std::size_t>(array)];
  const Bindings multiples = parts.facts().multiples();
  int best = 1;
  const auto bytes = static_cast<std::int64_t>(a.element_bytes);
  for (std::int64_t v = 2; bytes > 0 && v * bytes <= kWidestAccess; v *= 2) {
    if (a.alignment_bytes % (v * bytes) != 0 || a.alignment_bytes == 0) break;
    if (!parts.with_constants(rest).divisible_by(v, multiples) || !extent.is_known() ||
        !parts.with_constants(extent).divisible_by(v, multiples))
      break;
    best = static_cast<int>(v);
  }
  return best;
}

bool read_strides(const ContractionParts& parts,
                  ContractionOperand& operand,
                  const FactorPart& factor,
                  const Loop& loop,
                  const AxisPart& axis,
                  std::string& why) {
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
  operand.k_stride_size = parts.fixed(with_k), operand.outer_stride_size = parts.fixed(with_outer);
  operand.k_contiguous = operand.k_stride_size == 1;
  operand.outer_contiguous = operand.outer_stride_size == 1;
  if (operand.k_contiguous)
    operand.vector =
        widest_vector(parts, factor.array, index.without(k), parts.expanded(loop.source_end));
  if (operand.outer_contiguous)
    operand.vector =
        widest_vector(parts, factor.array, index.without(outer), parts.expanded(axis.extent));
  return true;
}

}  // namespace warpath
