#include <algorithm>

#include "moves/model/facts_state.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

/// `if (bool last = ...)`: what is tested is no expression that could be taken elsewhere.
bool tests_a_declaration(const Stmt& body) {
  bool found = false;
  walk(body, [&](const Stmt& s) {
    const bool tests = s.is(StmtKind::if_) || s.is(StmtKind::while_) || s.is(StmtKind::switch_);
    found = found || (tests && s.expr == nullptr);
    return !found;
  });
  return found;
}

/// What speaks against any change, wherever it stands.
std::string unreadable(const KernelFacts& facts) {
  if (facts.unit->ambiguous()) return "compilers disagree on the tokens of the source";
  if (!facts.kernel->opaque.empty()) {
    const std::size_t line = line_of(*facts.unit, facts.kernel->opaque[0].begin);
    return "line " + std::to_string(line) + " of the kernel is not understood";
  }
  if (facts.kernel->unresolved_conditionals)
    return "a preprocessor condition in the kernel depends on names the source does not set";
  if (tests_a_declaration(*facts.kernel->body))
    return "a condition of the kernel declares what it tests";
  return {};
}

std::string said_of(const UnknownEffect& effect) {
  return effect.what.empty() ? "the kernel holds inline assembly"
                             : "the kernel calls " + effect.what + ", whose effects are unknown";
}

bool is_volatile(const Array& array) {
  return array.declarator != nullptr && array.declarator->has(kVolatile);
}

}  // namespace

std::string find_veto(const KernelFacts& facts) {
  if (std::string all = unreadable(facts); !all.empty()) return all;
  const std::vector<UnknownEffect>& effects = facts.state->unknown_effects;
  const auto assembly = std::find_if(effects.begin(), effects.end(),
                                     [](const UnknownEffect& e) { return e.what.empty(); });
  if (assembly != effects.end()) return said_of(*assembly);
  if (!effects.empty()) return said_of(effects.front());
  for (const Array& array : facts.arrays) {
    if (is_volatile(array)) return array.name + " is volatile";
    if (array.escapes) return "the address of " + array.name + " goes where it is not followed";
  }
  return {};
}

std::string KernelFacts::threads_veto() const {
  if (!veto.empty()) return veto;
  return has_barrier || has_warp_ops || has_assembly
             ? "the threads of a block work together already"
             : "";
}

std::string KernelFacts::veto_at(const Stmt& stmt) const {
  if (veto.empty()) return {};
  if (std::string all = unreadable(*this); !all.empty()) return all;
  for (const UnknownEffect& effect : state->unknown_effects) {
    const bool apart = effect.span.end <= stmt.span.begin || stmt.span.end <= effect.span.begin;
    if (!effect.stays || !apart) return said_of(effect);
  }
  for (const Access* access : accesses_in(stmt)) {
    const Array& own = arrays[static_cast<std::size_t>(access->array)];
    if (is_volatile(own)) return own.name + " is volatile";
    for (std::size_t other = 0; other < arrays.size(); ++other) {
      if (arrays[other].escapes && may_alias(access->array, static_cast<int>(other)))
        return "the address of " + arrays[other].name + " goes where it is not followed";
    }
  }
  return {};
}

}  // namespace warpath::model
