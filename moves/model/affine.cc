#include "moves/model/affine.h"

#include <algorithm>
#include <numeric>

#include "engine/base/ascii.h"
#include "engine/text/tokens.h"
#include "moves/model/polynomial_builder.h"
#include "moves/syntax/storage.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

constexpr std::size_t kMaxText = 4000;

using Factors = Polynomial::Factors;
using Term = Polynomial::Term;

std::string_view without_version(std::string_view text) {
  return text.substr(0, text.find('\''));
}

/// Text without the versions inside.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') {
      while (i + 1 < text.size() && is_digit(text[i + 1])) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_infix(std::string_view op) {
  return precedence(op) > 0;
}

/// As a factor of a product, or as an operand of the operator.
std::string key_factor(const Polynomial& p) {
  const std::string text = p.key();
  const bool single = p.terms().size() == 1 && p.terms()[0].factors.size() <= 1 &&
                      (p.terms()[0].factors.empty() ? p.terms()[0].coefficient >= 0
                                                    : p.terms()[0].coefficient == 1 &&
                                                          !is_infix(p.terms()[0].factors[0]->op));
  return single || p.is_zero() ? text : "(" + text + ")";
}

std::string operation_text(std::string_view op, const std::vector<Polynomial>& operands) {
  if (is_infix(op) && operands.size() == 2)
    return key_factor(operands[0]) + " " + std::string(op) + " " + key_factor(operands[1]);
  if (op == "?:" && operands.size() == 3)
    return "(" + key_factor(operands[0]) + " ? " + key_factor(operands[1]) + " : " +
           key_factor(operands[2]) + ")";
  if (operands.size() == 1 && (op == "!" || op == "~"))
    return std::string(op) + key_factor(operands[0]);
  if (op.starts_with("load ")) {
    std::string out(op.substr(5));
    for (const Polynomial& p : operands) out += "[" + p.key() + "]";
    return out;
  }
  std::string out(op.starts_with("call ") ? op.substr(5) : op);
  out += "(";
  for (std::size_t i = 0; i < operands.size(); ++i) out += (i > 0 ? ", " : "") + operands[i].key();
  return out + ")";
}

bool names_match(std::string_view atom, std::string_view name) {
  return atom == name || without_version(atom) == name;
}

/// The name is a word of an atom that is more than a name ("p.x", "f(a)'3").
bool contains_word(std::string_view atom, std::string_view name) {
  const std::string_view text = without_version(atom);
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const bool left = at == 0 || !(is_word(text[at - 1]) || text[at - 1] == '.');
    const bool right = at + name.size() == text.size() || !is_word(text[at + name.size()]);
    if (left && right) return true;
  }
  return false;
}

}  // namespace

const std::vector<Term>& Polynomial::terms() const {
  static const std::vector<Term> none;
  return terms_ != nullptr ? *terms_ : none;
}

Polynomial::Polynomial(std::int64_t constant) {
  if (constant != 0)
    terms_ = std::make_shared<const std::vector<Term>>(std::vector<Term>{{{}, constant}});
}

Polynomial Polynomial::name(std::string_view name) {
  return PolynomialBuilder::build(
      {{{std::make_shared<const Atom>(Atom{std::string(name), "", {}})}, 1}});
}

Polynomial Polynomial::unknown() {
  return PolynomialBuilder::unknown();
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (!known_ || terms().size() > 1 || (terms().size() == 1 && !terms()[0].factors.empty()))
    return std::nullopt;
  return terms().empty() ? 0 : terms()[0].coefficient;
}

std::int64_t Polynomial::constant_term() const {
  return !terms().empty() && terms().back().factors.empty() ? terms().back().coefficient : 0;
}

std::optional<std::string> Polynomial::as_name() const {
  if (!known_ || terms().size() != 1 || terms()[0].coefficient != 1 ||
      terms()[0].factors.size() != 1)
    return std::nullopt;
  const Atom& atom = *terms()[0].factors[0];
  return atom.op.empty() ? std::optional(atom.text) : std::nullopt;
}

namespace {

/// A factor that is the quotient of these operands; null if there is none.
const Atom* quotient_in(const Polynomial& p, const std::vector<Polynomial>& operands) {
  for (const Term& term : p.terms()) {
    for (const auto& factor : term.factors) {
      if (factor->op == "/" && factor->operands == operands) return factor.get();
    }
  }
  return nullptr;
}

/// a / c * c + a % c is a, also with a factor on both.
Polynomial with_joined_quotients(const Polynomial& p) {
  for (const Term& term : p.terms()) {
    for (const auto& factor : term.factors) {
      const Atom* const quotient = factor->op == "%" ? quotient_in(p, factor->operands) : nullptr;
      if (quotient == nullptr || p.degree(factor->text) != 1 || p.degree(quotient->text) != 1)
        continue;
      const Polynomial times = p.coefficient_of(factor->text);
      if (times.degree(quotient->text) != 0 ||
          !(p.coefficient_of(quotient->text) == times * factor->operands[1]))
        continue;
      return p.without(factor->text).without(quotient->text) + times * factor->operands[0];
    }
  }
  return p;
}

}  // namespace

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  if (!a.known_ || !b.known_) return Polynomial::unknown();
  return with_joined_quotients(PolynomialBuilder::sum(a, b));
}

Polynomial Polynomial::operator-() const {
  return known_ ? PolynomialBuilder::scaled(*this, -1) : unknown();
}
Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  return a + (-b);
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (!a.known_ || !b.known_ || a.terms().size() * b.terms().size() > PolynomialBuilder::kMaxTerms)
    return Polynomial::unknown();
  if (const auto scale = a.constant()) return PolynomialBuilder::scaled(b, *scale);
  if (const auto scale = b.constant()) return PolynomialBuilder::scaled(a, *scale);
  std::vector<Term> terms;
  for (const Term& x : a.terms()) {
    for (const Term& y : b.terms()) {
      Term product;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &product.coefficient))
        return Polynomial::unknown();
      product.factors = x.factors;
      product.factors.insert(product.factors.end(), y.factors.begin(), y.factors.end());
      std::stable_sort(product.factors.begin(), product.factors.end(),
                       [](const auto& p, const auto& q) { return p->text < q->text; });
      terms.push_back(std::move(product));
    }
  }
  return PolynomialBuilder::build(std::move(terms));
}

bool operator==(const Polynomial& a, const Polynomial& b) {
  if (!a.known_ || !b.known_ || a.terms().size() != b.terms().size()) return false;
  if (a.terms_ == b.terms_) return true;
  for (std::size_t i = 0; i < a.terms().size(); ++i) {
    if (a.terms()[i].coefficient != b.terms()[i].coefficient ||
        !same(a.terms()[i].factors, b.terms()[i].factors))
      return false;
  }
  return true;
}

Polynomial Polynomial::operation(std::string_view op, std::vector<Polynomial> operands) {
  for (const Polynomial& p : operands) {
    if (!p.known_) return unknown();
  }
  if (operands.size() == 2) {
    const Polynomial& a = operands[0];
    const Polynomial& b = operands[1];
    const auto x = a.constant();
    const auto y = b.constant();
    if (op == "min" || op == "max") {
      if (x && y) return op == "min" ? std::min(*x, *y) : std::max(*x, *y);
      if (a == b) return a;
      if (b.key() < a.key()) std::swap(operands[0], operands[1]);
    } else if (x && y) {
      const auto value = apply_integer(op, *x, *y);
      if (value) return *value;
      return unknown();
    } else if (op == "<<" && y && *y >= 0 && *y < 62) {
      return a * Polynomial(std::int64_t{1} << *y);
    } else if (op == "/" || op == "%") {
      if (y && *y == 0) return unknown();
      if (y && *y == 1) return op == "/" ? a : Polynomial(0);
      if (a.is_zero()) return 0;
      if (b.terms().size() == 1) {  // every term a multiple of the divisor
        std::vector<Term> quotient;
        for (const Term& term : a.terms()) {
          if (term.coefficient % b.terms()[0].coefficient != 0) break;
          Term part{{}, term.coefficient / b.terms()[0].coefficient};
          Factors rest = b.terms()[0].factors;
          for (const auto& factor : term.factors) {
            const auto found = std::find_if(rest.begin(), rest.end(),
                                            [&](const auto& f) { return f->text == factor->text; });
            if (found == rest.end()) {
              part.factors.push_back(factor);
            } else {
              rest.erase(found);
            }
          }
          if (!rest.empty()) break;
          quotient.push_back(std::move(part));
        }
        if (quotient.size() == a.terms().size())
          return op == "/" ? PolynomialBuilder::build(std::move(quotient)) : Polynomial(0);
      }
    }
  }
  std::string text = operation_text(op, operands);
  if (text.size() > kMaxText) return unknown();
  return PolynomialBuilder::build(
      {{{std::make_shared<const Atom>(Atom{std::move(text), std::string(op), std::move(operands)})},
        1}});
}

Polynomial Polynomial::coefficient_of(std::string_view atom) const {
  if (!known_) return unknown();
  std::vector<Term> out;
  for (const Term& term : terms()) {
    const auto count = std::count_if(term.factors.begin(), term.factors.end(),
                                     [&](const auto& f) { return f->text == atom; });
    if (count != 1) continue;
    Term part = term;
    std::erase_if(part.factors, [&](const auto& f) { return f->text == atom; });
    out.push_back(std::move(part));
  }
  return PolynomialBuilder::build(std::move(out));
}

Polynomial Polynomial::without(std::string_view atom) const {
  if (!known_) return unknown();
  std::vector<Term> out;
  for (const Term& term : terms()) {
    if (std::none_of(term.factors.begin(), term.factors.end(),
                     [&](const auto& f) { return f->text == atom; }))
      out.push_back(term);
  }
  return PolynomialBuilder::build(std::move(out));
}

int Polynomial::degree(std::string_view atom) const {
  std::ptrdiff_t most = 0;
  for (const Term& term : terms()) {
    most = std::max(most, std::count_if(term.factors.begin(), term.factors.end(),
                                        [&](const auto& f) { return f->text == atom; }));
  }
  return static_cast<int>(most);
}

bool Polynomial::hides(std::string_view name) const {
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) {
      if (factor->op.empty() && factor->text != name && !names_match(factor->text, name) &&
          contains_word(factor->text, name))
        return true;
      for (const Polynomial& operand : factor->operands) {
        if (operand.mentions(name)) return true;
      }
    }
  }
  return false;
}

bool Polynomial::mentions(std::string_view name) const {
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) {
      if (factor->op.empty() && names_match(factor->text, name)) return true;
    }
  }
  return hides(name);
}

std::set<std::string> Polynomial::atoms() const {
  std::set<std::string> out;
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) out.insert(factor->text);
  }
  return out;
}

std::set<std::string> Polynomial::names() const {
  std::set<std::string> out;
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) {
      if (factor->op.empty()) out.insert(std::string(without_version(factor->text)));
      for (const Polynomial& operand : factor->operands) out.merge(operand.names());
    }
  }
  return out;
}

const Atom* Polynomial::operation_atom(std::string_view text) const {
  for (const Atom* atom : operations()) {
    if (atom->text == text) return atom;
  }
  return nullptr;
}

std::vector<const Atom*> Polynomial::operations() const {
  std::vector<const Atom*> out;
  for (const Term& term : terms()) {
    for (const auto& factor : term.factors) {
      if (factor->op.empty()) continue;
      out.push_back(factor.get());
      for (const Polynomial& operand : factor->operands) {
        const auto inner = operand.operations();
        out.insert(out.end(), inner.begin(), inner.end());
      }
    }
  }
  return out;
}

Polynomial Polynomial::substituted(std::string_view name, const Polynomial& value) const {
  return substituted(std::map<std::string, Polynomial, std::less<>>{{std::string(name), value}});
}

Polynomial Polynomial::substituted(
    const std::map<std::string, Polynomial, std::less<>>& values) const {
  if (!known_ || values.empty()) return *this;
  Polynomial out;
  for (const Term& term : terms()) {
    Polynomial product(term.coefficient);
    for (const auto& factor : term.factors) {
      if (factor->op.empty()) {
        const auto found = values.find(factor->text);
        product = product * (found != values.end() ? found->second
                                                   : PolynomialBuilder::build({{{factor}, 1}}));
      } else {
        std::vector<Polynomial> operands;
        for (const Polynomial& operand : factor->operands)
          operands.push_back(operand.substituted(values));
        product = product * operation(factor->op, std::move(operands));
      }
    }
    out += product;
  }
  return out;
}

Polynomial Polynomial::bound(const Bindings& values) const {
  // Of hundreds of constants of a file a polynomial has a few.
  std::map<std::string, Polynomial, std::less<>> numbers;
  const auto collect = [&](const Polynomial& p, const auto& self) -> void {
    for (const Term& term : p.terms()) {
      for (const auto& factor : term.factors) {
        for (const Polynomial& operand : factor->operands) self(operand, self);
        const auto found = factor->op.empty() ? values.find(factor->text) : values.end();
        if (found != values.end()) numbers.emplace(found->first, Polynomial(found->second));
      }
    }
  };
  collect(*this, collect);
  // what has operations is built again, as with any number
  if (numbers.empty() && !values.empty() && !operations().empty())
    numbers.emplace(values.begin()->first, Polynomial(values.begin()->second));
  return substituted(numbers);
}

std::optional<std::int64_t> Polynomial::evaluate(const Bindings& values) const {
  return bound(values).constant();
}

bool Polynomial::divisible_by(std::int64_t n, const Bindings& multiples) const {
  if (!known_ || n <= 0) return false;
  for (const Term& term : terms()) {
    std::int64_t rest = n / std::gcd(n, term.coefficient);
    for (const auto& factor : term.factors) {
      const auto found = multiples.find(factor->text);
      if (found != multiples.end()) rest /= std::gcd(rest, found->second);
    }
    if (rest != 1) return false;
  }
  return true;
}

bool Polynomial::has_only_positive_terms() const {
  return known_ && std::all_of(terms().begin(), terms().end(),
                               [](const Term& t) { return t.coefficient > 0; });
}

std::optional<Polynomial> Polynomial::divided_by(std::int64_t n) const {
  if (!known_ || n == 0) return std::nullopt;
  std::vector<Term> out = terms();
  for (Term& term : out) {
    if (term.coefficient % n != 0) return std::nullopt;
    term.coefficient /= n;
  }
  return PolynomialBuilder::build(std::move(out));
}

std::string Polynomial::key() const {
  if (!known_) return "?";
  if (terms().empty()) return "0";
  std::string out;
  for (const Term& term : terms()) {
    const bool negative = term.coefficient < 0;
    if (!out.empty()) {
      out += negative ? " - " : " + ";
    } else if (negative) {
      out += "-";
    }
    std::string magnitude = std::to_string(term.coefficient);
    if (negative) magnitude.erase(0, 1);
    const bool number = term.factors.empty() || magnitude != "1";
    if (number) out += magnitude;
    bool first = !number;
    for (const auto& factor : term.factors) {
      if (!first) out += " * ";
      first = false;
      const bool alone =
          term.factors.size() == 1 && !number && (factor->op == "/" || factor->op == "%");
      out += is_infix(factor->op) && !alone ? "(" + factor->text + ")" : factor->text;
    }
  }
  return out;
}

std::string Polynomial::text() const {
  return printable(key());
}

std::string Polynomial::factor_text() const {
  const bool single = terms().size() <= 1 && key_factor(*this) == key();
  const bool product = terms().size() == 1 && terms()[0].coefficient > 0;
  return single || (product && !terms()[0].factors.empty()) ? text()
         : terms().empty()                                  ? "0"
                                                            : "(" + text() + ")";
}

}  // namespace warpath::model
