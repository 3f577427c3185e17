#include "moves/normal/member_call.h"

#include <algorithm>
#include <map>

#include "engine/text/function_text.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// A name and the template arguments behind it.
struct NamePart {
  std::string name;
  std::vector<std::string> arguments;
};

/// "ns::Sum<4>::of" in parts; empty if it is something else.
std::vector<NamePart> parts_of(std::string_view text) {
  std::vector<NamePart> out;
  while (!text.empty()) {
    int depth = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
      if (text[end] == '<' || text[end] == '(') ++depth;
      if (text[end] == '>' || text[end] == ')') --depth;
      if (depth == 0 && text.substr(end, 2) == "::") break;
    }
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 2));
    if (part.empty() && out.empty() && !text.empty()) continue;  // ::f
    const std::size_t open = part.find('<');
    NamePart one{std::string(part.substr(0, open)), {}};
    while (one.name.ends_with(' ')) one.name.pop_back();
    if (one.name.empty() || one.name.find(' ') != std::string::npos) return {};
    if (open != std::string_view::npos) {
      const std::size_t close = part.rfind('>');
      if (close == std::string_view::npos || close < open) return {};
      one.arguments = split_arguments(part.substr(open + 1, close - open - 1));
    }
    out.push_back(std::move(one));
  }
  return out;
}

/// What a class that specialises a template says behind its name: "<half, T>" in pieces; empty for
/// other classes.
std::vector<std::string> specialised(const NormalSite& site, const Record& record) {
  const std::string head = site.unit.plain_text(record.head);
  const std::size_t close = head.rfind('>');
  if (!head.starts_with("<") || close == std::string::npos) return {};
  return split_arguments(std::string_view(head).substr(1, close - 1));
}

/// A type as it is compared: by its definition, integers of fixed width by their C names.
std::string known_type(const NormalSite& site, const std::string& text) {
  static const std::map<std::string, std::string, std::less<>> kFixed{
      {"int8_t", "signed char"},      {"uint8_t", "unsigned char"}, {"int16_t", "short"},
      {"uint16_t", "unsigned short"}, {"int32_t", "int"},           {"uint32_t", "unsigned int"},
      {"unsigned", "unsigned int"},   {"int64_t", "long"},          {"uint64_t", "unsigned long"}};
  std::string out = site.unit.resolved_type(text);
  const auto fixed = kFixed.find(out);
  return fixed == kFixed.end() ? out : fixed->second;
}

/// The number that a template argument of the kernel is; nullopt where a name in it is the
/// kernel's.
std::optional<std::int64_t> number_given(const NormalSite& site, const std::string& text) {
  return names_of_kernel(site, text) ? std::nullopt : constant_value(site.unit, text);
}

/// The class specialises its template for these very types of numbers, and numbers. No other one of
/// the same scope can be meant then: a second one for the same types would be a redefinition.
bool is_exactly(const NormalSite& site,
                const Record& record,
                const std::vector<std::string>& given) {
  const std::vector<std::string> own = specialised(site, record);
  if (own.empty() || own.size() != given.size() || !record.template_parameters.empty())
    return false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto wanted = constant_value(site.unit, own[i]), number = number_given(site, given[i]);
    const std::string type = known_type(site, given[i]);
    const bool same = wanted && number ? *wanted == *number
                                       : dtype_of_type(type) && known_type(site, own[i]) == type;
    if (!same) return false;
  }
  return true;
}

/// Whether the specialisation is meant by the arguments; nullopt if that is not certain.
std::optional<bool> is_meant(const NormalSite& site,
                             const Record& record,
                             const std::vector<std::string>& given) {
  const std::vector<std::string> own = specialised(site, record);
  if (own.size() != given.size()) return std::nullopt;
  for (std::size_t i = 0; i < own.size(); ++i) {
    // one parameter twice: its arguments are the same
    const auto twice = static_cast<std::size_t>(std::ranges::find(own, own[i]) - own.begin());
    if (twice != i && known_type(site, given[twice]) != known_type(site, given[i]))
      return std::nullopt;
    const bool open = std::ranges::any_of(
        record.template_parameters,
        [&](const TemplateParameter& p) { return own[i].find(p.name) != std::string::npos; });
    const std::string a = known_type(site, own[i]), b = known_type(site, given[i]);
    if (open && a != own[i]) return std::nullopt;
    if (open || a == b) continue;
    const auto wanted = constant_value(site.unit, own[i]), number = number_given(site, given[i]);
    if (wanted && number && *wanted != *number) return false;
    if (wanted && number) continue;
    // two names that are types of their own
    const auto apart = [&](const std::string& type) {
      return dtype_of_type(type).has_value() || site.unit.is_type_name(type) ||
             type.find("::") != std::string::npos || type.find("unsigned") == 0 ||
             type.find("signed") == 0;
    };
    if (!dtype_of_type(b) || !apart(a) || dtype_of_type(a) == dtype_of_type(b)) return std::nullopt;
    return false;
  }
  // an argument that is more than a parameter's name may be or not be of that form
  const bool plain = std::ranges::all_of(own, [&](const std::string& text) {
    return std::ranges::none_of(record.template_parameters, [&](const TemplateParameter& p) {
      return text != p.name && text.find(p.name) != std::string::npos;
    });
  });
  return plain ? std::optional(true) : std::nullopt;
}

/// `template <> float Num<float>::of(float)`, of the class `name`.
bool defines_member(const NormalSite& site, const Function& function, std::string_view name) {
  const std::string head = site.unit.plain_text(function.attributes);
  return head.ends_with("::") && head.find(std::string(name) + "<") != std::string::npos;
}

/// Specialisations of the class template of this name that the file defines, also those without
/// functions.
std::size_t specialisations_of(const NormalSite& site, std::string_view name) {
  if (!site.specialisations) {
    auto& counts = site.specialisations.emplace();
    const std::string_view source = site.unit.source();
    const std::vector<Token> tokens = without_comments(tokenize(source).tokens);
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      const std::string word = spelling(source, tokens[i]);
      if ((word != "struct" && word != "class") || spelling(source, tokens[i + 2]) != "<") continue;
      const auto is_end = [&](const std::string& text) { return text == "{" || text == ";"; };
      std::size_t k = i + 2;
      while (k < tokens.size() && !is_end(spelling(source, tokens[k]))) ++k;
      if (k < tokens.size() && spelling(source, tokens[k]) == "{")
        ++counts[spelling(source, tokens[i + 1])];
    }
  }
  const auto it = site.specialisations->find(name);
  return it == site.specialisations->end() ? 0 : it->second;
}

/// The class whose members the file defines, the template's own or the only specialisation that the
/// arguments mean; null if that is not certain.
const Record* record_of(const NormalSite& site,
                        const std::vector<NamePart>& parts,
                        std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i > 0 ? "::" : "") + parts[i].name;
  std::vector<const Record*> all;
  std::set<std::string_view> scopes;
  for (const Function* f : site.unit.functions()) {
    // a member that is defined outside of a specialisation belongs to a class that has no other
    if (f->record == nullptr && defines_member(site, *f, parts[count - 1].name)) return nullptr;
    if (f->record == nullptr || f->record->name != parts[count - 1].name) continue;
    if (f->scope != path && !f->scope.ends_with("::" + path)) continue;
    scopes.insert(f->scope);
    if (std::ranges::find(all, f->record) == all.end()) all.push_back(f->record);
  }
  if (all.empty()) return nullptr;
  const std::vector<std::string>& given = parts[count - 1].arguments;
  const auto special_ones = std::ranges::count_if(
      all, [&](const Record* record) { return !specialised(site, *record).empty(); });
  if (static_cast<std::size_t>(special_ones) != specialisations_of(site, parts[count - 1].name))
    return nullptr;
  for (const Record* record : all) {  // nothing fits better than the very types
    if (scopes.size() == 1 && is_exactly(site, *record, given)) return record;
  }
  const Record* general = nullptr;
  const Record* special = nullptr;
  for (const Record* record : all) {
    const bool is_special = !specialised(site, *record).empty();
    const auto meant = is_special ? is_meant(site, *record, given) : std::optional(true);
    const Record*& place = is_special ? special : general;
    if (!meant || (*meant && place != nullptr)) return nullptr;
    if (*meant) place = record;
  }
  return special != nullptr ? special : general;
}

/// Gives the parameters of the class their arguments.
bool bind_class(const NormalSite& site, const std::vector<std::string>& given, MemberCall& out) {
  const auto parameters = out.record->template_parameters;
  const std::vector<std::string> own = specialised(site, *out.record);
  if (own.empty() && given.size() > parameters.size()) return false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const TemplateParameter& p = parameters[i];
    if (site.unit.text(p.span).find("...") != std::string_view::npos) return false;
    // of a specialisation where its own arguments say the parameter
    const auto at =
        own.empty() ? i : static_cast<std::size_t>(std::ranges::find(own, p.name) - own.begin());
    std::string bound = at < given.size() ? given[at] : std::string();
    if (bound.empty() && own.empty()) bound = default_argument(site, p, out.types);
    const bool plain = bound.find_first_of("*&") == std::string::npos &&
                       (!p.is_type || bound.find(' ') == std::string::npos);
    if (bound.empty() || !plain) return false;
    if (!p.is_type && bound.find_first_of(" +-/%<>?:,|") != std::string::npos)
      bound = "(" + bound + ")";
    out.types.emplace(p.name, bound);
  }
  return true;
}

/// The class that `type` names, with its arguments.
bool set_class(const NormalSite& site, const std::string& type, MemberCall& out) {
  const std::vector<NamePart> parts = parts_of(type);
  if (parts.empty()) return false;
  out.record = record_of(site, parts, parts.size());
  return out.record != nullptr && bind_class(site, parts.back().arguments, out);
}

/// Names that the body of the class declares: members, enumerators and types.
std::set<std::string, std::less<>> declared_in(const NormalSite& site, const Record& record) {
  std::set<std::string, std::less<>> out;
  const std::string_view text = site.unit.text(record.body);
  const std::vector<Token> tokens = without_comments(tokenize(text).tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t at = record.body.begin + tokens[i].begin;
    const bool inside = std::ranges::any_of(site.unit.functions(), [&](const Function* f) {
      return f->record == &record && f->parameters_span.begin <= at && at < f->span.end;
    });
    const std::string word = spelling(text, tokens[i]);
    if (inside || tokens[i].kind != TokenKind::identifier || is_keyword(word)) continue;
    const std::string next = i + 1 < tokens.size() ? spelling(text, tokens[i + 1]) : ";";
    if (next.find_first_of(";,=[(){}:") == 0 && next != "::") out.insert(word);
  }
  out.erase(std::string(record.name));
  return out;
}

/// The class says more of its members than this looks at.
bool is_plain(const NormalSite& site, const Record& record) {
  static const std::set<std::string, std::less<>> kMore{
      "typedef", "using", "enum", "struct", "class", "union", "virtual", "mutable", "friend"};
  std::string_view head = site.unit.text(record.head);
  if (head.starts_with("<")) head.remove_prefix(std::min(head.size(), head.rfind('>') + 1));
  if (head.find(':') != std::string_view::npos) return false;
  const std::string_view text = site.unit.text(record.body);
  const std::vector<Token> tokens = tokenize(text).tokens;
  return std::ranges::none_of(tokens, [&](const Token& t) {
    return t.kind == TokenKind::directive || kMore.contains(spelling(text, t));
  });
}

}  // namespace

bool names_of_kernel(const NormalSite& site, std::string_view text) {
  const std::vector<Token> tokens = tokenize(text).tokens;
  const auto is_own = [&](const auto& names) {
    return std::ranges::any_of(tokens, [&](const Token& t) {
      return t.kind == TokenKind::identifier && names.contains(spelling(text, t));
    });
  };
  if (std::ranges::none_of(tokens, [](const Token& t) { return t.kind == TokenKind::identifier; }))
    return false;
  std::set<std::string, std::less<>> parameters;
  for (const TemplateParameter& p : site.kernel.template_parameters) parameters.emplace(p.name);
  return is_own(parameters) || is_own(declared_names(site.kernel)) ||
         is_own(alias_names(site.unit, site.kernel));
}

std::string default_argument(const NormalSite& site,
                             const TemplateParameter& parameter,
                             const std::map<std::string, std::string, std::less<>>& before) {
  const std::string text = site.unit.plain_text(parameter.span);
  if (parameter.name.empty() || text.starts_with("template")) return {};
  const std::vector<Token> tokens = tokenize(text).tokens;
  std::size_t k = 0;
  for (int depth = 0; k < tokens.size(); ++k) {
    const std::string word = spelling(text, tokens[k]);
    if (word == "=" && depth == 0) break;
    depth += word == "<" ? 1 : word == ">" ? -1 : word == ">>" ? -2 : 0;
  }
  if (k + 1 >= tokens.size()) return {};
  std::string out;
  std::size_t at = tokens[k + 1].begin;
  for (std::size_t i = k + 1; i < tokens.size(); ++i) {
    const std::string word = spelling(text, tokens[i]);
    const auto bound = before.find(word);
    out += text.substr(at, tokens[i].begin - at);
    at = tokens[i].end;
    if (bound == before.end() && names_of_kernel(site, word)) return {};
    out += bound == before.end() ? word : bound->second;
  }
  return out;
}

std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else if (c != ' ' || !out.back().empty()) {
      out.back() += c;
    }
  }
  while (!out.back().empty() && out.back().back() == ' ') out.back().pop_back();
  return out;
}

std::optional<MemberCall> member_call(const NormalSite& site, const Expr& call) {
  const Expr& called = call.arg(0);
  MemberCall out;
  if (called.is(ExprKind::cast) && called.args.empty()) {  // Sum()(a, b)
    out.name = "operator()";
    out.prefix = std::string(site.unit.text(called.span)) + ".";
    if (!set_class(site, site.unit.plain_text(called.type), out)) return std::nullopt;
    return out;
  }
  const bool member = called.is_op(ExprKind::member, ".");
  const Expr& name = member ? called.arg(0) : called;
  if (!name.is(ExprKind::name)) return std::nullopt;
  const Declarator* const d = declaration_of(site.unit, name);
  if (d != nullptr && d->function == &site.kernel) {  // of an object
    if (d->is_pointer() || d->is_array() || d->is_function_pointer) return std::nullopt;
    out.object = d;
    out.prefix = std::string(d->name) + ".";
    const std::vector<NamePart> parts =
        member ? parts_of(site.unit.plain_text({called.name_span.begin, called.span.end}))
               : std::vector<NamePart>{{"operator()", {}}};
    if (parts.size() != 1) return std::nullopt;
    out.name = parts[0].name, out.arguments = parts[0].arguments;
    const std::string type = site.unit.resolved_type(site.unit.plain_text(d->type));
    if (!set_class(site, type, out)) return std::nullopt;
    return out;
  }
  if (member) return std::nullopt;
  const std::vector<NamePart> parts = parts_of(site.unit.plain_text(name.span));
  if (parts.size() < 2) return std::nullopt;
  out.record = record_of(site, parts, parts.size() - 1);
  if (out.record == nullptr || !bind_class(site, parts[parts.size() - 2].arguments, out))
    return std::nullopt;
  out.name = parts.back().name, out.arguments = parts.back().arguments;
  const std::string text = site.unit.plain_text(name.span);
  const std::size_t own = text.rfind("::" + out.name);
  if (own == std::string::npos) return std::nullopt;
  out.prefix = text.substr(0, own + 2);
  return out;
}

std::vector<const Function*> candidates(const NormalSite& site, const MemberCall& member) {
  std::vector<const Function*> out;
  for (const Function* f : site.unit.functions()) {
    if (f->record == member.record && f->name == member.name) out.push_back(f);
  }
  return out;
}

bool names_of_class(const NormalSite& site,
                    const MemberCall& member,
                    const Function& function,
                    std::set<std::string, std::less<>>& names,
                    std::string& why) {
  const std::string f(function.name);
  if (!is_plain(site, *member.record)) return why = "the class of " + f + " is not plain", false;
  const bool is_static = says_word(site.unit.text(function.attributes), "static");
  if (!is_static && member.prefix.ends_with("::"))
    return why = f + " is called on no object", false;
  const std::string_view body = site.unit.text(function.body->span);
  if (says_word(body, "this")) return why = f + " says this", false;
  // `::f` and `Other::f` are others
  const std::vector<WordAt> said = words_in(site.unit, function.body->span);
  const std::string_view parameters = site.unit.text(function.parameters_span);
  const std::string_view own_class = member.record->name;
  if ((says_word(body, f) && (says_word(body, own_class) || says_word(parameters, own_class))) ||
      std::ranges::any_of(said, [&](const WordAt& w) { return w.text == f; }))
    return why = f + " calls itself", false;
  const auto own = declared_names(function);
  const auto of_class = declared_in(site, *member.record);
  const Span head{function.span.begin, function.body->span.begin};
  for (const WordAt& w : words_in(site.unit, head)) {
    if (of_class.contains(w.text) && w.text != function.name && !own.contains(w.text))
      return why = "a type of " + f + " is one of its class", false;
  }
  for (const WordAt& w : said) {
    if (of_class.contains(w.text) && !own.contains(w.text)) names.insert(w.text);
  }
  // outside of the class the name would be a function without effects
  for (const std::string& name : names) {
    const bool called = std::ranges::any_of(site.unit.functions(), [&](const Function* other) {
      return other->record == member.record && other->name == name;
    });
    if (called && is_pure_function(site.unit, name))
      return why = f + " calls another member named like a function", false;
  }
  // a new object for every name would be one for every use
  if (!names.empty() && member.object == nullptr && !member.prefix.ends_with("::"))
    return why = f + " uses members of a new object", false;
  return true;
}

}  // namespace warpath
