#include <algorithm>

#include "moves/syntax/parser.h"

namespace warpath::model {
namespace {

constexpr std::size_t kMaxItem = 4096;  // lexemes of a function's head

}  // namespace

/// A word that may begin a function behind a macro with its attributes.
bool Parser::starts_function_head(std::size_t at) const {
  const std::string_view t = lex(at).text;
  return t == "__global__" || t == "__host__" || is_builtin_type_word(t) || qualifier_bit(t) != 0 ||
         is_ignored_word(t);
}

/// Lexeme of the name of the function that starts at at_; kNone if this is something else.
std::size_t Parser::find_function_name(std::size_t end) const {
  for (std::size_t i = at_; i < std::min(end, at_ + kMaxItem);) {
    const std::string_view t = lex(i).text;
    if (t == ";" || t == "=" || t == "{" || t == "}" || t == "[" || t == ",") return kNone;
    if (t == "<") {
      const std::size_t close = template_close(i, true);
      if (close != kNone && is(close, "(") && i > at_ && is_word(i - 1))
        return i - 1;  // k<float>(...), a specialisation
      i = close == kNone ? i + 1 : close;
    } else if (t == "operator") {
      std::size_t open = i + 1;
      while (open < end && !is(open, "(") && open < i + 8) ++open;
      return is(open, "(") ? i : kNone;
    } else if (is_word(i) && is(i + 1, "(")) {
      const std::size_t close = close_of(i + 1);
      if (close == kNone) return kNone;
      if (is_parenthesised_attribute(t) || t == "decltype" || t == "explicit" || t == "noexcept") {
        i = close + 1;
        continue;
      }
      if (is_builtin_type_word(t) || qualifier_bit(t) != 0) return kNone;
      if (is_word(close + 1) && !is(close + 1, "const") && !is(close + 1, "noexcept") &&
          !is(close + 1, "override") && !is(close + 1, "final") &&
          !is_parenthesised_attribute(lex(close + 1).text) && !is(close + 1, "requires")) {
        if (i == at_ && !starts_function_head(close + 1)) return kNone;  // a macro call
        i = close + 1;  // a macro among the attributes
        continue;
      }
      return i;
    } else if (t == "(") {
      return kNone;
    } else {
      ++i;
    }
  }
  return kNone;
}

/// Behind const, noexcept, -> type and a constructor's initialisers, at "{" or ";"; kNone if
/// neither follows.
std::size_t Parser::behind_function_head(std::size_t close, std::size_t end) const {
  std::size_t i = close + 1;
  bool initialisers = false;
  for (std::size_t looked = 0; i < end && looked < kMaxLook; ++looked) {
    const std::string_view t = lex(i).text;
    if (t == "{") {
      // a member initialised with braces is no body
      const std::size_t group = close_of(i);
      if (!initialisers || group == kNone || !(is(group + 1, ",") || is(group + 1, "{"))) return i;
      i = group + 1;
    } else if (t == ";") {
      return i;
    } else if (t == "=" && (is(i + 1, "default") || is(i + 1, "delete") || is(i + 1, "0"))) {
      i += 2;
    } else if (t == "(" || t == "[") {
      const std::size_t group = close_of(i);
      if (group == kNone) return kNone;
      i = group + 1;
    } else if (t == ":") {
      initialisers = true;
      ++i;
    } else if (t == "->" || t == "&" || t == "&&" || t == "*" || t == "::" || t == "..." ||
               is_word(i) || t == "<" || t == ">" || t == ">>" || (t == "," && initialisers) ||
               lex(i).kind == TokenKind::number) {
      ++i;
    } else {
      return kNone;
    }
  }
  return kNone;
}

/// The parentheses hold parameters, not arguments: nothing, or a type first that is followed by a
/// name, a star or a comma.
bool Parser::looks_like_parameters(std::size_t open) const {
  const std::size_t close = close_of(open);
  if (close == kNone) return false;
  if (close == open + 1 || is(open + 1, "...")) return true;
  const TypeScan type = scan_type(open + 1);
  if (type.end == kNone || type.end > close) return false;
  return type.certain || type.pointer || (is_word(type.end) && precedence(lex(type.end).text) == 0);
}

/// A macro that stands for words like __device__ and inline, or for macros of such; what they are
/// goes into `says`.
bool Parser::is_attribute_macro(std::string_view word, Function& says, int depth) const {
  constexpr int kDeepest = 4;
  if (depth == kDeepest || !macros_.contains(word)) return false;
  const auto macro = std::find_if(s_.macros.rbegin(), s_.macros.rend(),
                                  [&](const Macro& m) { return m.name == word; });
  if (macro == s_.macros.rend() || macro->function_like || macro->body.empty()) return false;
  Function inside;
  for (const Token& token : tokenize(macro->body).tokens) {
    const std::string part = spelling(macro->body, token);
    const bool space = part == "__device__" || part == "__host__";
    inside.is_device = inside.is_device || part == "__device__";
    inside.is_host = inside.is_host || part == "__host__";
    if (!space && qualifier_bit(part) == 0 && !is_ignored_word(part) &&
        !is_attribute_macro(part, inside, depth + 1))
      return false;
  }
  says.is_device = says.is_device || inside.is_device;
  says.is_host = says.is_host || inside.is_host;
  return true;
}

void Parser::read_attributes(Function& function, std::size_t from, std::size_t to) {
  std::size_t type_from = to;
  for (std::size_t i = from; i < to; ++i) {
    const std::string_view t = lex(i).text;
    if (type_from == to && is_attribute_macro(t, function)) continue;
    function.is_global = function.is_global || t == "__global__";
    function.is_device = function.is_device || t == "__device__";
    function.is_host = function.is_host || t == "__host__";
    if (t == "extern" && lex(i + 1).text == "\"C\"") function.extern_c = true;
    if (is_parenthesised_attribute(t) && is(i + 1, "(") && close_of(i + 1) != kNone) {
      const std::size_t close = close_of(i + 1);
      if (t == "__launch_bounds__") {
        const std::size_t saved = at_;
        std::vector<Expr*> args;
        function.launch_bounds = span(i, close + 1);
        if (parse_arguments(i + 1, args)) function.launch_bounds_args = s_.keep(args);
        at_ = saved;
      }
      i = close;
    } else if (type_from == to && qualifier_bit(t) == 0 && !is_ignored_word(t) &&
               t != "__global__" && t != "__host__" && lex(i).kind != TokenKind::string) {
      const bool macro = is(i + 1, "(");
      if (macro && close_of(i + 1) != kNone) {
        i = close_of(i + 1);
      } else {
        type_from = i;
      }
    }
  }
  if (type_from < to) {
    std::size_t type_end = type_from;
    for (std::size_t i = type_from; i < to && !is_parenthesised_attribute(lex(i).text) &&
                                    lex(i).text != "__global__" && lex(i).text != "__device__";
         ++i)
      type_end = i + 1;
    function.return_type = span(type_from, type_end);
  }
}

void Parser::parse_parameters(Function& function, std::size_t open) {
  const std::size_t close = close_of(open);
  std::vector<Declarator*> parameters;
  const Limit limit(*this, close);
  at_ = open + 1;
  function.parameters_span = {s_.lexemes[open].end, s_.lexemes[close].begin};
  while (at_ < close) {
    const std::size_t from = at_;
    std::size_t stop = from;
    for (int depth = 0; stop < close; ++stop) {
      const std::string_view t = lex(stop).text;
      if (t == "<") ++depth;
      if (t == ">" || t == ">>") depth = std::max(0, depth - static_cast<int>(t.size()));
      if (t == "=") depth = 0;
      if (t == "," && depth == 0) break;
      if (close_of(stop) != kNone) stop = close_of(stop);
    }
    const Limit own(*this, stop);
    Specifiers specifiers;
    const bool nothing = stop == from + 1 && (is(from, "void") || is(from, "..."));
    if (!nothing && stop > from) {
      Declarator* parameter =
          parse_specifiers(specifiers, stop) ? parse_declarator(specifiers, true) : nullptr;
      if (parameter == nullptr || at_ != stop) {
        parameter = s_.make<Declarator>();
        parameter->is_parameter = true;
        parameter->function = function_;
        parameter->specifiers = parameter->type = parameter->span = span(from, stop);
        note_opaque(parameter->span);
      }
      parameter->span = span(from, stop);
      parameters.push_back(parameter);
    }
    at_ = stop + 1;
  }
  function.parameters = s_.keep(parameters);
}

bool Parser::parse_function(std::size_t end,
                            std::string_view scope,
                            bool in_class,
                            Function& head) {
  const std::size_t from = at_;
  const std::size_t name = find_function_name(end);
  if (name == kNone) return false;
  std::size_t open = name + 1;
  if (is(open, "<")) open = template_close(open, true);
  std::size_t name_end = name + 1;
  // MACRO(name)(parameters)
  if (macros_.contains(lex(name).text) && close_of(open) != kNone && is(close_of(open) + 1, "("))
    name_end = open = close_of(open) + 1;
  if (is(name, "operator")) {
    if (is(name + 1, "(") && is(name + 2, ")")) open = name + 3;
    while (open < end && !is(open, "(")) ++open;
    name_end = open;
  }
  const std::size_t close = close_of(open);
  if (close == kNone) return false;
  const std::size_t behind = behind_function_head(close, end);
  if (behind == kNone) return false;
  const bool defines = is(behind, "{");
  bool global = false;
  for (std::size_t i = from; i < name; ++i)
    global = global || is(i, "__global__") || is(i, "__device__");
  if (!defines && !global && (name == from || !looks_like_parameters(open))) return false;
  const std::size_t body_close = defines ? close_of(behind) : kNone;
  if (defines && body_close == kNone) return false;

  Function* const out = s_.make<Function>();
  *out = head;
  out->name = joined(name, name_end);
  out->name_span = span(name, name_end);
  out->attributes = span(from, name);
  out->scope = scope;
  out->record = in_class ? record_ : nullptr;
  const std::size_t opaque_before = s_.opaque.size();
  const Function* const outer = function_;
  function_ = out;
  read_attributes(*out, from, name);
  if (!out->template_parameters.empty()) templates_.insert(out->name);
  parse_parameters(*out, open);
  at_ = behind + 1;
  if (defines) {
    while (next_directive_ < s_.directives.size() &&
           s_.directives[next_directive_].before <= behind)
      ++next_directive_;
    at_ = behind;
    out->body = parse_block();
    if (out->body == nullptr) note_opaque(span(behind, body_close + 1));
    at_ = body_close + 1;
  }
  function_ = outer;
  out->span = {head.span.begin, span(from, at_).end};
  out->opaque = s_.keep(
      outermost({s_.opaque.begin() + static_cast<std::ptrdiff_t>(opaque_before), s_.opaque.end()}));
  const auto line =
      std::lower_bound(s_.directives.begin(), s_.directives.end(), out->span.begin,
                       [](const DirectiveLine& l, std::size_t at) { return l.span.begin < at; });
  for (auto l = line; l != s_.directives.end() && l->span.end <= out->span.end; ++l) {
    out->unresolved_conditionals = out->unresolved_conditionals || l->unresolved;
  }
  s_.functions.push_back(out);
  return true;
}

}  // namespace warpath::model
