#include "moves/normal/helper_body.h"

#include <algorithm>
#include <span>

#include "engine/base/ascii.h"
#include "engine/text/function_text.h"
#include "moves/edit/span_rewrite.h"
#include "moves/normal/bind_parameters.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

bool holds_return(const Stmt& s) {
  bool found = false;
  walk(s, [&](const Stmt& inner) { return found = found || inner.is(StmtKind::return_), !found; });
  return found;
}

/// True if every path through it returns.
bool always_returns(const Stmt* s) {
  if (s == nullptr) return false;
  if (s->is(StmtKind::return_)) return true;
  if (s->is(StmtKind::block))
    return std::ranges::any_of(s->children, [](const Stmt* c) { return always_returns(c); });
  return s->is(StmtKind::if_) && always_returns(s->body) && always_returns(s->otherwise);
}

bool declares(const Stmt& block) {
  return std::ranges::any_of(statements(block),
                             [](const Stmt* s) { return s->is(StmtKind::declaration); });
}

/// Siblings and the text that they stand in.
struct Part {
  std::vector<const Stmt*> stmts;
  Span span;
};

Part part_of(const Stmt& s) {
  if (!s.is(StmtKind::block)) return {{&s}, s.span};
  return {statements(s), {s.span.begin + 1, s.span.end - 1}};
}

/// Text without blank lines at its ends, its indentation kept; ends in "\n" unless empty.
std::string without_blank_lines(std::string_view text) {
  while (true) {
    const std::size_t line = text.find('\n');
    const std::string_view first = text.substr(0, line);
    if (line == std::string_view::npos ||
        first.find_first_not_of(" \t\r") != std::string_view::npos)
      break;
    text.remove_prefix(line + 1);
  }
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  return std::string(text.substr(0, end + 1)) + "\n";
}

/// Writes a body with assignments and nested ifs instead of returns.
class BodyWriter {
 public:
  BodyWriter(const Unit& unit, const std::vector<Edit>& edits, std::string result)
      : unit_(unit), edits_(edits), result_(std::move(result)), step_(indent_unit(unit)) {}

  /// False if a return cannot be replaced.
  bool write(std::vector<Part> parts, std::string& out) {
    while (!parts.empty()) {
      Part part = parts.front();
      const auto at =
          std::ranges::find_if(part.stmts, [](const Stmt* s) { return holds_return(*s); });
      if (at == part.stmts.end()) {
        out += text(part.span);
        parts.erase(parts.begin());
        continue;
      }
      const Stmt& s = **at;
      out += text({part.span.begin, s.span.begin});
      parts.front() = {{at + 1, part.stmts.end()}, {s.span.end, part.span.end}};
      if (s.is(StmtKind::return_)) {
        if (s.expr != nullptr)
          out += result_ + " = " + substituted(unit_, s.expr->outer, edits_) + ";\n";
        return true;
      }
      const bool last = std::ranges::all_of(parts, [](const Part& p) { return p.stmts.empty(); });
      if (s.is(StmtKind::block)) {
        if (!last && declares(s)) return false;
        parts.insert(parts.begin(), part_of(s));
        continue;
      }
      return s.is(StmtKind::if_) && s.init == nullptr && s.expr != nullptr && !s.constexpr_if &&
             branch(s, last ? std::vector<Part>{} : std::move(parts), out);
    }
    return true;
  }

 private:
  /// An if of which a branch returns, and what follows it.
  bool branch(const Stmt& s, std::vector<Part> rest, std::string& out) {
    std::vector<Part> yes{part_of(*s.body)};
    std::vector<Part> no;
    if (s.otherwise != nullptr) no.push_back(part_of(*s.otherwise));
    if (!rest.empty()) {
      const bool first = always_returns(s.body);
      if (!first && !always_returns(s.otherwise)) return false;
      std::vector<Part>& goes_on = first ? no : yes;
      const Stmt* const own = first ? s.otherwise : s.body;
      if (own != nullptr && declares(*own)) {
        if (holds_return(*own)) return false;
        goes_on = {{{own}, own->span}};  // keeps its braces
      }
      goes_on.insert(goes_on.end(), rest.begin(), rest.end());
    }
    std::string then, otherwise;
    if (!write(std::move(yes), then) || !write(std::move(no), otherwise)) return false;
    const std::string condition = substituted(unit_, s.expr->span, edits_);
    if (then.empty() && otherwise.empty()) {
      out += is_pure(unit_, *s.expr) ? "" : condition + ";\n";
    } else if (then.empty()) {
      out += "if (!(" + condition + ")) {\n" + indented(otherwise, step_) + "}\n";
    } else {
      out += "if (" + condition + ") {\n" + indented(then, step_) + "}";
      out += otherwise.empty() ? "\n" : " else {\n" + indented(otherwise, step_) + "}\n";
    }
    return true;
  }

  /// A piece of the body, edited, without its indentation.
  [[nodiscard]] std::string text(Span span) const {
    const std::string all = substituted(unit_, span, edits_);
    const std::size_t end = std::min(all.find('\n'), all.size());
    const std::size_t blanks = std::min(all.find_first_not_of(" \t\r"), all.size());
    if (blanks >= end) return unindented(without_blank_lines(all));  // whole lines
    const std::string_view rest = std::string_view(all).substr(std::min(end + 1, all.size()));
    return without_blank_lines(all.substr(blanks, end - blanks) + "\n" + unindented(rest));
  }

  const Unit& unit_;
  const std::vector<Edit>& edits_;
  const std::string result_;
  const std::string step_;
};

/// The words of the return type without function specifiers (inline, __device__).
std::string value_type(const NormalSite& site, const HelperCall& helper) {
  static const std::set<std::string, std::less<>> kIgnored{
      "__forceinline__", "__noinline__", "__inline__", "__inline", "inline",     "static",
      "__host__",        "__device__",   "constexpr",  "extern",   "__inline__", "const"};
  std::string out;
  const std::string text = site.unit.plain_text(helper.function->return_type);
  for (const Token& t : tokenize(text).tokens) {
    const std::string word = spelling(text, t);
    if (kIgnored.contains(word) && !(word == "const" && text.find('*') != std::string::npos))
      continue;
    const auto bound = helper.types.find(word);
    out += (out.empty() || !t.space_before ? "" : " ") +
           (bound == helper.types.end() ? word : bound->second);
  }
  return out == "void" ? std::string() : out;
}

/// Identifiers of the file, except those in bodies of device functions.
const std::set<std::string, std::less<>>& names_outside(const NormalSite& site) {
  if (site.names_outside) return *site.names_outside;
  auto& out = site.names_outside.emplace();
  std::vector<Span> bodies;
  for (const Function* f : site.unit.functions()) {
    if (f != &site.kernel && f->body != nullptr && !f->is_global)
      bodies.push_back({f->parameters_span.begin, f->span.end});
  }
  std::ranges::sort(bodies, {}, &Span::begin);
  const std::string_view source = site.unit.source();
  std::size_t next = 0, until = 0;
  for (const Token& t : tokenize(source).tokens) {
    for (; next < bodies.size() && bodies[next].begin <= t.begin; ++next)
      until = std::max(until, bodies[next].end);
    const bool inside = t.end <= until;
    if (t.kind == TokenKind::identifier && !inside) out.insert(spelling(source, t));
    if (t.kind == TokenKind::directive) {
      for (const Token& part : tokenize_directive(source, t).tokens)
        out.insert(spelling(source, part));
    }
  }
  return out;
}

/// A name for a local of the helper: its own unless `taken` has it.
std::string fresh_local(const NormalSite& site,
                        std::string_view wish,
                        std::set<std::string, std::less<>>& taken) {
  if (taken.contains(wish) || site.unit.is_defined(wish) || is_cuda_name(wish))
    return fresh_name(site.unit, wish, &taken);
  taken.emplace(wish);
  return std::string(wish);
}

/// The extents of a shared array as they can stand at the head of the kernel.
bool hoist(const NormalSite& site,
           const HelperCall& helper,
           const Declarator& d,
           const std::string& name,
           std::string& head) {
  const auto own = declared_names(*helper.function);
  Bindings bound;
  for (const auto& [parameter, text] : helper.types) {
    if (const auto value = constant_value(site.unit, text)) bound.emplace(parameter, *value);
  }
  std::string extents;
  for (const Expr* e : d.extents) {
    if (e == nullptr && d.has(kExtern)) {
      extents += "[]";
      continue;
    }
    if (e == nullptr) return false;
    bool local = false;
    for (const WordAt& w : words_in(site.unit, e->span))
      local = local || own.contains(w.text) || helper.types.contains(w.text);
    const auto value = constant_value(site.unit, *e, bound);
    if (local && !value) return false;
    extents += "[" + (local ? std::to_string(*value) : site.unit.plain_text(e->span)) + "]";
  }
  if (d.init_form != InitForm::none || d.reference) return false;
  const auto aliases = alias_names(site.unit, *helper.function);
  for (const WordAt& w : words_in(site.unit, {d.specifiers.begin, d.span.end})) {
    if (aliases.contains(w.text)) return false;
  }
  std::string type = site.unit.plain_text(d.specifiers);
  for (const auto& [parameter, text] : helper.types) {
    for (std::size_t at = 0; (at = type.find(parameter, at)) != std::string::npos;
         at += text.size()) {
      const auto letter = [&](std::size_t i) { return i < type.size() && is_word(type[i]); };
      if ((at > 0 && letter(at - 1)) || letter(at + parameter.size())) continue;
      type.replace(at, parameter.size(), text);
    }
  }
  head += type + " " + std::string(site.unit.text(d.pointer_span)) + name + extents + ";\n";
  return true;
}

bool has_extern_array(const Function& kernel) {
  bool found = false;
  walk(*kernel.body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) found = found || d->has(kExtern);
    return !found;
  });
  return found;
}

/// Replaces shared arrays of the helper by arrays of the kernel, one for all its calls.
bool move_shared_arrays(const NormalSite& site,
                        const HelperCall& helper,
                        std::set<std::string, std::less<>>& taken,
                        std::map<std::string, std::string, std::less<>>& names,
                        std::vector<Edit>& edits,
                        std::string& head) {
  bool can = true, has_extern = has_extern_array(site.kernel);
  walk(*helper.function->body, [&](const Stmt& s) {
    if (!s.is(StmtKind::declaration) || s.declarators.empty() || !s.declarators[0]->has(kShared))
      return can;
    for (const Declarator* d : s.declarators) {
      std::string key(helper.function->scope);
      key += "::" + std::string(helper.function->name) + "/" + std::string(d->name);
      for (const auto& [parameter, text] : helper.types) key += "," + text;
      // overloads and specialisations have arrays of their own
      key += "(" + site.unit.plain_text(helper.function->parameters_span) + ")";
      if (helper.function->record != nullptr)
        key += site.unit.plain_text(helper.function->record->head);
      auto [found, added] = site.hoisted.try_emplace(key);
      if (added) {
        found->second = fresh_local(site, d->name, taken);
        // all of a kernel's extern arrays are the same memory: it keeps one
        can =
            can && !(d->has(kExtern) && has_extern) && hoist(site, helper, *d, found->second, head);
        has_extern = has_extern || d->has(kExtern);
        if (!can) site.hoisted.erase(found);
      }
      if (!can) return false;
      names[std::string(d->name)] = found->second;
    }
    const Span lines = whole_lines(site.unit, s.span);
    edits.push_back({lines.begin, lines.end, ""});
    return can;
  });
  return can;
}

/// Edits that give every name of the body its new text.
void rename_words(const NormalSite& site,
                  const HelperCall& helper,
                  const BoundParameters& bound,
                  std::vector<Edit>& edits) {
  std::vector<Span> done;
  for (const Edit& e : edits) done.push_back({e.begin, e.end});
  walk_expressions(*helper.function->body, [&](const Expr& e) {
    const bool deref = e.is_op(ExprKind::unary, "*") && e.arg(0).is(ExprKind::name);
    const bool first = e.is(ExprKind::subscript) && e.arg(0).is(ExprKind::name);
    const bool member = e.is_op(ExprKind::member, "->") && e.arg(0).is(ExprKind::name);
    if (!deref && !first && !member) return true;
    const auto pointee = bound.pointees.find(e.arg(0).name);
    if (pointee == bound.pointees.end()) return true;
    const Span span{e.span.begin, member ? e.name_span.begin : e.span.end};
    edits.push_back({span.begin, span.end, pointee->second + (member ? "." : "")});
    done.push_back(span);
    return true;
  });
  for (const WordAt& w : words_in(site.unit, helper.function->body->span)) {
    const bool covered =
        std::ranges::any_of(done, [&](Span span) { return span.contains(w.span); });
    if (covered) continue;
    if (const auto name = bound.names.find(w.text); name != bound.names.end()) {
      if (name->second != w.text) edits.push_back({w.span.begin, w.span.end, name->second});
    } else if (const auto type = helper.types.find(w.text); type != helper.types.end()) {
      edits.push_back({w.span.begin, w.span.end, type->second});
    }
  }
}

}  // namespace

std::string value_name(const Function& function) {
  return function.name.starts_with("operator") ? "value" : std::string(function.name) + "_value";
}

std::optional<std::string> value_in_place(const NormalSite& site, const HelperCall& helper) {
  const Function& f = *helper.function;
  const Expr* const value = returned_expression(f);
  const std::string type = value_type(site, helper);
  if (value == nullptr || type.empty() || type.find_first_of("&([") != std::string::npos ||
      type.find("auto") != std::string::npos || !is_pure(site.unit, *value))
    return std::nullopt;
  BoundParameters bound;
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Declarator& p = *f.parameters[i];
    const Expr& a = *helper.arguments[i];
    const bool numbers =
        !p.is_pointer() && !p.is_array() && !p.has(kVolatile) && (!p.reference || p.has(kConst));
    if (!numbers || !is_pure(site.unit, a) || i + 1 >= helper.call->args.size())
      return std::nullopt;
    if (p.name.empty()) continue;
    std::string wanted = site.unit.plain_text(p.type);
    if (const auto t = helper.types.find(wanted); t != helper.types.end()) wanted = t->second;
    bound.names[std::string(p.name)] =
        "static_cast<" + wanted + ">(" + std::string(site.unit.text(a.outer)) + ")";
  }
  bound.names.insert(helper.members.begin(), helper.members.end());
  std::vector<Edit> edits;
  rename_words(site, helper, bound, edits);
  return "static_cast<" + type + ">(" + substituted(site.unit, value->outer, edits) + ")";
}

std::optional<BodyText> body_of(const NormalSite& site,
                                const HelperCall& helper,
                                std::string& why) {
  const Function& f = *helper.function;
  std::set<std::string, std::less<>> taken = names_outside(site);
  const auto fresh = [&](std::string_view wish) { return fresh_local(site, wish, taken); };
  auto bound = bind_parameters(site, helper, fresh, why);
  if (!bound) return std::nullopt;
  BodyText out;
  std::vector<Edit> edits;
  if (!move_shared_arrays(site, helper, taken, bound->names, edits, out.head))
    return why = "a shared array of " + std::string(f.name) + " cannot move", std::nullopt;
  for (const std::string& local : declared_names(f)) {
    if (!bound->names.contains(local)) bound->names[local] = fresh(local);
  }
  // types are told apart by their names in the whole file
  const auto aliases = alias_names(site.unit, f);
  std::size_t said = 0;
  walk(*f.body, [&](const Stmt& s) {
    said += alias_name(site.unit, s).empty() ? 0 : 1;
    return true;
  });
  if (said != aliases.size())
    return why = std::string(f.name) + " gives a name to two types", std::nullopt;
  for (const std::string& alias : aliases)
    bound->names[alias] = fresh_name(site.unit, alias, &taken);
  bound->names.insert(helper.members.begin(), helper.members.end());
  rename_words(site, helper, *bound, edits);
  out.lines = bound->lines;
  out.type = value_type(site, helper);
  if (out.type.find('&') != std::string::npos || out.type == "decltype(auto)")
    return why = std::string(f.name) + " returns a reference", std::nullopt;
  if (out.type.find_first_of("[(") != std::string::npos)
    return why = "the type of " + std::string(f.name) + " is not understood", std::nullopt;
  int returns = 0;
  walk(*f.body, [&](const Stmt& s) { return returns += s.is(StmtKind::return_) ? 1 : 0, true; });
  const std::span<Stmt* const> children = f.body->children;
  const Stmt* const last = children.empty() ? nullptr : children.back();
  if (!out.type.empty() && returns == 0)
    return why = std::string(f.name) + " returns nothing", std::nullopt;
  Part whole = part_of(*f.body);
  if (returns == 1 && last != nullptr && last->is(StmtKind::return_)) {
    // the value stays an expression, comments behind it stay comments
    whole = {{children.begin(), children.end() - 1}, {whole.span.begin, last->span.begin}};
    if (last->expr != nullptr) {
      out.value = substituted(site.unit, last->expr->outer, edits);
      out.has_effects = !is_pure(site.unit, *last->expr);
      if (last->expr->is(ExprKind::comma)) out.value = "(" + out.value + ")";
    }
  } else if (!out.type.empty()) {
    if (out.type == "auto") return why = std::string(f.name) + " returns auto", std::nullopt;
    out.value = fresh(value_name(f));
    out.is_variable = true;
    out.lines += out.type + " " + out.value + ";\n";
  }
  BodyWriter writer(site.unit, edits, out.value);
  if (!writer.write({whole}, out.lines))
    return why = std::string(f.name) + " returns from the middle", std::nullopt;
  return out;
}

}  // namespace warpath
