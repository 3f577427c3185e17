#include "moves/normal/helper_call.h"

#include <algorithm>

#include "engine/text/function_text.h"
#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/normal/member_call.h"
#include "moves/normal/overloads.h"
#include "moves/syntax/assembly.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

std::string_view unqualified(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// True if the scope in the call's name contains the function.
bool is_reached(const Function& function, const Function& kernel, std::string_view callee) {
  const std::size_t colons = callee.rfind("::");
  std::string_view given = colons == std::string_view::npos ? "" : callee.substr(0, colons);
  if (given.starts_with("::")) given.remove_prefix(2);
  if (!given.empty())
    return function.scope == given || function.scope.ends_with("::" + std::string(given));
  return function.scope.empty() || kernel.scope == function.scope ||
         kernel.scope.starts_with(std::string(function.scope) + "::");
}

std::vector<const Function*> candidates(const NormalSite& site, std::string_view callee) {
  std::vector<const Function*> out;
  for (const Function* f : site.unit.functions()) {
    if (f->name == unqualified(callee) && f->record == nullptr &&
        is_reached(*f, site.kernel, callee))
      out.push_back(f);
  }
  return out;
}

/// A pointer in the expression points to what is const.
bool points_to_const(const Unit& unit, const Expr& pointer) {
  bool found = false;
  walk(pointer, [&](const Expr& e) {
    if (e.is(ExprKind::name)) {
      const Declarator* const d = declaration_of(unit, e);
      found = found || (d != nullptr && (d->is_pointer() || d->is_array()) && d->has(kConst));
    }
    return !e.is(ExprKind::subscript);
  });
  return found;
}

/// The type that parameter `p` of template type `name` gets from the argument; empty if unknown.
std::string deduced(const KernelFacts& facts, const Declarator& p, const Expr& argument) {
  std::string type = type_of(facts, argument);
  if (type.empty() || type == "auto") return {};
  if (p.reference && type.ends_with('*') && p.pointer_depth == 0) return {};  // perhaps an array
  for (int i = 0; i < p.pointer_depth; ++i) {
    if (!type.ends_with('*')) return {};
    type.pop_back();
  }
  const bool pointee = p.pointer_depth > 0 && !p.has(kConst);
  if (pointee && points_to_const(*facts.unit, argument)) type = "const " + type;
  return type;
}

/// Uses of the type in `body` directly before "(" would break: `unsigned int(x)`.
bool fits_as_word(const Unit& unit, const Function& function, std::string_view name) {
  const std::vector<WordAt> words = words_in(unit, function.body->span);
  return std::ranges::none_of(words, [&](const WordAt& w) {
    if (w.text != name) return false;
    const std::string_view behind = unit.source().substr(w.span.end);
    const std::size_t next = behind.find_first_not_of(" \t\n");
    return next != std::string_view::npos && (behind[next] == '(' || behind[next] == '{');
  });
}

/// Template arguments that the call of a function that is no member says.
std::vector<std::string> said_arguments(const NormalSite& site, const Expr& call) {
  const std::string_view text = site.unit.text(call.arg(0));
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos) return {};
  return split_arguments(text.substr(open + 1, text.rfind('>') - open - 1));
}

bool bind_template(const NormalSite& site,
                   const std::vector<std::string>& given,
                   HelperCall& out,
                   std::string& why) {
  const Function& f = *out.function;
  for (std::size_t k = 0; k < f.template_parameters.size(); ++k) {
    const TemplateParameter& p = f.template_parameters[k];
    std::string bound = k < given.size() ? given[k] : std::string();
    if (site.unit.text(p.span).find("...") != std::string_view::npos) bound.clear();
    for (std::size_t i = 0; bound.empty() && p.is_type && i < f.parameters.size(); ++i) {
      if (site.unit.plain_text(f.parameters[i]->type) != p.name || out.arguments[i] == nullptr)
        continue;
      bound = deduced(site.facts, *f.parameters[i], *out.arguments[i]);
      // two arguments must agree
      for (std::size_t j = i + 1; j < f.parameters.size(); ++j) {
        if (site.unit.plain_text(f.parameters[j]->type) == p.name &&
            deduced(site.facts, *f.parameters[j], *out.arguments[j]) != bound &&
            deduced(site.facts, *f.parameters[j], *out.arguments[j]) != "const " + bound)
          return why = "the types of " + std::string(f.name) + " do not follow from its arguments",
                 false;
      }
    }
    if (bound.empty()) bound = default_argument(site, p, out.types);
    if (bound.empty())
      return why = "a template argument of " + std::string(f.name) + " does not follow", false;
    if (!p.is_type && bound.find_first_of(" +-*/%<>?:,&|") != std::string::npos)
      bound = "(" + bound + ")";
    if (p.is_type && bound.find_first_of("*&") != std::string::npos)
      return why = "a template argument of " + std::string(f.name) + " is a pointer", false;
    if (bound == "unsigned int") bound = "unsigned";
    if (p.is_type && bound.find_first_of(" *") != std::string::npos &&
        !fits_as_word(site.unit, f, p.name))
      return why = std::string(f.name) + " makes values of a type of two words", false;
    out.types.emplace(p.name, bound);
  }
  return true;
}

bool calls_itself(const Unit& unit,
                  const Function& function,
                  std::string_view wanted,
                  std::set<const Function*>& seen) {
  if (!seen.insert(&function).second || function.body == nullptr) return false;
  bool found = false;
  for (const WordAt& word : words_in(unit, function.body->span)) {
    if (word.text == wanted) return true;
    for (const Function* next : unit.functions()) {
      if (next->name == word.text && next != &function)
        found = found || calls_itself(unit, *next, wanted, seen);
    }
  }
  return found;
}

/// `namespace cg = cooperative_groups;`: the same wherever it stands.
bool names_groups(const Unit& unit, const Stmt& s) {
  const std::string text = unit.plain_text(s.span);
  return text.ends_with("cooperative_groups;") &&
         (text.starts_with("namespace ") || text.starts_with("using namespace "));
}

/// What in a body prevents moving it, in words; empty if nothing does.
std::string unmovable(const Unit& unit, const Function& function) {
  std::string what;
  if (!function.opaque.empty() || function.unresolved_conditionals) return "is not understood";
  walk(*function.body, [&](const Stmt& s) {
    if (s.is(StmtKind::assembly) && effect_of_assembly(unit, s) == AssemblyEffect::unknown)
      what = "holds inline assembly";
    if (s.is(StmtKind::goto_) || s.is(StmtKind::label)) what = "jumps";
    if (s.is(StmtKind::try_) || s.is(StmtKind::opaque)) what = "is not understood";
    if (s.is(StmtKind::directive) && s.name != "pragma") what = "has preprocessor lines";
    if (s.is(StmtKind::declaration) && s.text_only && !names_groups(unit, s) &&
        !unit.text(s).starts_with("static_assert") && alias_name(unit, s).empty())
      what = "declares types of its own";
    for (const Declarator* d : s.declarators) {
      if (d->has(kStatic) && !d->has(kConst) && !d->has(kConstexpr) && !d->has(kShared))
        what = "keeps a variable between calls";
      if (d->is_function_pointer || d->name.starts_with('[') || d->name.empty())
        what = "is not understood";
    }
    return what.empty();
  });
  walk_expressions(*function.body, [&](const Expr& e) {
    if (e.is(ExprKind::lambda) || e.is(ExprKind::statement) || e.is(ExprKind::launch) ||
        e.is(ExprKind::new_object) || e.is(ExprKind::opaque))
      what = "is not understood";
    return what.empty();
  });
  for (const Token& t : tokenize(unit.text(function.body->span)).tokens) {
    if (t.kind == TokenKind::directive &&
        directive_name(unit.text(function.body->span), t) != "pragma")
      what = "has preprocessor lines";
  }
  return what;
}

/// Identifiers of the bodies of macros that the words name, and of those that they name in turn.
std::set<std::string, std::less<>> macro_words(const Unit& unit, std::vector<std::string> words) {
  std::set<std::string, std::less<>> out;
  std::set<std::string> seen;
  while (!words.empty()) {
    const std::string word = words.back();
    words.pop_back();
    const Macro* const macro = unit.macro(word);
    if (macro == nullptr || !seen.insert(word).second) continue;
    for (const Token& t : tokenize(macro->body).tokens) {
      if (t.kind != TokenKind::identifier) continue;
      const std::string inside = spelling(macro->body, t);
      if (std::ranges::find(macro->parameters, inside) != macro->parameters.end()) continue;
      out.insert(inside);
      words.push_back(inside);
    }
  }
  return out;
}

/// A name from outside must mean the same in the function and in the kernel.
bool means_the_same(const NormalSite& site, const HelperCall& helper, std::string& why) {
  const Function& f = *helper.function;
  auto own = declared_names(f);
  own.merge(alias_names(site.unit, f));
  std::vector<std::string> words;
  std::set<std::string, std::less<>> free;
  std::vector<WordAt> all = words_in(site.unit, f.body->span);
  for (const Declarator* p : f.parameters) {
    for (WordAt& w : words_in(site.unit, p->specifiers)) all.push_back(std::move(w));
  }
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    if (i + 1 < helper.call->args.size() || helper.arguments[i] == nullptr) continue;
    for (WordAt& w : words_in(site.unit, helper.arguments[i]->span)) all.push_back(std::move(w));
  }
  for (const WordAt& w : all) {
    words.push_back(w.text);
    if (!own.contains(w.text) && !helper.types.contains(w.text) && !helper.members.contains(w.text))
      free.insert(w.text);
  }
  for (const std::string& word : macro_words(site.unit, words)) {
    if (own.contains(word))
      return why = "a macro in " + std::string(f.name) + " says " + word, false;
    free.insert(word);
  }
  std::set<std::string, std::less<>> types;
  walk(*site.kernel.body, [&](const Stmt& s) {
    const std::string alias = alias_name(site.unit, s);
    if (!alias.empty()) {
      types.insert(alias);
    } else if (s.is(StmtKind::declaration) && s.text_only && !names_groups(site.unit, s)) {
      for (const WordAt& w : words_in(site.unit, s.span)) types.insert(w.text);
    }
    return true;
  });
  for (const TemplateParameter& p : site.kernel.template_parameters) types.emplace(p.name);
  for (const std::string& word : free) {
    const Declarator* const d = visible(site.unit, site.kernel, word, helper.call->span.begin);
    const bool hidden = (d != nullptr && d->function != nullptr) || types.contains(word);
    if (hidden)
      return why = word + " of " + std::string(f.name) + " is another in the kernel", false;
  }
  // the kernel sees functions that stand behind the helper, which the helper does not
  for (const Function* behind : site.unit.functions()) {
    if (behind->span.begin < f.span.end || behind->record != nullptr ||
        !free.contains(behind->name))
      continue;
    const bool several = std::ranges::any_of(site.unit.functions(), [&](const Function* other) {
      return other->name == behind->name && other->record == nullptr && other->body != nullptr &&
             other != behind;
    });
    if (several && behind != &site.kernel)
      return why = std::string(behind->name) + " is another behind " + std::string(f.name), false;
  }
  // a local that is used before its declaration, where the name means something else
  bool twice = false;
  walk_expressions(*f.body, [&](const Expr& e) {
    if (e.is(ExprKind::name) && own.contains(e.name)) {
      const Declarator* const d = declaration_of(site.unit, e);
      twice = twice || d == nullptr || d->function != &f;
    }
    return !twice;
  });
  if (twice) return why = "a name of " + std::string(f.name) + " means two things", false;
  // names of another namespace
  std::string_view scope = f.scope;
  if (f.record != nullptr) {
    const std::size_t colons = scope.rfind("::");
    scope = colons == std::string_view::npos ? "" : scope.substr(0, colons);
  }
  const bool reached = scope.empty() || site.kernel.scope == scope ||
                       site.kernel.scope.starts_with(std::string(scope) + "::");
  for (const Function* other : site.unit.functions()) {
    if (!reached && other->scope == scope && free.contains(other->name))
      return why = std::string(f.name) + " uses names of its namespace", false;
  }
  for (const Declarator* d : site.unit.globals()) {
    if (!reached && free.contains(d->name))
      return why = std::string(f.name) + " uses names of its namespace", false;
  }
  return true;
}

bool is_quiet_within(const Unit& unit, const Function& function, int depth) {
  constexpr int kDeepest = 8;
  if (function.body == nullptr || depth > kDeepest) return false;
  bool quiet = true;
  const auto own = [&](const Expr& lvalue) {
    const Expr* const root = root_name(lvalue);
    const Declarator* const d = root == nullptr ? nullptr : declaration_of(unit, *root);
    if (d == nullptr || d->function != &function || d->reference || d->has(kShared)) return false;
    if (root == &lvalue) return true;
    for (const Expr* at = &lvalue; at != root; at = at->args[0]) {
      if (at->is(ExprKind::subscript) && at->arg(0).is(ExprKind::member)) return false;
    }
    return !d->is_pointer() && !(d->is_parameter && d->is_array());
  };
  walk(*function.body, [&](const Stmt& s) {
    if (s.is(StmtKind::assembly) || s.is(StmtKind::macro) || s.is(StmtKind::opaque)) quiet = false;
    return quiet;
  });
  walk_expressions(*function.body, [&](const Expr& e) {
    const bool steps =
        (e.is(ExprKind::unary) || e.is(ExprKind::postfix)) && (e.op == "++" || e.op == "--");
    if (steps || e.is(ExprKind::assign)) quiet = quiet && own(e.arg(0));
    if (e.is_op(ExprKind::unary, "&")) quiet = false;
    if (e.is(ExprKind::call) && !is_pure_function(unit, callee(e)) &&
        !is_load_intrinsic(callee(e))) {
      const Function* const next = unit.find_function(callee(e));
      // within a class the name may be that of a member
      const bool is_member = std::ranges::any_of(unit.functions(), [&](const Function* f) {
        return f->record != nullptr && f->record == function.record && f->name == callee(e);
      });
      quiet = quiet && next != nullptr && !is_member && is_quiet_within(unit, *next, depth + 1);
    }
    return quiet;
  });
  return quiet;
}

}  // namespace

std::vector<WordAt> words_in(const Unit& unit, Span span) {
  const std::string_view text = unit.text(span);
  std::vector<WordAt> out;
  std::string before;
  const auto add = [&](const Token& t) {
    std::string word = spelling(text, t);
    const bool member = before == "." || before == "->" || before == "::";
    const bool name = !is_keyword(word) || word == "final" || word == "override";
    if (t.kind == TokenKind::identifier && !member && name)
      out.push_back({word, {span.begin + t.begin, span.begin + t.end}});
    before = std::move(word);
  };
  for (const Token& t : without_comments(tokenize(text).tokens)) {
    if (t.kind == TokenKind::directive && directive_name(text, t) == "pragma") {
      for (const Token& part : tokenize_directive(text, t).tokens) add(part);  // unroll N
    } else {
      add(t);
    }
  }
  std::erase_if(out, [](const WordAt& w) { return w.text == "pragma" || w.text == "unroll"; });
  return out;
}

std::set<std::string, std::less<>> declared_names(const Function& function) {
  std::set<std::string, std::less<>> out;
  for (const Declarator* p : function.parameters) out.emplace(p->name);
  walk(*function.body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) out.emplace(d->name);
    return true;
  });
  out.erase("");
  return out;
}

std::string alias_name(const Unit& unit, const Stmt& s) {
  if (!s.is(StmtKind::declaration) || !s.text_only) return {};
  const std::string_view text = unit.text(s);
  const std::vector<Token> tokens = without_comments(tokenize(text).tokens);
  const auto word = [&](std::size_t i) { return spelling(text, tokens[i]); };
  if (tokens.size() < 4) return {};
  if (word(0) == "using") return word(2) == "=" ? word(1) : std::string();
  // one name, of no array and no function
  const Token& last = tokens[tokens.size() - 2];
  const bool plain =
      text.find_first_of("[{") == std::string_view::npos && split_arguments(text).size() == 1;
  return word(0) == "typedef" && plain && last.kind == TokenKind::identifier ? spelling(text, last)
                                                                             : std::string();
}

std::set<std::string, std::less<>> alias_names(const Unit& unit, const Function& function) {
  std::set<std::string, std::less<>> out;
  walk(*function.body, [&](const Stmt& s) {
    out.insert(alias_name(unit, s));
    return true;
  });
  out.erase("");
  return out;
}

const Expr* root_name(const Expr& lvalue) {
  const Expr* e = &lvalue;
  while (e->is(ExprKind::subscript) || e->is_op(ExprKind::member, ".")) e = e->args[0];
  return e->is(ExprKind::name) ? e : nullptr;
}

bool is_quiet(const Unit& unit, const Function& function) {
  return is_quiet_within(unit, function, 0);
}

std::vector<const Expr*> helper_calls(const NormalSite& site) {
  std::vector<const Expr*> out;
  walk_expressions(*site.kernel.body, [&](const Expr& e) {
    const std::string_view f = callee(e);
    if (e.is(ExprKind::call) && site.unit.macro(f) == nullptr) {
      const auto member = member_call(site, e);
      if (member && !candidates(site, *member).empty()) out.push_back(&e);
    }
    if (f.empty() || site.unit.macro(f) != nullptr) return true;
    const bool followed = expansion_of(site.unit, e) || is_pure_function(site.unit, f);
    if (!candidates(site, f).empty() && (!followed || site.accesses_in(e.span))) out.push_back(&e);
    return true;
  });
  return out;
}

std::optional<HelperCall> resolve_helper(const NormalSite& site,
                                         const Expr& call,
                                         std::string& why) {
  const auto declined = [&](const std::string& reason) {
    why = reason;
    return std::nullopt;
  };
  const auto member = member_call(site, call);
  const std::string f(member ? member->name : unqualified(callee(call)));
  std::vector<const Function*> definitions;
  std::size_t heads = 0;
  const std::size_t given = call.args.size() - 1;
  const std::vector<const Function*> all =
      member ? candidates(site, *member) : candidates(site, callee(call));
  for (const Function* c : all) {
    const auto named = [&](std::size_t i) { return c->parameters[i]->value() != nullptr; };
    const bool takes_all = given <= c->parameters.size();
    bool defaults = takes_all;
    for (std::size_t i = given; takes_all && i < c->parameters.size(); ++i) {
      const bool elsewhere = std::ranges::any_of(all, [&](const Function* other) {
        return other->body == nullptr && other->parameters.size() == c->parameters.size() &&
               other->parameters[i]->value() != nullptr;
      });
      defaults = defaults && (named(i) || elsewhere);
    }
    if (defaults) c->body != nullptr ? definitions.push_back(c) : static_cast<void>(++heads);
  }
  if (definitions.size() > 1) keep_chosen(site, call, definitions);
  if (definitions.size() > 1) return declined("there is more than one " + f);
  if (definitions.empty())
    return declined(heads > 0 ? f + " is defined elsewhere" : f + " takes other arguments");
  HelperCall out;
  if (!member && is_name_of_cuda(f) && !takes_exactly(site, call, *definitions[0]))
    return declined(f + " is also a name of CUDA");
  out.call = &call;
  out.function = definitions[0];
  const Function& function = *out.function;
  if (!function.is_device) return declined(f + " is no device function");
  for (const Function* other :
       member ? std::span<const Function* const>{} : site.unit.functions()) {
    if (other->name.starts_with(f + "<")) return declined(f + " has specialisations");
    if (other != &function && other->name == f && other->body == nullptr &&
        other->parameters.size() != function.parameters.size())
      return declined("there is more than one " + f);
  }
  const Span behind{function.parameters_span.end, function.body->span.begin};
  if (site.unit.text(behind).find("->") != std::string_view::npos)
    return declined(f + " says its type behind its parameters");
  if (site.unit.text(function.parameters_span).find("...") != std::string_view::npos)
    return declined(f + " takes any number of arguments");
  if (const std::string what = unmovable(site.unit, function); !what.empty())
    return declined(f + " " + what);
  std::set<const Function*> seen;
  if (calls_itself(site.unit, function, function.name, seen)) return declined(f + " calls itself");
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Declarator& p = *function.parameters[i];
    if (p.is_function_pointer || site.unit.plain_text(p.type) == "auto")
      return declined("a parameter of " + f + " is not understood");
    const Expr* argument = i < given ? &call.arg(i + 1) : p.value();
    for (const Function* other : all) {
      if (argument == nullptr && other->body == nullptr &&
          other->parameters.size() == function.parameters.size())
        argument = other->parameters[i]->value();
    }
    if (argument == nullptr || argument->is(ExprKind::opaque) || argument->is(ExprKind::type))
      return declined("an argument of " + f + " is not understood");
    out.arguments.push_back(argument);
  }
  if (member) {
    std::set<std::string, std::less<>> names;
    if (!names_of_class(site, *member, function, names, why)) return std::nullopt;
    for (const std::string& name : names) out.members.emplace(name, member->prefix + name);
    out.types = member->types;
    out.object = member->object;
  }
  if (!bind_template(site, member ? member->arguments : said_arguments(site, call), out, why) ||
      !means_the_same(site, out, why))
    return std::nullopt;
  return out;
}

}  // namespace warpath
