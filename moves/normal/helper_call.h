#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// The text of a kernel that is brought into normal form, one step at a time. Borrows the unit.
struct NormalSite {
  const model::Unit& unit;
  const model::Function& kernel;
  const KernelSpec& spec;
  const Variant& variant;
  /// Shared arrays of inlined helpers in the kernel, by helper and name: there is one for all its
  /// calls.
  std::map<std::string, std::string>& hoisted;
  const model::KernelFacts& facts;
  // Of the whole text, read once when it is asked for:
  /// names that it uses outside of its helpers
  mutable std::optional<std::set<std::string, std::less<>>> names_outside = {};
  /// how many specialisations it defines of each class template that has any
  mutable std::optional<std::map<std::string, std::size_t, std::less<>>> specialisations = {};

  /// Of the accesses that stand in helpers and macros, whose text no move can change, one is here.
  [[nodiscard]] bool accesses_in(model::Span call) const {
    return std::ranges::any_of(facts.accesses, [&](const model::Access& a) {
      return a.in_helper && a.expr->span == call;
    });
  }
};

/// A call of a function of the file, with all that is substituted in its body but the arguments.
struct HelperCall {
  const model::Expr* call = nullptr;
  const model::Function* function = nullptr;
  std::map<std::string, std::string, std::less<>> types;  ///< text by template parameter
  /// what names of its class become in the kernel: "size" -> "op.size"; empty for other functions
  std::map<std::string, std::string, std::less<>> members;
  const model::Declarator* object = nullptr;  ///< that it is called on and may change
  /// one a parameter: as given at the call, or its default
  std::vector<const model::Expr*> arguments;
};

/// Calls of the kernel that go to functions of the file, or to members of its classes, and that the
/// facts do not look into, outermost first.
[[nodiscard]] std::vector<const model::Expr*> helper_calls(const NormalSite& site);

/// Which function is called, with which template arguments. nullopt with one line in `why` if that
/// is not certain, or if its body cannot stand in the kernel.
[[nodiscard]] std::optional<HelperCall> resolve_helper(const NormalSite& site,
                                                       const model::Expr& call,
                                                       std::string& why);

/// Identifiers of the text from `begin` to `end` that are no members and no keywords, in order.
struct WordAt {
  std::string text;
  model::Span span;
};
[[nodiscard]] std::vector<WordAt> words_in(const model::Unit& unit, model::Span span);

/// Names declared in the function: parameters and locals.
[[nodiscard]] std::set<std::string, std::less<>> declared_names(const model::Function& function);

/// What `using NAME = ...;` or `typedef ... NAME;` in a body declares; empty for other statements.
[[nodiscard]] std::string alias_name(const model::Unit& unit, const model::Stmt& s);
[[nodiscard]] std::set<std::string, std::less<>> alias_names(const model::Unit& unit,
                                                             const model::Function& function);

/// The variable that an lvalue is or is part of: s for `s[i].x`; null if it is none.
[[nodiscard]] const model::Expr* root_name(const model::Expr& lvalue);

/// Its evaluation changes nothing but variables of the function: no memory, no barrier.
[[nodiscard]] bool is_quiet(const model::Unit& unit, const model::Function& function);

}  // namespace warpath
