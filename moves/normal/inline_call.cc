#include "moves/normal/inline_call.h"

#include <algorithm>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/normal/bind_parameters.h"
#include "moves/normal/helper_body.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// Where a call is evaluated, which is where the statements of its helper go.
struct CallPlace {
  const Stmt* anchor = nullptr;          ///< the statement before which they stand
  const Expr* root = nullptr;            ///< of the expression that the call is part of
  const Declarator* variable = nullptr;  ///< that it initialises
  bool whole = false;  ///< the call is the whole root expression, or the whole right-hand side
  bool alone = false;  ///< the statement is nothing but the call
};

std::optional<CallPlace> place_of(const Expr& call, std::string& why) {
  CallPlace out;
  const Expr* root = &call;
  while (root->parent != nullptr) root = root->parent;
  out.root = root;
  const Stmt& s = *call.stmt;
  const std::string f(callee(call));
  const bool loop_part = s.is_loop() || (s.is(StmtKind::expression) && s.parent != nullptr &&
                                         s.parent->is_loop() && s.parent->step == root);
  if (loop_part) return why = f + " is called in the condition of a loop", std::nullopt;
  if (s.is(StmtKind::declaration)) {
    for (const Declarator* d : s.declarators) {
      if (std::ranges::find(d->init, root) != d->init.end()) out.variable = d;
    }
    const bool constant =
        out.variable == nullptr || (out.variable->qualifiers & (kConstexpr | kStatic)) != 0;
    if (constant) return why = f + " is called where a constant is asked for", std::nullopt;
  } else if (!s.is(StmtKind::expression) && !s.is(StmtKind::if_) && !s.is(StmtKind::switch_)) {
    return why = f + " is called where no statement can stand", std::nullopt;
  }
  if (out.variable != nullptr && out.variable->reference && !out.variable->has(kConst))
    return why = "a reference to the value of " + f + " is kept", std::nullopt;
  if (s.is(StmtKind::if_) && s.constexpr_if)
    return why = f + " is called where a constant is asked for", std::nullopt;
  out.anchor = &s;
  const Stmt* const up = s.parent;
  if (up != nullptr && up->init == &s) {
    if (!up->is(StmtKind::for_))
      return why = f + " is called where no statement can stand", std::nullopt;
    out.anchor = up;
  }
  if (s.init != nullptr && s.expr != nullptr && !s.is_loop())
    return why = f + " is called behind a declaration in a condition", std::nullopt;
  const bool assigned = root->is(ExprKind::assign) && &root->arg(1) == &call;
  out.alone = s.is(StmtKind::expression) && root == &call;
  out.whole = root == &call || (assigned && s.is(StmtKind::expression));
  if (out.variable != nullptr && out.variable->init.size() != 1) out.whole = false;
  return out;
}

/// Calls visit for everything evaluated together with the call, except the target of an assignment.
void beside(const Expr& call, const std::function<void(const Expr&)>& visit) {
  for (const Expr* at = &call; at->parent != nullptr; at = at->parent) {
    const Expr& up = *at->parent;
    const bool writes = up.is(ExprKind::assign) && up.parent == nullptr;
    for (const Expr* other : up.args) {
      if (other == at || (writes && other == up.args[0])) continue;
      if (up.is(ExprKind::call) && other == up.args[0]) continue;
      visit(*other);
    }
  }
}

/// A private value of the thread, which helpers change only through `exposed`.
bool is_isolated(const NormalSite& site,
                 const Expr& e,
                 const std::set<std::string, std::less<>>& exposed) {
  bool isolated = true;
  walk(e, [&](const Expr& part) {
    if (part.is_op(ExprKind::member, ".") && part.arg(0).is(ExprKind::name) &&
        declaration_of(site.unit, part.arg(0)) == nullptr)
      return false;
    if (part.is(ExprKind::name)) {
      const Declarator* const d = declaration_of(site.unit, part);
      const bool own = d != nullptr && d->function == &site.kernel && !d->is_array() &&
                       !d->has(kShared) && !d->reference && !exposed.contains(part.name);
      const bool callee_name = part.parent != nullptr && part.parent->is(ExprKind::call) &&
                               part.parent->args[0] == &part;
      isolated = isolated && (own || callee_name || site.unit.constants().contains(part.name));
    }
    if (part.is(ExprKind::subscript) || part.is_op(ExprKind::unary, "*") ||
        part.is_op(ExprKind::member, "->") || part.is_op(ExprKind::unary, "&"))
      isolated = false;
    if (part.is(ExprKind::call) && is_load_intrinsic(callee(part))) isolated = false;
    return isolated;
  });
  return isolated && is_pure(site.unit, e);
}

bool is_quiet_expression(const NormalSite& site, const Expr& e) {
  bool quiet = true;
  walk(e, [&](const Expr& part) {
    const bool steps = (part.is(ExprKind::unary) || part.is(ExprKind::postfix)) &&
                       (part.op == "++" || part.op == "--");
    if (steps || part.is(ExprKind::assign) || part.is(ExprKind::opaque) ||
        part.is(ExprKind::lambda) || part.is(ExprKind::statement))
      quiet = false;
    if (part.is(ExprKind::call) && !is_pure_function(site.unit, callee(part)) &&
        !is_load_intrinsic(callee(part)) && !expansion_of(site.unit, part)) {
      const Function* const f = site.unit.find_function(callee(part));
      quiet = quiet && f != nullptr && is_quiet(site.unit, *f);
    }
    return quiet;
  });
  return quiet;
}

/// True if the expressions evaluated with the call give the same values when the call comes first.
bool may_come_first(const NormalSite& site,
                    const HelperCall& helper,
                    const CallPlace& place,
                    std::string& why) {
  const Expr& call = *helper.call;
  const std::string f(callee(call));
  if (!is_always_evaluated(call)) return why = f + " is called where it may be skipped", false;
  for (const Expr* at = call.parent; at != nullptr; at = at->parent) {
    const bool macro = at->is(ExprKind::call) && site.unit.macro(callee(*at)) != nullptr;
    if (macro) return why = f + " is called in the arguments of a macro", false;
    const bool inner_write = at->is(ExprKind::assign) && at->parent != nullptr;
    if (inner_write || at->is(ExprKind::comma) || at->is(ExprKind::size_of))
      return why = "the order of " + f + " and its neighbours is not certain", false;
  }
  const auto exposed = exposed_names(site, helper);
  bool isolated = true, quiet = is_quiet(site.unit, *helper.function);
  const auto judge = [&](const Expr& other) {
    isolated = isolated && is_isolated(site, other, exposed);
    quiet = quiet && is_quiet_expression(site, other);
  };
  beside(call, judge);
  for (const Expr* a : helper.arguments) quiet = quiet && is_quiet_expression(site, *a);
  if (place.variable != nullptr) {
    for (const Declarator* d : call.stmt->declarators) {
      if (d == place.variable) break;
      if (mentions(call, d->name))
        return why = "an argument of " + f + " is declared beside its value", false;
      for (const Expr* init : d->init) judge(*init);
    }
  }
  if (!isolated && !quiet)
    return why = "the order of " + f + " and its neighbours is not certain", false;
  return true;
}

/// The type that the whole of the value becomes at once; empty if unknown.
std::string target_type(const NormalSite& site, const CallPlace& place) {
  const auto declared = [&](const Declarator& d, std::size_t subscripts) {
    const std::size_t depth = static_cast<std::size_t>(d.pointer_depth) + d.extents.size();
    if (d.reference || d.has(kAuto) || d.has(kVolatile) || subscripts > depth) return std::string();
    const std::string stars(depth - subscripts, '*');
    return site.unit.plain_text(d.type) + (stars.empty() ? "" : " " + stars);
  };
  if (place.variable != nullptr)
    return place.variable->init_form == InitForm::assign ? declared(*place.variable, 0) : "";
  if (!place.root->is_op(ExprKind::assign, "=")) return {};
  std::size_t subscripts = 0;
  const Expr* at = place.root->args[0];
  while (at->is(ExprKind::subscript) && at->args.size() == 2) at = at->args[0], ++subscripts;
  const Declarator* const d = declaration_of(site.unit, *at);
  return d == nullptr ? std::string() : declared(*d, subscripts);
}

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// The body before the statement of the call.
bool inline_before(const NormalSite& site,
                   const Expr& call,
                   std::vector<Edit>& edits,
                   std::string& why) {
  const auto place = place_of(call, why);
  if (!place) return false;
  bool jumps = false;
  walk(*site.kernel.body, [&](const Stmt& s) {
    jumps = jumps || s.is(StmtKind::label);
    return !jumps;
  });
  if (jumps) return why = "the kernel jumps", false;
  const auto helper = resolve_helper(site, call, why);
  if (!helper) return false;
  const bool single = place->variable == nullptr || call.stmt->declarators.size() == 1;
  if (!(place->whole && single) && !may_come_first(site, *helper, *place, why)) return false;
  const Stmt& anchor = *place->anchor;
  const Stmt* const up = anchor.parent;
  const bool in_block =
      up != nullptr && up->is(StmtKind::block) &&
      std::ranges::none_of(up->children, [](const Stmt* s) { return s->is(StmtKind::case_); });
  if (!in_block && anchor.is(StmtKind::declaration))
    return why = std::string(callee(call)) + " is called behind a label", false;
  auto body = body_of(site, *helper, why);
  if (!body) return false;
  if (body->type.empty() && !place->alone)
    return why = std::string(callee(call)) + " has no value", false;
  std::string value = body->value;
  const bool direct =
      place->whole && (body->is_variable ||
                       without_blanks(target_type(site, *place)) == without_blanks(body->type));
  if (place->alone) {
    if (body->has_effects) body->lines += value + ";\n";
  } else if (!direct && !body->is_variable) {
    std::string name = value_name(*helper->function);
    std::set<std::string, std::less<>> taken;
    for (const WordAt& w : words_in(site.unit, {0, site.unit.source().size()}))
      taken.insert(w.text);
    const Unit lines = parse(body->lines);
    for (const std::string& word : lines.identifiers()) taken.insert(word);
    name = fresh_name(site.unit, name, &taken);
    const bool constant = body->type.find('*') == std::string::npos && body->type != "auto";
    body->lines += (constant ? "const " : "") + body->type + " " + name + " = " + value + ";\n";
    value = name;
  }
  // The statement, with the helper's before it.
  const std::string_view source = site.unit.source();
  const Stmt& first = anchor.pragma != nullptr ? *anchor.pragma : anchor;
  const std::string indent = indentation(site.unit, first.span.begin);
  const std::size_t line = line_begin(source, first.span.begin);
  const bool own_line = source.substr(line, first.span.begin - line).find_first_not_of(" \t") ==
                        std::string_view::npos;
  if (place->alone) {
    std::string text = indented(body->lines, in_block ? indent : indent + indent_unit(site.unit));
    if (!in_block) {
      text = "{\n" + text + indent + "}";
    } else {
      text.erase(0, own_line ? std::min(indent.size(), text.find_first_not_of(" \t")) : 0);
      if (!own_line) text = "\n" + text;
      if (text.ends_with('\n')) text.pop_back();
      if (text.empty()) text = ";";
    }
    edits.push_back({anchor.span.begin, anchor.span.end, text});
  } else {
    // `v = f(v);` whose helper leaves its value in v
    const bool itself = place->whole && place->root->is_op(ExprKind::assign, "=") &&
                        place->root->arg(0).is_name(value) && in_block && own_line;
    const Span lines = whole_lines(site.unit, anchor.span);
    if (itself) {
      edits.push_back({lines.begin, lines.end, ""});
    } else {
      edits.push_back({call.span.begin, call.span.end, value});
    }
    if (!body->lines.empty() && in_block) {
      const std::size_t at = own_line ? line : first.span.begin;
      edits.push_back({at, at,
                       own_line ? indented(body->lines, indent)
                                : "\n" + indented(body->lines, indent) + indent});
    } else if (!body->lines.empty()) {
      const std::string inner = indent + indent_unit(site.unit);
      edits.push_back(
          {first.span.begin, first.span.begin, "{\n" + indented(body->lines, inner) + inner});
      edits.push_back({anchor.span.end, anchor.span.end, "\n" + indent + "}"});
    }
  }
  if (!body->head.empty()) {
    const std::string inner =
        indentation(site.unit, site.kernel.span.begin) + indent_unit(site.unit);
    std::string text = "\n" + indented(body->head, inner);
    text.pop_back();
    const std::size_t at = site.kernel.body->span.begin + 1;
    edits.push_back({at, at, std::move(text)});
  }
  return true;
}

}  // namespace

bool inline_call(const NormalSite& site,
                 const Expr& call,
                 std::vector<Edit>& edits,
                 std::string& why) {
  if (inline_before(site, call, edits, why)) return true;
  edits.clear();
  std::string ignored;
  const auto helper = resolve_helper(site, call, ignored);
  const auto value = helper ? value_in_place(site, *helper) : std::nullopt;
  if (!value) return false;
  edits.push_back({call.span.begin, call.span.end, *value});
  return true;
}

}  // namespace warpath
