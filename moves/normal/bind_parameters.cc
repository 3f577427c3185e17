#include "moves/normal/bind_parameters.h"

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// The type's words with the template arguments, as one line.
std::string type_text(const NormalSite& site, const HelperCall& helper, Span span) {
  std::vector<Edit> edits;
  for (const WordAt& w : words_in(site.unit, span)) {
    if (const auto bound = helper.types.find(w.text); bound != helper.types.end())
      edits.push_back({w.span.begin, w.span.end, bound->second});
  }
  std::string out;
  for (const char c : substituted(site.unit, span, edits)) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  return out;
}

std::string without_const(std::string type) {
  if (type.starts_with("const ")) type.erase(0, 6);
  if (type.ends_with(" const")) type.erase(type.size() - 6);
  return type;
}

/// A call that may change what it is given by name: of a macro, of an object, or of a function of
/// the file that takes a reference.
bool may_change_arguments(const Unit& unit, const Expr& call) {
  std::string_view f = callee(call);
  if (f.empty()) return true;
  if (is_pure_function(unit, f)) return false;
  if (unit.macro(f) != nullptr) return true;
  if (const std::size_t colons = f.rfind("::"); colons != std::string_view::npos)
    f.remove_prefix(colons + 2);
  return std::ranges::any_of(unit.functions(), [&](const Function* g) {
    return g->name == f && std::ranges::any_of(g->parameters, [](const Declarator* q) {
             return q->reference && (!q->has(kConst) || q->is_pointer());
           });
  });
}

/// The helper may change its parameter, or take its address.
bool is_changed(const Unit& unit, const Function& f, const Declarator& p) {
  bool changed = false;
  const bool whole = !p.is_pointer() && !p.is_array();  // its parts are the variable's own
  walk_expressions(*f.body, [&](const Expr& e) {
    if (!e.is_name(p.name)) return !changed;
    const Expr* at = &e;
    for (const Expr* up = at->parent; up != nullptr; at = up, up = up->parent) {
      const bool part = up->is_op(ExprKind::member, ".") ||
                        (up->is(ExprKind::subscript) && whole && up->args[0] == at);
      if (!part && !up->is(ExprKind::conditional) && !up->is(ExprKind::comma)) break;
    }
    if (at->parent == nullptr) return !changed;
    const Expr& up = *at->parent;
    const bool steps = (up.is(ExprKind::unary) || up.is(ExprKind::postfix)) &&
                       (up.op == "++" || up.op == "--" || up.op == "&");
    const bool called =
        up.is(ExprKind::call) && (up.args[0] == at ? at != &e : may_change_arguments(unit, up));
    if (steps || called || (up.is(ExprKind::assign) && up.args[0] == at) ||
        up.is(ExprKind::size_of) || up.is(ExprKind::opaque))
      changed = true;
    return !changed;
  });
  walk(*f.body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (d->reference && d->value() != nullptr && mentions(*d->value(), p.name)) changed = true;
    }
    if (s.is(StmtKind::macro) || s.is(StmtKind::range_for))
      changed = changed || mentions(s, p.name);
    return !changed;
  });
  for (const WordAt& w : words_in(unit, f.body->span)) {
    const Macro* const macro = unit.macro(w.text);
    if (macro != nullptr && macro->function_like && unit.macro_expression(w.text) == nullptr)
      changed = true;
  }
  return changed;
}

/// Values without an address: a const reference to one refers to a copy.
bool is_temporary(const Unit& unit, const Expr& e) {
  if (e.is(ExprKind::call)) {
    const Function* const f = unit.find_function(callee(e));
    return f == nullptr ? is_pure_function(unit, callee(e))
                        : unit.text(f->return_type).find_first_of("&*") == std::string_view::npos;
  }
  return e.is(ExprKind::number) || e.is(ExprKind::binary) || e.is(ExprKind::size_of) ||
         (e.is(ExprKind::unary) && e.op != "*" && e.op != "++" && e.op != "--") ||
         (e.is(ExprKind::cast) && plain_type(e).find('&') == std::string::npos);
}

/// Declared type of a variable or of an element of it; empty if it is not plain.
std::string lvalue_type(const Unit& unit, const Expr& e) {
  std::size_t subscripts = 0;
  const Expr* at = &e;
  while (at->is(ExprKind::subscript) && at->args.size() == 2) at = at->args[0], ++subscripts;
  const Declarator* const d = declaration_of(unit, *at);
  if (d == nullptr || (d->qualifiers & (kVolatile | kAuto)) != 0) return {};
  const std::size_t depth = static_cast<std::size_t>(d->pointer_depth) + d->extents.size();
  if (subscripts > depth) return {};
  const std::string type = unit.resolved_type(unit.plain_text(d->type));
  return type == "auto" ? std::string() : type + std::string(depth - subscripts, '*');
}

std::string parameter_type(const NormalSite& site, const HelperCall& helper, const Declarator& p) {
  const std::size_t depth = static_cast<std::size_t>(p.pointer_depth) + p.extents.size();
  return site.unit.resolved_type(without_const(type_text(site, helper, p.type))) +
         std::string(depth, '*');
}

/// A variable of the kernel that only the kernel's own statements change.
bool is_settled(const NormalSite& site,
                const Expr& name,
                const std::set<std::string, std::less<>>& exposed) {
  const Declarator* const d = declaration_of(site.unit, name);
  if (d == nullptr || d->function != &site.kernel || exposed.contains(name.name)) return false;
  if (d->reference || (d->has(kShared) && !d->is_array())) return false;  // other threads change it
  bool taken = false;
  walk_expressions(*site.kernel.body, [&](const Expr& e) {
    const Expr* const root =
        e.is_op(ExprKind::unary, "&") && !e.args.empty() ? root_name(e.arg(0)) : nullptr;
    const bool whole = root != nullptr && root == e.args[0];
    if (root != nullptr && root->name == name.name &&
        (d->is_array() ? false : whole || !d->is_pointer()))
      taken = true;
    return !taken;
  });
  walk(*site.kernel.body, [&](const Stmt& s) {
    for (const Declarator* other : s.declarators) {
      if (other->reference && other->value() != nullptr && mentions(*other->value(), name.name))
        taken = true;
    }
    return !taken;
  });
  return !taken;
}

/// Nothing reads the variable after the call but what the call's value sets, `v = f(v);`: the
/// helper may change it in place of a copy.
bool is_left_to(const NormalSite& site, const Expr& name, const Expr& call) {
  const Declarator* const d = declaration_of(site.unit, name);
  if (d == nullptr || d->stmt == nullptr || d->is_array() || d->has(kConst) || d->has(kConstexpr) ||
      is_said_by_macro(site.unit, name.name))
    return false;
  const Expr* root = &call;
  while (root->parent != nullptr) root = root->parent;
  const bool set_again = root->is_op(ExprKind::assign, "=") && root->arg(0).is_name(name.name) &&
                         call.stmt->is(StmtKind::expression);
  const Stmt* around = enclosing_loop(*call.stmt);
  const bool repeated = around != nullptr && !is_inside(*d->stmt, *around);
  if (repeated && !set_again) return false;
  bool left = true;
  walk_expressions(*site.kernel.body, [&](const Expr& e) {
    if (!e.is_name(name.name) || &e == &name) return left;
    const bool here = call.stmt->span.contains(e.span);
    const bool target = set_again && root->args[0] == &e;
    left = left && (target || (here ? false : set_again || e.span.begin < call.span.begin));
    return left;
  });
  return left;
}

/// A variable of the kernel: a reference to it can be replaced by the variable itself.
bool is_own_variable(const NormalSite& site, const Expr& e) {
  const Declarator* const d = e.is(ExprKind::name) ? declaration_of(site.unit, e) : nullptr;
  return d != nullptr && d->function == &site.kernel;
}

/// Denotes the same object throughout the helper: v, s[k][t.x + 1].
bool is_settled_lvalue(const NormalSite& site,
                       const Expr& e,
                       const std::set<std::string, std::less<>>& exposed,
                       bool root_may_change) {
  if (e.is(ExprKind::name)) {
    const Declarator* const d = declaration_of(site.unit, e);
    if (d == nullptr) return false;
    return root_may_change && !d->is_pointer() ? d->function == &site.kernel
                                               : is_settled(site, e, exposed);
  }
  if (e.is_op(ExprKind::member, "."))
    return is_settled_lvalue(site, e.arg(0), exposed, root_may_change);
  if (!e.is(ExprKind::subscript) || e.args.size() != 2 ||
      !is_settled_lvalue(site, e.arg(0), exposed, root_may_change))
    return false;
  bool settled = true;
  walk(e.arg(1), [&](const Expr& part) {
    if (part.is_op(ExprKind::member, ".") && part.arg(0).is(ExprKind::name) &&
        declaration_of(site.unit, part.arg(0)) == nullptr)
      return false;  // threadIdx.x
    if (part.is(ExprKind::name)) {
      const Declarator* const d = declaration_of(site.unit, part);
      settled = settled && (site.unit.constants().contains(part.name) ||
                            (d != nullptr && is_settled(site, part, exposed)));
    } else if (!part.is(ExprKind::number) && !part.is(ExprKind::binary) &&
               !part.is_op(ExprKind::unary, "-") && !part.is_op(ExprKind::unary, "+")) {
      settled = false;
    }
    return settled;
  });
  return settled;
}

bool is_literal_of(const Expr& e, const std::string& type) {
  if (e.is(ExprKind::literal)) return type == "bool" && (e.name == "true" || e.name == "false");
  if (!e.is(ExprKind::number)) return false;
  const bool floating = e.name.find('.') != std::string_view::npos;
  if (type == "float") return floating && (e.name.ends_with('f') || e.name.ends_with('F'));
  if (type == "double") return floating && !e.name.ends_with('f') && !e.name.ends_with('F');
  return type == "int" && std::ranges::all_of(e.name, is_digit) && e.name.size() < 10;
}

/// The parameter is used as `*p`, `p[0]` and `p->m` or handed on as it is.
bool is_used_as_pointee(const Function& f, std::string_view name) {
  bool only = true;
  walk_expressions(*f.body, [&](const Expr& e) {
    if (!e.is_name(name) || e.parent == nullptr) return only = only && !e.is_name(name), only;
    const Expr& p = *e.parent;
    const bool element = p.is(ExprKind::subscript) && p.args[0] == &e && p.args.size() == 2 &&
                         p.arg(1).is(ExprKind::number) && p.arg(1).name == "0";
    only = only && (p.is_op(ExprKind::unary, "*") || element || p.is_op(ExprKind::member, "->") ||
                    (p.is(ExprKind::call) && p.args[0] != &e));
    return only;
  });
  return only;
}

}  // namespace

std::set<std::string, std::less<>> exposed_names(const NormalSite& site, const HelperCall& helper) {
  std::set<std::string, std::less<>> out;
  const auto add = [&](const Expr& e) {
    if (const Expr* const root = root_name(e)) {
      const Declarator* const d = declaration_of(site.unit, *root);
      // an element of an array is changed, not the array
      if (root == &e || d == nullptr || (!d->is_pointer() && !d->is_array()))
        out.emplace(root->name);
    }
  };
  for (std::size_t i = 0; i < helper.arguments.size(); ++i) {
    const Declarator& p = *helper.function->parameters[i];
    if (p.reference && (!p.has(kConst) || p.is_pointer())) add(*helper.arguments[i]);
    walk(*helper.arguments[i], [&](const Expr& e) {
      const bool steps = (e.is(ExprKind::unary) || e.is(ExprKind::postfix)) &&
                         (e.op == "++" || e.op == "--" || e.op == "&");
      if ((steps || e.is(ExprKind::assign)) && !e.args.empty()) add(e.arg(0));
      return true;
    });
  }
  if (helper.object != nullptr) out.emplace(helper.object->name);
  return out;
}

std::optional<BoundParameters> bind_parameters(
    const NormalSite& site,
    const HelperCall& helper,
    const std::function<std::string(std::string_view)>& fresh,
    std::string& why) {
  const Unit& unit = site.unit;
  const Function& f = *helper.function;
  const auto exposed = exposed_names(site, helper);
  BoundParameters out;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Declarator& p = *f.parameters[i];
    const Expr& a = *helper.arguments[i];
    const bool given = i + 1 < helper.call->args.size();
    const std::string argument =
        a.source == nullptr || given ? std::string(unit.text(a.span)) : unit.plain_text(a.span);
    if (p.name.empty()) {  // it may still have effects
      if (!is_pure(unit, a))
        return why = "an argument of " + std::string(f.name) + " has effects", std::nullopt;
      continue;
    }
    const std::string name(p.name);
    const std::string wanted = parameter_type(site, helper, p);
    const std::string type = given ? lvalue_type(unit, a) : std::string();
    // volatile in the helper alone: stays so in a separate variable
    const bool same = !type.empty() && type == wanted && !p.has(kVolatile);
    const bool changed = is_changed(unit, f, p);
    const bool array = p.is_array() || (p.reference && p.pointer_depth > 0);
    if (p.reference) {
      const bool constant = p.has(kConst) && !p.is_pointer();
      const bool plain = same || (!constant && a.is(ExprKind::name));
      const bool literal = constant && is_literal_of(a, wanted) && !is_changed(unit, f, p);
      if (literal ||
          (plain && (is_own_variable(site, a) || is_settled_lvalue(site, a, exposed, true)))) {
        out.names[name] = argument;
        continue;
      }
      if (array) return why = "an array of " + name + " is passed by reference", std::nullopt;
      if (site.unit.text(p.pointer_span).find("&&") != std::string_view::npos)
        return why = name + " of " + std::string(f.name) + " is an rvalue reference", std::nullopt;
      out.names[name] = fresh(name);
      // a value of another type is converted once
      const bool converted =
          !type.empty() && !same && a.is(ExprKind::name) && is_settled(site, a, exposed);
      const bool copied = constant && (is_temporary(unit, a) || converted);
      out.lines += type_text(site, helper, p.specifiers) + (copied ? " " : "& ") + out.names[name] +
                   " = " + argument + ";\n";
      continue;
    }
    const bool settled = given && a.is(ExprKind::name) && is_settled(site, a, exposed);
    const bool literal = is_literal_of(a, wanted);
    const bool taken_over =
        changed && same && settled && !array && is_left_to(site, a, *helper.call);
    if ((!changed && ((same && settled) || literal)) || taken_over) {
      out.names[name] = argument;
      continue;
    }
    if (p.extents.size() > 1) return why = name + " has rows", std::nullopt;
    if (!changed && !p.has(kVolatile) && p.pointer_depth == 1 && a.is_op(ExprKind::unary, "&") &&
        is_used_as_pointee(f, p.name) && lvalue_type(unit, a.arg(0)) + "*" == wanted &&
        is_settled_lvalue(site, a.arg(0), exposed, true)) {
      out.pointees[name] = std::string(unit.text(a.arg(0).span));
      out.names[name] = argument;
      continue;
    }
    out.names[name] = fresh(name);
    // restrict would then apply up to the end of the kernel's block instead of the helper's
    std::string stars;
    const std::string pointer(unit.text(p.pointer_span));
    for (const Token& t : tokenize(pointer).tokens) {
      const std::string word = spelling(pointer, t);
      if (word.find("restrict") == std::string::npos)
        stars += (t.kind == TokenKind::identifier ? " " : "") + word;
    }
    if (p.is_array()) stars += "*";
    // `const T` with a const T has one const
    std::string specifiers = type_text(site, helper, p.specifiers);
    if (specifiers.starts_with("const const ")) specifiers.erase(0, 6);
    out.lines += specifiers + (stars.empty() ? " " : stars + " ") + out.names[name] + " = " +
                 argument + ";\n";
  }
  return out;
}

}  // namespace warpath
