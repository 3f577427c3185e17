#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/expression.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {

class Polynomial;

/// A factor in a polynomial: a name ("C", "j", "threadIdx.x"), or a non-polynomial operation ("/",
/// "%", "min", "max", "<<", ">>", "&", "load", "call f") on polynomials. Ordered and compared by
/// its text.
struct Atom {
  std::string text;  ///< C text; a version suffix "'2" distinguishes values of a changing variable
  std::string op;    ///< empty for a name
  std::vector<Polynomial> operands;
};

/// A sum of integer coefficients times products of atoms. A value type; canonical, so equality is
/// semantic except for what atoms hide. Arithmetic is that of unbounded integers: if a coefficient
/// exceeds 64 bits the result is `unknown`. A quotient and its remainder are combined: i / C * C +
/// i % C is i. Wrap-around of the C types is not modelled.
class Polynomial {
 public:
  Polynomial() = default;  ///< 0
  // NOLINTNEXTLINE(google-explicit-constructor): numbers are polynomials
  Polynomial(std::int64_t constant);
  [[nodiscard]] static Polynomial name(std::string_view name);
  /// The operation applied to its operands, simplified if exact: constants folded, (4*x)/4 = x,
  /// (4*x)%4 = 0, min and max of equals.
  [[nodiscard]] static Polynomial operation(std::string_view op, std::vector<Polynomial> operands);
  /// Unequal to everything, itself included; contagious.
  [[nodiscard]] static Polynomial unknown();

  [[nodiscard]] bool is_known() const { return known_; }
  [[nodiscard]] bool is_zero() const { return known_ && terms().empty(); }
  /// Its value if it has no atoms.
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  /// The constant term.
  [[nodiscard]] std::int64_t constant_term() const;
  /// The name if it is 1 * name.
  [[nodiscard]] std::optional<std::string> as_name() const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  Polynomial operator-() const;
  Polynomial& operator+=(const Polynomial& b) { return *this = *this + b; }
  /// True if both are known and equal.
  friend bool operator==(const Polynomial& a, const Polynomial& b);

  /// Sum of the terms linear in the atom, divided by it: i*C + j + 1 has coefficient C of "i" and 1
  /// of "j".
  [[nodiscard]] Polynomial coefficient_of(std::string_view atom) const;
  /// The terms without the atom as a factor.
  [[nodiscard]] Polynomial without(std::string_view atom) const;
  /// Highest power of the atom as a factor; 0 if absent.
  [[nodiscard]] int degree(std::string_view atom) const;
  /// True if the name occurs as a factor or inside an operation.
  [[nodiscard]] bool mentions(std::string_view name) const;
  /// True if the name occurs inside an operation (a / b, a load), so that its coefficient is not
  /// the whole dependence.
  [[nodiscard]] bool hides(std::string_view name) const;
  /// True if degree <= 1 and not hidden: value = coefficient_of * atom + without.
  [[nodiscard]] bool affine_in(std::string_view atom) const {
    return known_ && degree(atom) <= 1 && !hides(atom);
  }
  /// All atoms that are factors, operations by their text.
  [[nodiscard]] std::set<std::string> atoms() const;
  /// All plain names, including those inside operations.
  [[nodiscard]] std::set<std::string> names() const;
  /// The operation atom with this text; null if it is a name or absent.
  [[nodiscard]] const Atom* operation_atom(std::string_view text) const;
  /// All operation atoms, including nested ones.
  [[nodiscard]] std::vector<const Atom*> operations() const;

  /// Replaces every occurrence of the name, including those inside operations.
  [[nodiscard]] Polynomial substituted(std::string_view name, const Polynomial& value) const;
  [[nodiscard]] Polynomial substituted(
      const std::map<std::string, Polynomial, std::less<>>& values) const;
  /// Substitutes numbers for the names in `values`.
  [[nodiscard]] Polynomial bound(const Bindings& values) const;
  /// Value given numbers for all names; nullopt if one is missing, a load remains or it overflows.
  [[nodiscard]] std::optional<std::int64_t> evaluate(const Bindings& values) const;

  /// True if every coefficient is a multiple of n, given that each name in `multiples` is a
  /// multiple of its number.
  [[nodiscard]] bool divisible_by(std::int64_t n, const Bindings& multiples = {}) const;
  /// True if no coefficient is negative, so that the value is >= 0 whenever all names (and loads,
  /// quotients) are.
  [[nodiscard]] bool has_only_positive_terms() const;
  /// The quotient if every term is divisible.
  [[nodiscard]] std::optional<Polynomial> divided_by(std::int64_t n) const;

  /// C text with minimal parentheses: "i * C + j - 1"; without version suffixes. "0" for zero.
  [[nodiscard]] std::string text() const;
  /// text(), parenthesised if it is a sum or a difference, for use as a factor.
  [[nodiscard]] std::string factor_text() const;
  /// Canonical text with versions; defines the sort order of polynomials.
  [[nodiscard]] std::string key() const;

  /// Terms in canonical order: factors (with repetition, sorted by text) and coefficient.
  using Factors = std::vector<std::shared_ptr<const Atom>>;  // shared: immutable, copies are cheap
  struct Term {
    Factors factors;
    std::int64_t coefficient = 0;
  };
  [[nodiscard]] const std::vector<Term>& terms() const;

 private:
  friend class PolynomialBuilder;
  std::shared_ptr<const std::vector<Term>> terms_;  // shared by copies; null: none
  bool known_ = true;
};

}  // namespace warpath::model
