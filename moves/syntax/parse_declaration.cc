#include "moves/syntax/parser.h"

namespace warpath::model {

/// Steps over one attribute: [[...]], __attribute__((..)), __align__(..), a word that means nothing
/// here.
bool Parser::skip_attribute() {
  if (is(at_, "[") && is(at_ + 1, "[")) {
    const std::size_t close = close_of(at_);
    if (close == kNone) return false;
    at_ = close + 1;
    return true;
  }
  if (is_parenthesised_attribute(lex(at_).text) && is(at_ + 1, "(")) {
    const std::size_t close = close_of(at_ + 1);
    if (close == kNone) return false;
    at_ = close + 1;
    return true;
  }
  if (is_ignored_word(lex(at_).text)) return ++at_, true;
  return false;
}

bool Parser::parse_specifiers(Specifiers& out, std::size_t end) {
  const std::size_t from = at_;
  std::size_t type_from = kNone;
  std::size_t type_end = kNone;
  bool builtin = false;
  const auto take = [&](std::size_t behind) {
    if (type_from == kNone) type_from = at_;
    type_end = at_ = behind;
    out.has_type = true;
  };
  while (at_ < end) {
    const std::string_view t = lex(at_).text;
    if (const std::uint32_t bit = qualifier_bit(t); bit != 0) {
      out.qualifiers |= bit;
      ++at_;
    } else if (is_builtin_type_word(t)) {
      if (t == "unsigned") out.qualifiers |= kUnsigned;
      if (t == "auto") out.qualifiers |= kAuto;
      builtin = true;
      take(at_ + 1);
    } else if (is_class_word(t)) {
      std::size_t at = at_ + 1;
      if (t == "enum" && (is(at, "class") || is(at, "struct"))) ++at;
      while (is_parenthesised_attribute(lex(at).text) && is(at + 1, "(") &&
             close_of(at + 1) != kNone)
        at = close_of(at + 1) + 1;
      const std::size_t name = at;
      if (is_word(at)) at = scan_name(at, true);
      if (at == kNone) return false;
      if (at > name) s_.types.insert(lex(name).text);
      if (is(at, ":")) {  // bases, or the type of an enumeration
        while (at < end && !is(at, "{") && !is(at, ";")) ++at;
      }
      if (is(at, "{")) {
        const std::size_t close = close_of(at);
        if (close == kNone) return false;
        if (t == "enum") parse_enumerators(at);
        at = close + 1;
      }
      builtin = true;  // complete: another name would be the variable
      take(at);
    } else if (is_type_function(t) && is(at_ + 1, "(")) {
      const std::size_t close = close_of(at_ + 1);
      if (close == kNone) return false;
      builtin = true;
      take(close + 1);
    } else if (is_word(at_) || t == "::") {
      if (skip_attribute()) continue;
      const bool more = is_word(at_ + 1) && !is_statement_word(lex(at_ + 1).text) &&
                        qualifier_bit(lex(at_ + 1).text) == 0 &&
                        !is_parenthesised_attribute(lex(at_ + 1).text) &&
                        precedence(lex(at_ + 1).text) == 0;
      if (out.has_type && (builtin || !more)) break;
      const std::size_t behind = scan_name(at_, true);
      if (behind == kNone || behind > end) break;
      take(behind);
    } else if (!skip_attribute()) {
      break;
    }
  }
  out.all = span(from, at_);
  if (type_from != kNone) out.type = span(type_from, type_end);
  return out.has_type || out.qualifiers != 0;
}

/// The name with its nested parentheses: x, (*x), (&x), [a, b] of a structured binding, nothing.
bool Parser::parse_declarator_name(Declarator& out) {
  if (is(at_, "(") && (is(at_ + 1, "*") || is(at_ + 1, "&") || is(at_ + 1, "__restrict__"))) {
    const std::size_t close = close_of(at_);
    if (close == kNone) return false;
    {
      const Limit limit(*this, close);
      for (++at_; is_star(lex(at_).text) || qualifier_bit(lex(at_).text) != 0; ++at_) {
        if (is(at_, "*")) ++out.pointer_depth;
        if (is(at_, "&") || is(at_, "&&")) out.reference = true;
        out.pointer_qualifiers |= qualifier_bit(lex(at_).text);
      }
      if (is_word(at_)) {
        out.name = lex(at_).text;
        out.name_span = span(at_, at_ + 1);
      }
    }
    at_ = close + 1;
    if (is(at_, "(")) {
      const std::size_t parameters = close_of(at_);
      if (parameters == kNone) return false;
      out.is_function_pointer = true;
      at_ = parameters + 1;
    }
    return true;
  }
  if (is(at_, "[") && !is(at_ + 1, "[") && out.extents.empty() && (out.qualifiers & kAuto) != 0) {
    const std::size_t close = close_of(at_);
    if (close == kNone) return false;
    for (std::size_t i = at_ + 1; i < close; ++i) {
      if (is_word(i)) variables_.insert(lex(i).text);
    }
    out.name_span = span(at_, close + 1);
    at_ = close + 1;
    return true;
  }
  if (!is_word(at_) || is_statement_word(lex(at_).text)) return true;
  const std::size_t end = scan_name(at_, true);
  if (end == kNone) return false;
  out.name = joined(at_, end);
  out.name_span = span(at_, end);
  at_ = end;
  return true;
}

bool Parser::parse_extents(Declarator& out, std::vector<Expr*>& extents) {
  const std::size_t from = at_;
  while (is(at_, "[") && !is(at_ + 1, "[")) {
    const std::size_t close = close_of(at_);
    if (close == kNone) return false;
    ++at_;
    Expr* extent = nullptr;
    if (at_ < close) {
      const Limit limit(*this, close);
      extent = parse_comma();
      if (extent == nullptr || at_ != close) return false;
    }
    extents.push_back(extent);
    at_ = close + 1;
  }
  if (!extents.empty()) out.extents_span = span(from, at_);
  return true;
}

bool Parser::parse_initialiser(Declarator& out) {
  std::vector<Expr*> init;
  if (is(at_, "=")) {
    ++at_;
    out.init_form = InitForm::assign;
    Expr* const value = is(at_, "{") ? parse_braces() : parse_assignment();
    if (value == nullptr) return false;
    init.push_back(value);
  } else if ((is(at_, "(") || is(at_, "{")) && !out.is_parameter) {
    out.init_form = is(at_, "(") ? InitForm::parens : InitForm::braces;
    if (!parse_arguments(at_, init)) return false;
  }
  out.init = s_.keep(init);
  return true;
}

/// Null if what stands here declares nothing the model understands.
Declarator* Parser::parse_declarator(const Specifiers& specifiers, bool is_parameter) {
  const std::size_t from = at_;
  Declarator* const out = s_.make<Declarator>();
  out->is_parameter = is_parameter;
  out->type = specifiers.type;
  out->specifiers = specifiers.all;
  out->qualifiers = specifiers.qualifiers;
  out->stmt = is_parameter ? nullptr : stmt_;
  out->function = function_;
  while (at_ < limit_) {
    const std::string_view t = lex(at_).text;
    if (t == "*") {
      ++out->pointer_depth;
      out->pointer_qualifiers = 0;
    } else if (t == "&" || t == "&&") {
      out->reference = true;
    } else if (const std::uint32_t bit = qualifier_bit(t); bit != 0) {
      out->pointer_qualifiers |= bit;
    } else if (t != "..." && !(at_ > from && is_pointer_macro(at_))) {
      break;
    }
    ++at_;
  }
  if (at_ > from) out->pointer_span = span(from, at_);
  while (skip_attribute()) {
  }
  std::vector<Expr*> extents;
  if (!parse_declarator_name(*out) || !parse_extents(*out, extents)) return nullptr;
  if (out->name_span.empty() && !is_parameter) return nullptr;
  out->extents = s_.keep(extents);
  while (skip_attribute()) {
  }
  if (is(at_, "asm") && is(at_ + 1, "(") && close_of(at_ + 1) != kNone) at_ = close_of(at_ + 1) + 1;
  if (!out->name.empty()) variables_.insert(out->name);
  if (!parse_initialiser(*out)) return nullptr;
  out->span = span(from, at_);
  return out;
}

bool Parser::parse_declarators(const Specifiers& specifiers, std::vector<Declarator*>& out) {
  for (;;) {
    Declarator* const declarator = parse_declarator(specifiers, false);
    if (declarator == nullptr) return false;
    out.push_back(declarator);
    if (!is(at_, ",")) return true;
    ++at_;
  }
}

/// typedef A B; and using B = A; in lexemes [from, end): B becomes a type, an alias if A is plain.
void Parser::note_alias(std::size_t from, std::size_t end) {
  if (is(from, "using")) {
    if (!is_word(from + 1) || !is(from + 2, "=")) return;
    s_.types.insert(lex(from + 1).text);
    std::size_t at = from + 3;
    if (is(at, "typename")) ++at;
    s_.aliases.emplace(lex(from + 1).text, std::string(joined(at, end)));
    return;
  }
  for (std::size_t i = from; i < end; ++i) {  // typedef void (*name)(..)
    if (is(i, "(") && is(i + 1, "*") && is_word(i + 2)) {
      s_.types.insert(lex(i + 2).text);
      return;
    }
  }
  std::size_t name = end;
  for (std::size_t i = end; i > from + 1; --i) {
    if (is_word(i - 1) && lex(i - 1).match == kNone) {
      name = i - 1;
      if (!is(name + 1, "]")) break;
    }
  }
  if (name == end || name <= from + 1) return;
  s_.types.insert(lex(name).text);
  if (!is(name + 1, "[")) s_.aliases.emplace(lex(name).text, std::string(joined(from + 1, name)));
}

}  // namespace warpath::model
