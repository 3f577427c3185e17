#include "moves/syntax/type_scan.h"

#include <algorithm>

namespace warpath::model {
namespace {

/// May stand behind the name of a variable that is being declared.
bool may_follow_name(std::string_view text) {
  return text.empty() || text == "=" || text == ";" || text == "," || text == "[" || text == "{" ||
         text == ":" || text == ")";
}

}  // namespace

bool is_class_word(std::string_view word) {
  return word == "struct" || word == "class" || word == "union" || word == "enum";
}

bool is_type_function(std::string_view word) {
  return word == "decltype" || word == "typeof" || word == "__typeof__" || word == "__typeof";
}

bool is_star(std::string_view word) {
  return word == "*" || word == "&" || word == "&&";
}

/// At "<": the index behind the closing ">"; kNone if this is no template argument list.
std::size_t TypeLookahead::template_close(std::size_t open, bool in_type) const {
  int depth = 1;
  for (std::size_t i = open + 1; i < std::min(limit_, open + kMaxLook);) {
    const Lexeme& l = lex(i);
    if (l.kind != TokenKind::punctuator) {
      if (l.kind == TokenKind::other) return kNone;
      ++i;
      continue;
    }
    const std::string_view t = l.text;
    if (t == "(" || t == "[" || (t == "{" && in_type)) {
      const std::size_t close = close_of(i);
      if (close == kNone) return kNone;
      i = close + 1;
      continue;
    }
    if (t == "<") ++depth;
    if (t == ">" || t == ">>" || t == ">>>") {
      depth -= static_cast<int>(t.size());
      if (depth == 0) return i + 1;
      if (depth < 0) return kNone;
    }
    if (t == ";" || t == ")" || t == "]" || t == "}" || t == "{" || t == ">=" || is_assignment(t) ||
        t == "++" || t == "--")
      return kNone;
    if (!in_type && (t == "||" || t == "?")) return kNone;
    if (!in_type && t == "&&" && !is(i + 1, ">") && !is(i + 1, ",") && !is(i + 1, "..."))
      return kNone;
    ++i;
  }
  return kNone;
}

/// Behind decltype(...):: at `at`; kNone if nothing of the kind stands there.
std::size_t TypeLookahead::behind_type_function(std::size_t at) const {
  if (!is_type_function(lex(at).text) || !is(at + 1, "(")) return kNone;
  const std::size_t close = close_of(at + 1);
  return close != kNone && is(close + 1, "::") ? close + 2 : kNone;
}

/// A word of somebody's own behind the * of a declarator, in the place of __restrict__.
bool TypeLookahead::is_pointer_macro(std::size_t at) const {
  return is_word(at) && is_word(at + 1) && looks_like_macro(lex(at).text) &&
         !is_statement_word(lex(at + 1).text) && !s_.types.contains(lex(at).text);
}

/// Behind a qualified name that starts at `at`; kNone if none does.
std::size_t TypeLookahead::scan_name(std::size_t at, bool in_type) const {
  std::size_t i = is(at, "::") ? at + 1 : at;
  if (const std::size_t scope = behind_type_function(i); scope != kNone) i = scope;
  for (;;) {
    if (is(i, "template")) ++i;
    if (is(i, "~") && i > at) ++i;
    if (is(i, "operator") && i > at) return kNone;
    if (!is_word(i) || is_statement_word(lex(i).text)) return kNone;
    const std::string_view word = lex(i).text;
    ++i;
    if (is(i, "<")) {
      const std::size_t close = template_close(i, in_type);
      if (close != kNone) {
        const std::string_view next = lex(close).text;
        const bool variable =
            variables_.contains(word) && !templates_.contains(word) && !s_.types.contains(word);
        const bool shaped = next == "(" || next == "::" || next == "{" || next == "<<<";
        const TypeScan first = scan_type(i + 1);
        const bool types = first.certain && (is(first.end, ",") || is(first.end, ">"));
        // Nothing that could follow the > of a comparison.
        const bool ends = next.empty() || next == ")" || next == "," || next == ";" ||
                          next == "]" || next == "}" || next == "==" || next == "!=" ||
                          next == "?" || next == ":" || next == "&&" || next == "||";
        if ((in_type && !variable) || ends || (shaped && !variable) || templates_.contains(word) ||
            types)
          i = close;
      }
    }
    if (!is(i, "::") || !(is_word(i + 1) || is(i + 1, "~"))) return i;
    ++i;
  }
}

/// The name in [from, end) is a built-in, library or declared type, template arguments aside.
bool TypeLookahead::is_known_type(std::size_t from, std::size_t end) const {
  std::string_view last;
  int depth = 0;
  for (std::size_t i = from; i < end; ++i) {
    const std::string_view t = lex(i).text;
    if (t == "typename") return true;
    if (t == "<") ++depth;
    if (t == ">" || t == ">>" || t == ">>>") depth -= static_cast<int>(t.size());
    if (depth == 0 && is_word(i)) last = t;
  }
  if (is_builtin_type_word(last) || s_.types.contains(last)) return true;
  if (variables_.contains(last)) return false;
  return is_library_type(last) || (last.size() > 2 && last.ends_with("_t"));
}

TypeLookahead::TypeScan TypeLookahead::scan_type(std::size_t at) const {
  TypeScan out;
  bool have = false;
  std::size_t i = at;
  for (; i < limit_; ++i) {
    const std::string_view t = lex(i).text;
    if (qualifier_bit(t) != 0 || is_class_word(t) || t == "typename") {
      out.certain = true;
    } else if (is_builtin_type_word(t)) {
      if (have && !out.certain) break;
      have = out.certain = true;
    } else if (behind_type_function(i) == kNone &&
               (is_parenthesised_attribute(t) || is_type_function(t)) && is(i + 1, "(")) {
      const std::size_t close = close_of(i + 1);
      if (close == kNone) return {};
      i = close;
      if (is_type_function(t)) have = out.certain = true;
    } else {
      if (have) break;
      const std::size_t end = scan_name(i, true);
      if (end == kNone) break;
      have = true;
      out.certain = out.certain || is_known_type(i, end);
      i = end - 1;
    }
  }
  if (!have) return {};
  for (; i < limit_; ++i) {
    const std::string_view t = lex(i).text;
    if (is_star(t)) {
      out.pointer = true;
    } else if (qualifier_bit(t) == 0) {
      break;
    }
  }
  if (is(i, "(") && (is(i + 1, "*") || is(i + 1, "&")) &&
      is(i + 2, ")")) {  // pointer to array or function
    out.pointer = true;
    i += 3;
    while (is(i, "(") || is(i, "[")) {
      const std::size_t close = close_of(i);
      if (close == kNone) return {};
      i = close + 1;
    }
  }
  out.end = i;
  return out;
}

bool TypeLookahead::starts_declaration(std::size_t at) const {
  const std::string_view first = lex(at).text;
  if (!is_word(at) && first != "::") return false;
  if (qualifier_bit(first) != 0 || is_class_word(first)) return true;
  // typename T::Sum(storage).add(x) makes an object and declares nothing
  if (first == "typename") {
    const TypeScan type = scan_type(at);
    return type.end == kNone || !is(type.end, "(");
  }
  if (is_parenthesised_attribute(first)) return true;
  if (is_builtin_type_word(first) || is_type_function(first)) {
    const TypeScan type = scan_type(at);
    if (type.end == kNone) return false;
    if (is(type.end, "(")) return is(type.end + 1, "*") || is(type.end + 1, "&");
    return !is(type.end, "{");
  }
  if (is_statement_word(first)) return false;
  std::size_t end = scan_name(at, true);
  if (end == kNone) return false;
  if (qualifier_bit(lex(end).text) != 0) return true;
  if (is_word(end))
    return precedence(lex(end).text) == 0 && !is_statement_word(lex(end).text) &&
           !is_assignment(lex(end).text);
  if (!is_star(lex(end).text)) return false;
  const bool known = is_known_type(at, end);
  if (!known && variables_.contains(first) && end == at + 1) return false;
  const bool both = is(end, "&&");
  while (is_star(lex(end).text) || qualifier_bit(lex(end).text) != 0 || is_pointer_macro(end))
    ++end;
  if (!is_word(end) || is_statement_word(lex(end).text)) return false;
  const std::string_view next = lex(end + 1).text;
  if (known) return may_follow_name(next) || next == "(" || is_word(end + 1);
  return both ? next == "=" : may_follow_name(next);
}

}  // namespace warpath::model
