#include "moves/normal/nested_returns.h"

#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

bool is_return(const Stmt& s) {
  if (!s.is(StmtKind::if_) || s.init != nullptr || s.otherwise != nullptr || s.expr == nullptr ||
      s.body == nullptr)
    return false;
  const std::vector<const Stmt*> inside = statements(*s.body);
  return inside.size() == 1 && inside[0]->is(StmtKind::return_) && inside[0]->expr == nullptr;
}

/// Behind the block there is nothing, and a thread comes to it once.
bool ends_kernel(const Stmt& block, const Stmt& body) {
  for (const Stmt* at = &block; at != &body; at = at->parent) {
    if (at->parent == nullptr) return false;
    const Stmt& up = *at->parent;
    if (!up.is(StmtKind::if_) && !(up.is(StmtKind::block) && up.children.back() == at))
      return false;
  }
  return true;
}

}  // namespace

std::vector<const Stmt*> nested_returns(const KernelFacts& facts) {
  std::vector<const Stmt*> out;
  const Stmt& body = *facts.kernel->body;
  walk(body, [&](const Stmt& s) {
    if (s.is_loop()) return false;
    const Stmt* const block = s.parent;
    if (is_return(s) && block != nullptr && block != &body && block->is(StmtKind::block) &&
        block->children.back() != &s && ends_kernel(*block, body))
      out.push_back(&s);
    return true;
  });
  return out;
}

bool enclose_rest(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<const Stmt*> found = nested_returns(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const Stmt& s = *found.front();
  const Span rest{s.span.end, s.parent->children.back()->span.end};
  std::string inner(unit.text(rest));
  while (inner.starts_with('\n') || inner.starts_with('\r')) inner.erase(0, 1);
  const std::string indent = indentation(unit, s.span.begin);
  edits.push_back({s.span.begin, rest.end,
                   "if (" + negated(site.facts, *s.expr) + ") {\n" +
                       indented(unindented(inner + "\n"), indent + indent_unit(unit)) + indent +
                       "}"});
  return true;
}

}  // namespace warpath
