#include "moves/normal/named_index.h"

#include <algorithm>
#include <string>

#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

struct Unnamed {
  std::size_t axis = 0;
  std::vector<const Expr*> places;
};

/// Made of the launch's own variables and numbers, and so the same wherever a thread asks.
bool is_of_launch(const KernelFacts& facts, const Expr& e) {
  bool plain = true;
  walk(e, [&](const Expr& part) {
    const bool launch =
        part.is_name("threadIdx") || part.is_name("blockIdx") || part.is_name("blockDim");
    const bool own = facts.state->declared.contains(&part);
    plain = plain && !own &&
            (launch || part.is(ExprKind::number) || part.is(ExprKind::member) ||
             part.is_op(ExprKind::binary, "+") || part.is_op(ExprKind::binary, "*"));
    return plain;
  });
  return plain;
}

/// In a subscript, or in the condition of an if.
bool is_asked(const Expr& e) {
  for (const Expr* at = &e; at->parent != nullptr; at = at->parent) {
    if (at->parent->is(ExprKind::subscript) && &at->parent->arg(0) != at) return true;
  }
  return e.stmt != nullptr && e.stmt->is(StmtKind::if_);
}

std::vector<Unnamed> unnamed(const KernelFacts& facts) {
  std::vector<Unnamed> out;
  bool lambda = false;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    return lambda = lambda || e.is(ExprKind::lambda), !lambda;
  });
  for (std::size_t axis = 0; axis < 3 && !lambda; ++axis) {
    const std::string a(1, "xyz"[axis]);
    const bool named = std::ranges::any_of(facts.thread_indices, [&](const ThreadIndex& index) {
      return index.axis == static_cast<int>(axis) && index.form == ThreadIndex::Form::global;
    });
    if (named) continue;
    const Polynomial global =
        facts.resolved(Polynomial::name("blockIdx." + a) * Polynomial::name("blockDim." + a)) +
        Polynomial::name("threadIdx." + a);
    Unnamed one{axis, {}};
    bool asked = false;
    walk_expressions(*facts.kernel->body, [&](const Expr& e) {
      const bool found = e.is_op(ExprKind::binary, "+") && is_of_launch(facts, e) &&
                         type_of(facts, e) == "unsigned int" &&
                         facts.resolved(facts.polynomial(e)) == global;
      if (found) one.places.push_back(&e), asked = asked || is_asked(e);
      return !found;
    });
    if (asked && one.places.size() > 1) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::size_t unnamed_indices(const KernelFacts& facts) {
  return unnamed(facts).size();
}

bool name_index(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<Unnamed> found = unnamed(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Unnamed& one = found.front();
  const std::string name = fresh_name(
      unit, one.axis == 0 ? std::string("index") : "index_" + std::string(1, "xyz"[one.axis]));
  const std::size_t head = site.kernel.body->span.begin + 1;
  edits.push_back({head, head,
                   "\n" + indent_unit(unit) + "const unsigned int " + name + " = " +
                       unit.plain_text(one.places.front()->span) + ";"});
  for (const Expr* place : one.places)
    edits.push_back({place->outer.begin, place->outer.end, name});
  return true;
}

}  // namespace warpath
