#include <doctest/doctest.h>

#include "moves/model/affine.h"

using warpath::Bindings;
using warpath::model::Polynomial;

TEST_SUITE_BEGIN("model_affine");

namespace {

const Polynomial i = Polynomial::name("i");
const Polynomial j = Polynomial::name("j");
const Polynomial C = Polynomial::name("C");

}  // namespace

TEST_CASE("sums and products have one canonical form") {
  CHECK((i + 1) * C - C == C * i);
  CHECK((i + j) * (i - j) == i * i - j * j);
  CHECK((i * C + j - 1).text() == "C * i + j - 1");
  CHECK((-i + 2).text() == "-i + 2");
  CHECK((i - i).text() == "0");
  CHECK((i - i).is_zero());
  CHECK((i * 3).factor_text() == "3 * i");
  CHECK((i + 3).factor_text() == "(i + 3)");
}

TEST_CASE("coefficients, degrees and rests") {
  const Polynomial index = i * C + j * 4 + 7;
  CHECK(index.coefficient_of("i") == C);
  CHECK(index.coefficient_of("j").constant() == 4);
  CHECK(index.coefficient_of("k").is_zero());
  CHECK(index.without("i") == j * 4 + 7);
  CHECK(index.degree("i") == 1);
  CHECK((i * i).degree("i") == 2);
  CHECK(index.affine_in("j"));
  CHECK_FALSE((i * i).affine_in("i"));
  CHECK(index.constant_term() == 7);
  CHECK(i.as_name() == "i");
  CHECK_FALSE((i + 1).as_name());
}

TEST_CASE("operations that are no polynomials are atoms, simplified where exact") {
  const Polynomial quotient = Polynomial::operation("/", {i, C});
  CHECK(quotient.text() == "i / C");
  CHECK((quotient * C).text() == "C * (i / C)");
  CHECK(Polynomial::operation("/", {i * C + j * C, C}) == i + j);
  CHECK(Polynomial::operation("/", {i * 8 + 4, 4}) == i * 2 + 1);
  CHECK(Polynomial::operation("%", {i * 8 + 4, 4}).is_zero());
  CHECK(Polynomial::operation("%", {i, 4}).text() == "i % 4");
  CHECK(Polynomial::operation("<<", {i, 3}) == i * 8);
  CHECK(Polynomial::operation("/", {7, 2}).constant() == 3);
  CHECK_FALSE(Polynomial::operation("/", {i, 0}).is_known());
  CHECK(Polynomial::operation("min", {i, C}) == Polynomial::operation("min", {C, i}));
  CHECK(quotient.hides("i"));
  CHECK(quotient.mentions("C"));
  CHECK_FALSE(quotient.affine_in("i"));
  CHECK(Polynomial::operation("load x", {i + 1}).text() == "x[i + 1]");
}

TEST_CASE("a quotient and its remainder are joined") {
  const auto over = [](const Polynomial& a, const Polynomial& b) {
    return Polynomial::operation("/", {a, b});
  };
  const auto rest = [](const Polynomial& a, const Polynomial& b) {
    return Polynomial::operation("%", {a, b});
  };
  CHECK(over(i, C) * C + rest(i, C) == i);
  CHECK(over(i, 32) * 32 + rest(i, 32) + j == i + j);
  CHECK((over(i, C) * C + rest(i, C)) * 4 + 1 == i * 4 + 1);
  CHECK(rest(i, C) * j + j * C * over(i, C) == i * j);
  CHECK(over(i, C + 1) * (C + 1) + rest(i, C + 1) == i);
  CHECK(over(over(i, 4), 8) * 32 + rest(over(i, 4), 8) * 4 + rest(i, 4) == i);
  CHECK(over(i, C) * C + rest(i, j) != i);
  CHECK(over(i, C) * 2 * C + rest(i, C) != i);
  CHECK(over(i, C) * C + rest(i, C) * rest(i, C) != i);
}

TEST_CASE("substitution reaches into operations and simplifies again") {
  const Polynomial row = Polynomial::operation("/", {i, C}) * C + j;
  CHECK(row.substituted("i", j * C) == j * C + j);
  CHECK(row.bound({{"i", 17}, {"C", 5}, {"j", 2}}).constant() == 17);
  CHECK(row.evaluate({{"i", 17}, {"C", 5}, {"j", 2}}) == 17);
  CHECK_FALSE(row.evaluate({{"i", 17}}));
}

TEST_CASE("divisibility is proven term by term") {
  CHECK((i * 8 + 4).divisible_by(4));
  CHECK_FALSE((i * 8 + 2).divisible_by(4));
  CHECK((i * C).divisible_by(4, {{"C", 8}}));
  CHECK((i * C * 2).divisible_by(8, {{"C", 4}}));
  CHECK_FALSE((i * C + j).divisible_by(4, {{"C", 8}}));
  CHECK((i * 8 - 4).divided_by(4) == i * 2 - 1);
  CHECK_FALSE((i * 8 - 3).divided_by(4));
}

TEST_CASE("versions tell values of one variable apart and are not printed") {
  const Polynomial before = Polynomial::name("v'1");
  const Polynomial after = Polynomial::name("v'2");
  CHECK_FALSE(before == after);
  CHECK((before + 1).text() == "v + 1");
  CHECK(before.mentions("v"));
}

TEST_CASE("what leaves 64 bits is unknown") {
  const Polynomial big(INT64_MAX);
  CHECK_FALSE((big + 1).is_known());
  CHECK_FALSE((big * i * 2).is_known());
  CHECK_FALSE(Polynomial::unknown() == Polynomial::unknown());
  CHECK_FALSE((Polynomial::unknown() + 1).is_known());
}

TEST_SUITE_END();
