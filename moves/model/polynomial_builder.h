#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "moves/model/affine.h"

namespace warpath::model {

/// Higher degree first, the constant last, then by text.
inline bool precedes(const Polynomial::Factors& a, const Polynomial::Factors& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (const int order = a[i]->text.compare(b[i]->text); order != 0) return order < 0;
  }
  return false;
}
inline bool same(const Polynomial::Factors& a, const Polynomial::Factors& b) {
  return std::ranges::equal(
      a, b, [](const auto& p, const auto& q) { return p == q || p->text == q->text; });
}

/// Brings lists of terms into canonical form.
class PolynomialBuilder {
 public:
  static constexpr std::size_t kMaxTerms = 128;

  /// Terms in any order.
  static Polynomial build(std::vector<Polynomial::Term> terms) {
    std::stable_sort(terms.begin(), terms.end(), in_order);
    return joined(std::move(terms));
  }
  static Polynomial sum(const Polynomial& a, const Polynomial& b) {
    std::vector<Polynomial::Term> terms;
    terms.reserve(a.terms().size() + b.terms().size());
    std::ranges::merge(a.terms(), b.terms(), std::back_inserter(terms), in_order);
    return joined(std::move(terms));
  }
  static Polynomial scaled(const Polynomial& a, std::int64_t scale) {
    std::vector<Polynomial::Term> terms = a.terms();
    for (Polynomial::Term& term : terms) {
      if (__builtin_mul_overflow(term.coefficient, scale, &term.coefficient))
        return Polynomial::unknown();
    }
    return joined(std::move(terms));
  }
  static Polynomial unknown() {
    Polynomial out;
    out.known_ = false;
    return out;
  }

 private:
  static bool in_order(const Polynomial::Term& a, const Polynomial::Term& b) {
    return precedes(a.factors, b.factors);
  }

  /// Terms in order.
  static Polynomial joined(std::vector<Polynomial::Term> terms) {
    std::size_t kept = 0;
    for (Polynomial::Term& term : terms) {
      if (kept > 0 && same(terms[kept - 1].factors, term.factors)) {
        if (__builtin_add_overflow(terms[kept - 1].coefficient, term.coefficient,
                                   &terms[kept - 1].coefficient))
          return Polynomial::unknown();
      } else {
        if (&terms[kept] != &term) terms[kept] = std::move(term);
        ++kept;
      }
    }
    terms.resize(kept);
    std::erase_if(terms, [](const Polynomial::Term& t) { return t.coefficient == 0; });
    if (terms.size() > kMaxTerms) return Polynomial::unknown();
    Polynomial out;
    if (!terms.empty())
      out.terms_ = std::make_shared<const std::vector<Polynomial::Term>>(std::move(terms));
    return out;
  }
};

}  // namespace warpath::model
