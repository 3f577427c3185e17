#include <algorithm>
#include <utility>

#include "engine/text/source_edit.h"
#include "moves/syntax/parser.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

bool is_access_word(std::string_view word) {
  return word == "public" || word == "private" || word == "protected";
}

/// Splits "float, Pair<int, 4>, 8" at its outer commas.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else if (c != ' ' || (!out.back().empty() && out.back().back() != ' ')) {
      out.back() += c;
    }
  }
  for (std::string& part : out) {
    while (!part.empty() && part.back() == ' ') part.pop_back();
  }
  return out;
}

}  // namespace

std::vector<Span> outermost(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](Span a, Span b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<Span> out;
  for (const Span span : spans) {
    if (out.empty() || !out.back().contains(span)) out.push_back(span);
  }
  return out;
}

Parser::Parser(Unit::Storage& storage) : TypeLookahead(storage) {
  for (const Macro& macro : s_.macros) {
    macros_.insert(macro.name);
    const std::string_view body = macro.body;
    const std::string_view first = body.substr(0, body.find_first_of(" (<*"));
    if (macro.function_like) continue;
    if (is_statement_word(first) || first == "_Pragma") statement_macros_.insert(macro.name);
    if (is_builtin_type_word(first) || is_library_type(first) || s_.types.contains(first)) {
      const bool plain = body.find_first_of("()*;=,") == std::string_view::npos;
      if (plain) s_.types.insert(macro.name), s_.aliases.emplace(macro.name, macro.body);
    }
  }
}

void Parser::parse_unit() {
  parse_items(s_.lexemes.size(), "", false);
  s_.opaque = outermost(std::move(s_.opaque));
  fold_constants();
  bind_template_arguments();
}

void Parser::parse_items(std::size_t end, std::string_view scope, bool in_class) {
  const Deeper deeper(*this);
  const Limit limit(*this, std::min(end, limit_));
  while (at_ < limit_) {
    const std::size_t before = at_;
    if (too_deep()) {
      at_ = limit_;
    } else {
      parse_item(limit_, scope, in_class);
    }
    if (at_ <= before) at_ = before + 1;
  }
}

void Parser::parse_item(std::size_t end, std::string_view scope, bool in_class) {
  while (next_directive_ < s_.directives.size() && s_.directives[next_directive_].before <= at_)
    ++next_directive_;
  if (is(at_, ";") || is(at_, "}") || is(at_, ")")) {
    ++at_;
    return;
  }
  if (is_access_word(lex(at_).text) && is(at_ + 1, ":")) {
    at_ += 2;
    return;
  }
  Function head;
  const std::size_t from = at_;
  head.span = span(from, from + 1);
  if (parse_namespace(end, scope, in_class)) return;
  while (is(at_, "template")) {
    if (!parse_template_head(head)) break;
  }
  if (is(at_, "using") || is(at_, "typedef") || is(at_, "static_assert") || is(at_, "friend") ||
      is(at_, "namespace") || is(at_, "concept")) {
    std::size_t stop = at_;
    while (stop < end && !is(stop, ";"))
      stop = close_of(stop) != kNone ? close_of(stop) + 1 : stop + 1;
    if (is(at_, "using") || is(at_, "typedef")) note_alias(at_, stop);
    at_ = std::min(stop + 1, end);
    return;
  }
  if (parse_function(end, scope, in_class, head)) return;
  parse_type_item(end, scope, head);
}

bool Parser::parse_namespace(std::size_t end, std::string_view scope, bool in_class) {
  std::size_t at = at_;
  if (is(at, "inline")) ++at;
  const bool linkage = is(at, "extern") && lex(at + 1).kind == TokenKind::string && is(at + 2, "{");
  if (!linkage && !is(at, "namespace")) return false;
  const std::size_t name = at + 1;
  at += linkage ? 2 : 1;
  while (!linkage && (is_word(at) || is(at, "::")) && at < end) ++at;
  if (!is(at, "{")) return false;
  const std::size_t close = close_of(at);
  if (close == kNone) {  // a brace is missing somewhere: read on as if it were open to the end
    at_ = at + 1;
    return true;
  }
  std::string inner(scope);
  if (!linkage && at > name) inner += (inner.empty() ? "" : "::") + std::string(joined(name, at));
  at_ = at + 1;
  parse_items(close, s_.keep(inner), in_class);
  at_ = close + 1;
  return true;
}

/// template <typename T, int N = 4>
bool Parser::parse_template_head(Function& head) {
  const std::size_t from = at_;
  if (!is(from + 1, "<")) {  // an explicit instantiation
    ++at_;
    return true;
  }
  std::size_t close = from + 2;  // template_close stops at "="
  for (int depth = 1; close < limit_ && depth > 0; ++close) {
    const std::string_view t = lex(close).text;
    if (t == "<") ++depth;
    if (t == ">" || t == ">>" || t == ">>>") depth -= static_cast<int>(t.size());
    if (t == ";" || t == "}" || close > from + kMaxLook) return ++at_, false;
    if ((t == "(" || t == "{") && close_of(close) != kNone) close = close_of(close);
  }
  std::vector<TemplateParameter> parameters(head.template_parameters.begin(),
                                            head.template_parameters.end());
  for (std::size_t i = from + 2; i + 1 < close;) {
    std::size_t stop = i;
    std::size_t equals = kNone;
    for (int depth = 0; stop + 1 < close; ++stop) {
      const std::string_view t = lex(stop).text;
      if (t == "<") ++depth;
      if (t == ">" || t == ">>") depth -= static_cast<int>(t.size());
      if (t == "," && depth == 0) break;
      if (t == "=" && equals == kNone) equals = stop;
      if ((t == "(" || t == "{") && close_of(stop) != kNone) stop = close_of(stop);
    }
    const std::size_t name_end = equals != kNone ? equals : stop;
    if (name_end > i && is_word(name_end - 1)) {
      TemplateParameter parameter;
      parameter.name = lex(name_end - 1).text;
      parameter.span = span(i, stop);
      parameter.is_type = is(i, "typename") || is(i, "class") || is(i, "template");
      if (parameter.is_type) s_.types.insert(parameter.name);
      if (equals != kNone && !parameter.is_type) {
        const Limit limit(*this, stop);
        at_ = equals + 1;
        parameter.default_value = parse_binary(1);
      }
      parameters.push_back(parameter);
    }
    i = stop + 1;
  }
  head.template_parameters = s_.keep(parameters);
  head.template_head = span(from, close);
  at_ = close;
  if (is(at_, "requires")) {
    while (at_ < limit_ && !is(at_, "__global__") && !is(at_, "__device__") && !is(at_, "void") &&
           !is(at_, "{") && !is(at_, ";"))
      ++at_;
  }
  return true;
}

/// A class, an enumeration, variables, or text that is stepped over.
void Parser::parse_type_item(std::size_t end, std::string_view scope, Function& head) {
  const std::size_t from = at_;
  // Members first: parse_specifiers steps over the braces.
  std::size_t at = at_;
  while (at < end && (qualifier_bit(lex(at).text) != 0 || is_ignored_word(lex(at).text))) ++at;
  if (is(at, "struct") || is(at, "class") || is(at, "union")) {
    std::size_t open = at + 1;
    while (open < end && open < at + kMaxLook && !is(open, "{") && !is(open, ";") &&
           !is(open, "=")) {
      open = is(open, "(") && close_of(open) != kNone ? close_of(open) + 1 : open + 1;
    }
    std::size_t name = at + 1;
    while (is_parenthesised_attribute(lex(name).text) && is(name + 1, "(") &&
           close_of(name + 1) != kNone)
      name = close_of(name + 1) + 1;
    if (is_word(name)) {
      s_.types.insert(lex(name).text);
      if (!head.template_parameters.empty()) templates_.insert(lex(name).text);
    }
    if (is(open, "{") && close_of(open) != kNone) {
      std::string inner(scope);
      if (is_word(name)) inner += (inner.empty() ? "" : "::") + std::string(lex(name).text);
      at_ = open + 1;
      const std::size_t close = close_of(open);
      Record* const record = s_.make<Record>();
      if (is_word(name)) record->name = lex(name).text;
      record->head = span(name + 1, open);
      record->body = {s_.lexemes[open].end, s_.lexemes[close].begin};
      record->template_parameters = head.template_parameters;
      const Record* const outside = std::exchange(record_, record);
      parse_items(close, s_.keep(inner), true);
      record_ = outside;
    }
    at_ = from;
  }
  const Stmt* const outer = stmt_;
  Specifiers specifiers;
  std::vector<Declarator*> declarators;
  const std::size_t opaque_before = s_.opaque.size();
  const bool declares = parse_specifiers(specifiers, end) && specifiers.has_type && !is(at_, ";") &&
                        parse_declarators(specifiers, declarators) && is(at_, ";");
  stmt_ = outer;
  if (declares) {
    ++at_;
    for (Declarator* d : declarators) s_.globals.push_back(d);
    return;
  }
  s_.opaque.resize(opaque_before);
  if (at_ > from && is(at_, ";")) return;
  at_ = from;
  while (at_ < end && !is(at_, ";")) {
    const std::size_t close = close_of(at_);
    const bool braces = is(at_, "{");
    const bool call = is(at_, "(");
    at_ = close != kNone ? close + 1 : at_ + 1;
    if (braces && close != kNone) break;
    if (call && close != kNone && lex(at_).first_on_line) break;  // a macro call without ;
  }
}

void Parser::parse_enumerators(std::size_t open) {
  const std::size_t close = close_of(open);
  std::int64_t next = 0;
  bool known = true;
  for (std::size_t i = open + 1; i < close;) {
    std::size_t stop = i;
    while (stop < close && !is(stop, ","))
      stop = close_of(stop) != kNone ? close_of(stop) + 1 : stop + 1;
    if (is(i + 1, "=")) {
      std::vector<Word> words;
      for (std::size_t j = i + 2; j < stop; ++j)
        words.push_back({lex(j).kind, std::string(lex(j).text)});
      const auto value = constant_value(words);
      known = value.has_value();
      next = value.value_or(0);
    }
    if (known && is_word(i)) s_.constants.try_emplace(std::string(lex(i).text), next);
    if (next < INT64_MAX) ++next;
    i = stop + 1;
  }
}

/// What `words` come to with the constants known so far.
std::optional<std::int64_t> Parser::constant_value(const std::vector<Word>& words) const {
  return evaluate_words(
      words,
      [this](const std::string& n) {
        const auto found = s_.constants.find(n);
        return found == s_.constants.end() ? NameValue{}
                                           : NameValue{NameValue::Kind::number, found->second};
      },
      [](const std::string&) { return std::optional<bool>(); });
}

/// Values of constants at file level, in order.
void Parser::fold_constants() {
  for (const Declarator* d : s_.globals) {
    if (!d->is_constant() || d->is_array() || d->is_pointer() || d->value() == nullptr ||
        d->name.empty())
      continue;
    std::vector<Word> words;
    const Span value = d->value()->span;
    const auto first =
        std::lower_bound(s_.lexemes.begin(), s_.lexemes.end(), value.begin,
                         [](const Lexeme& l, std::size_t at) { return l.begin < at; });
    for (auto l = first; l != s_.lexemes.end() && l->end <= value.end; ++l)
      words.push_back({l->kind, std::string(l->text)});
    const auto number = constant_value(words);
    if (number) s_.constants.try_emplace(std::string(d->name), *number);
  }
}

/// "k<float, 4>" gives the template parameters of k their values.
void Parser::bind_template_arguments() {
  const std::string& wanted = s_.options.kernel_name;
  const std::size_t open = wanted.find('<');
  if (open == std::string::npos || !wanted.ends_with('>')) return;
  const std::vector<std::string> arguments =
      split_arguments(std::string_view(wanted).substr(open + 1, wanted.size() - open - 2));
  std::string_view name = std::string_view(wanted).substr(0, open);
  if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  const Function* kernel = nullptr;
  for (const Function* f : s_.functions) {
    if (f->name == name && f->body != nullptr) kernel = f;
  }
  if (kernel == nullptr) return;
  for (std::size_t i = 0; i < std::min(arguments.size(), kernel->template_parameters.size()); ++i) {
    const TemplateParameter& parameter = kernel->template_parameters[i];
    if (parameter.is_type) {
      s_.aliases.insert_or_assign(parameter.name, arguments[i]);
    } else if (const auto number = integer_value(arguments[i])) {
      s_.constants.insert_or_assign(std::string(parameter.name), *number);
    } else if (arguments[i] == "true" || arguments[i] == "false") {
      s_.constants.insert_or_assign(std::string(parameter.name), arguments[i] == "true" ? 1 : 0);
    }
  }
}

}  // namespace warpath::model
