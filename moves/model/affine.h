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

namespace warpath::model {

class Polynomial;

/// What a polynomial is made of: a name ("C", "j", "threadIdx.x"), or an operation that is no
/// polynomial ("/", "%", "min", "max", "<<", ">>", "&", "load", "call f") over polynomials. Ordered
/// and compared by its text.
struct Atom {
  std::string text;  ///< C text; a version suffix "'2" tells values of a changing variable apart
  std::string op;    ///< empty for a name
  std::vector<Polynomial> operands;
};

/// A sum of integer coefficients times products of atoms. A value type; canonical, so equality is
/// semantic up to what the atoms hide. All arithmetic is that of unbounded integers: where a
/// coefficient leaves 64 bits the result is `unknown`. A quotient and its remainder are joined:
/// i / C * C + i % C is i. Wrap-around of the C types involved is not modelled.
class Polynomial {
 public:
  Polynomial() = default;  ///< 0
  Polynomial(
      std::int64_t constant);  // NOLINT(google-explicit-constructor): numbers are polynomials
  [[nodiscard]] static Polynomial name(std::string_view name);
  /// The operation on its operands, simplified where exact: constants folded, (4*x)/4 = x, (4*x)%4
  /// = 0, min and max of equals.
  [[nodiscard]] static Polynomial operation(std::string_view op, std::vector<Polynomial> operands);
  /// Equal to nothing, itself included; contagious.
  [[nodiscard]] static Polynomial unknown();

  [[nodiscard]] bool is_known() const { return known_; }
  [[nodiscard]] bool is_zero() const { return known_ && terms_.empty(); }
  /// Its value if no atom is left.
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  /// The constant term.
  [[nodiscard]] std::int64_t constant_term() const;
  /// Its single atom's text if it is 1 * name.
  [[nodiscard]] std::optional<std::string> as_name() const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  Polynomial operator-() const;
  Polynomial& operator+=(const Polynomial& b) { return *this = *this + b; }
  /// Both known and the same.
  friend bool operator==(const Polynomial& a, const Polynomial& b);

  /// Sum of the terms linear in the atom, without it: i*C + j + 1 has coefficient C of "i" and 1 of
  /// "j".
  [[nodiscard]] Polynomial coefficient_of(std::string_view atom) const;
  /// The terms that the atom is no factor of.
  [[nodiscard]] Polynomial without(std::string_view atom) const;
  /// Highest power of the atom as a factor; 0 if it is none.
  [[nodiscard]] int degree(std::string_view atom) const;
  /// The name occurs as a factor or inside an operation.
  [[nodiscard]] bool mentions(std::string_view name) const;
  /// The name occurs inside an operation (a / b, a load): its coefficient does not tell all.
  [[nodiscard]] bool hides(std::string_view name) const;
  /// degree <= 1 and not hidden: value = coefficient_of * atom + without.
  [[nodiscard]] bool affine_in(std::string_view atom) const {
    return known_ && degree(atom) <= 1 && !hides(atom);
  }
  /// Every atom that is a factor, operations by their text.
  [[nodiscard]] std::set<std::string> atoms() const;
  /// Every plain name, also those inside operations.
  [[nodiscard]] std::set<std::string> names() const;
  /// The operation atom with this text; null if it is a name or absent.
  [[nodiscard]] const Atom* operation_atom(std::string_view text) const;
  /// Every atom that is an operation, nested ones too.
  [[nodiscard]] std::vector<const Atom*> operations() const;

  /// With every occurrence of the name, inside operations too, replaced.
  [[nodiscard]] Polynomial substituted(std::string_view name, const Polynomial& value) const;
  [[nodiscard]] Polynomial substituted(
      const std::map<std::string, Polynomial, std::less<>>& values) const;
  /// With the names of `values` as numbers.
  [[nodiscard]] Polynomial bound(const Bindings& values) const;
  /// Value with all names in `values`; nullopt if one is missing, a load is left or it overflows.
  [[nodiscard]] std::optional<std::int64_t> evaluate(const Bindings& values) const;

  /// Every coefficient is a multiple of n, given that each name in `multiples` is a multiple of its
  /// number.
  [[nodiscard]] bool divisible_by(std::int64_t n, const Bindings& multiples = {}) const;
  /// True if it is >= 0 whenever all names (and loads, quotients) are >= 0: no negative
  /// coefficient.
  [[nodiscard]] bool has_only_positive_terms() const;
  /// The quotient if exact in every term.
  [[nodiscard]] std::optional<Polynomial> divided_by(std::int64_t n) const;

  /// C text with minimal parentheses: "i * C + j - 1"; version suffixes are left out. "0" for zero.
  [[nodiscard]] std::string text() const;
  /// text() in parentheses if it is a sum or a difference: fit to be a factor.
  [[nodiscard]] std::string factor_text() const;
  /// Canonical text with versions; the order in which polynomials are sorted.
  [[nodiscard]] std::string key() const;

  /// Terms in canonical order: factors (with repetition, sorted by text) and coefficient.
  using Factors = std::vector<std::shared_ptr<const Atom>>;  // shared: immutable, copies are cheap
  struct Term {
    Factors factors;
    std::int64_t coefficient = 0;
  };
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }

 private:
  friend class PolynomialBuilder;
  std::vector<Term> terms_;
  bool known_ = true;
};

}  // namespace warpath::model
