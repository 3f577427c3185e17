#include "moves/points/point_places.h"

#include <algorithm>

#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// A division by other than a number.
bool may_trap(const Expr& e) {
  return (e.is_op(ExprKind::binary, "/") || e.is_op(ExprKind::binary, "%")) &&
         !(e.arg(1).is(ExprKind::number) && e.arg(1).name.find_first_of("123456789") == 0);
}

}  // namespace

bool PointPlaces::is_made_of_them(const Expr& test) const {
  bool plain = is_pure(kernel_.unit, test);
  walk(test, [&](const Expr& e) {
    const bool logic = e.is(ExprKind::binary) && !may_trap(e);
    if (!logic && !e.is(ExprKind::name) && !e.is(ExprKind::number)) plain = false;
    if (plain && e.is(ExprKind::name)) plain = is_known_again(e.name);
    return plain;
  });
  return plain;
}

bool PointPlaces::is_known_again(std::string_view name) const {
  if (differs_.declarations(name) != 1) return false;
  if (std::ranges::count(counters_, name) > 0) return true;
  if (std::ranges::count(written_, name) > 0) return false;
  return !differs_.names().contains(name) || name == index_ ||
         std::ranges::any_of(places_, [&](const Declarator* p) { return p->name == name; });
}

bool PointPlaces::is_place(const Declarator& d, bool top) const {
  if (d.is_array() || d.reference || d.init_form != InitForm::assign || d.value() == nullptr ||
      d.pointer_depth > 1 || d.has(kStatic) ||
      !(d.is_pointer() || is_integer_type(kernel_.unit.plain_text(d.type))) ||
      differs_.declarations(d.name) != 1)
    return false;
  // what differs alone: a value that the points share is computed once
  if (!top && (d.is_pointer() || !differs_.names().contains(d.name))) return false;
  bool plain = is_pure(kernel_.unit, *d.value());
  walk(*d.value(), [&](const Expr& e) {
    if (e.is(ExprKind::subscript) || e.is(ExprKind::call) || e.is(ExprKind::unary)) plain = false;
    const bool own =
        e.is(ExprKind::name) && differs_.names().contains(e.name) && e.name != index_ &&
        std::ranges::none_of(places_, [&](const Declarator* p) { return p->name == e.name; });
    // what changes later, or is hidden by another there, would be another value then
    const bool counts = !top && std::ranges::count(counters_, e.name) > 0;
    const bool changes =
        e.is(ExprKind::name) && ((std::ranges::count(written_, e.name) > 0 && !counts) ||
                                 differs_.declarations(e.name) > 1);
    // where the statement is skipped the divisor may be zero
    const bool divides = !top && may_trap(e);
    plain = plain && !own && !changes && !divides;
    return plain;
  });
  walk_expressions(*kernel_.kernel->body, [&](const Expr& e) {
    const bool changes = e.is(ExprKind::assign) || e.is(ExprKind::postfix) ||
                         e.is_op(ExprKind::unary, "++") || e.is_op(ExprKind::unary, "--") ||
                         e.is_op(ExprKind::unary, "&");
    if (changes && !e.args.empty() && e.arg(0).is_name(d.name)) plain = false;
    return plain;
  });
  return plain;
}

}  // namespace warpath
