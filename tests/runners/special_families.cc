#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/portable/family_word.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/scaling.h"
#include "tests/runners/input_spec.h"
#include "tests/runners/made_family.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("special_families");

TEST_CASE("halves are ties of a quotient by what their lines' greatest are 127, 255, 7 or 15 of") {
  const Made made(InputFamily::halves, 0, 3);
  for (std::int64_t line = 0; line < kLines; ++line) {
    const double top = std::vector<double>{127, 255, 7, 15}[static_cast<std::size_t>(line % 4)];
    double most = 0, least = 0;
    int ties = 0;
    for (std::int64_t column = 0; column < kRow; ++column) {
      const double x = made(0, line, column);
      CHECK(2 * x == std::floor(2 * x));
      ties += x != std::floor(x) ? 1 : 0;
      most = std::max(most, x), least = std::min(least, x);
    }
    CHECK(most == top);
    CHECK(least == (line % 2 == 0 ? -top : 0));
    CHECK(ties > kRow / 8);
  }
}

TEST_CASE("one element of each line is infinite, of long ones one of each 1024") {
  const Made made(InputFamily::masked_infinities, 0, 3);
  for (std::int64_t line = 0; line < kLines; ++line) {
    int infinite = 0;
    for (std::int64_t column = 0; column < kRow; ++column)
      infinite += std::isinf(made(1, line, column)) ? 1 : 0;
    CHECK(infinite == 1);
  }
  const FamilyRule rule = rule_for(InputFamily::masked_infinities, 0, 3, {5000});
  int infinite = 0;
  for (std::uint64_t i = 0; i < rule.elements; ++i)
    infinite += portable::is_one_of_line(rule, i) ? 1 : 0;
  CHECK(infinite == 5);
  CHECK(Made(InputFamily::masked_infinities, 1, 3).values.bytes == made.own.bytes);
}

TEST_CASE("every other line is infinite, but what lies at an edge of its matrix may stay finite") {
  const Made made(InputFamily::infinite_lines, 0, 3);
  CHECK(made.all([&](std::int64_t m, std::int64_t line, std::int64_t column) {
    return std::isinf(made(m, line, column)) == (line % 2 != 0 && line + 1 != kLines);
  }));
  FamilyRule rule = rule_for(InputFamily::infinite_lines, 0, 3, {4, 10});
  const auto is_infinite = [&](std::uint64_t i) {
    return std::isinf(portable::family_value(rule, i, 1, 1));
  };
  CHECK((is_infinite(10) && is_infinite(19)));
  rule.finite_sides = true;
  CHECK_FALSE((is_infinite(10) || is_infinite(19)));
  CHECK((is_infinite(11) && is_infinite(18)));
  rule.lines = 2;  // both are at an edge
  CHECK((is_infinite(11) && is_infinite(31)));
}

TEST_CASE("the first line is infinite and one of 16 others, of a vector as many elements") {
  const Made made(InputFamily::few_infinite_lines, 0, 3);
  int infinite = 0;
  for (std::int64_t line = 0; line < kMatrices * kLines; ++line) {
    const bool is = std::isinf(made(line / kLines, line % kLines, 0));
    infinite += is ? 1 : 0;
    for (std::int64_t column = 1; column < kRow; ++column)
      CHECK(std::isinf(made(line / kLines, line % kLines, column)) == is);
  }
  CHECK(std::isinf(made(0, 0, 0)));
  CHECK(infinite > 1);
  CHECK(infinite < kMatrices * kLines / 8);
  CHECK(Made(InputFamily::few_infinite_lines, 1, 3).values.bytes == made.own.bytes);
  const FamilyRule rule = rule_for(InputFamily::few_infinite_lines, 0, 3, {1600});
  int elements = 0;
  for (std::uint64_t i = 0; i < rule.elements; ++i)
    elements += portable::is_of_few_lines(rule, i) ? 1 : 0;
  CHECK(elements > 50);
  CHECK(elements < 200);
}

TEST_CASE("numbers drawn from one side of zero are finite, and those that are places in range") {
  const auto made = [](const std::string& init, const std::string& body, InputFamily family) {
    const KernelSpec spec = spec_of(
        R"({"name": "x", "type": "tensor", "tensor_spec": {"shape": [8, 300], "dtype": "float32", "init": {"kind": "uniform", )" +
            init + "}}}",
        body);
    const ArgSpec& arg = spec.io.args.front();
    Tensor tensor = materialize(spec, arg, spec.workloads.front(), 0);
    apply_family(tensor, family_rule(spec, arg, spec.workloads.front(), family, 3));
    std::pair<double, double> out{tensor.at(0), tensor.at(0)};
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      out = {std::min(out.first, tensor.at(i)), std::max(out.second, tensor.at(i))};
    return out;
  };
  const std::string above = R"("low": 0.5, "high": 2)", unit = R"("low": 0, "high": 1)",
                    value = "y[0] = x[0];", place = "y[0] = x[(int)(x[0] * 9)];";
  for (const InputFamily family :
       {InputFamily::specials, InputFamily::lowest, InputFamily::infinite_lines}) {
    CAPTURE(name_of(family));
    const auto [low, high] = made(above, value, family);
    CHECK((low >= 0.5 && high < 2));
  }
  CHECK(made(above, value, InputFamily::huge).second > 1000);
  CHECK(made(unit, value, InputFamily::huge).second > 900);
  CHECK(made(unit, value, InputFamily::specials).second == INFINITY);
  for (const InputFamily family :
       {InputFamily::huge, InputFamily::specials, InputFamily::shifted, InputFamily::tiny}) {
    CAPTURE(name_of(family));
    const auto [low, high] = made(unit, place, family);
    CHECK((low >= 0 && high < 1));
  }
}

TEST_CASE("one element of each line is 2^28 times as large, the others are as declared") {
  const Made made(InputFamily::outlier, 0, 3);
  for (std::int64_t line = 0; line < kMatrices * kLines; ++line) {
    int large = 0;
    for (std::int64_t i = line * kRow; i < (line + 1) * kRow; ++i) {
      const bool is = made.values.at(i) != made.own.at(i);
      if (is) CHECK(made.values.at(i) == 0x1p28 * made.own.at(i));
      large += is ? 1 : 0;
    }
    CHECK(large == 1);
  }
}

TEST_CASE("the largest eight of each line are as far apart as a power of two goes") {
  const Made made(InputFamily::lined_up, 0, 3);
  for (std::int64_t line = 0; line < kLines; ++line) {
    std::vector<std::int64_t> large;
    for (std::int64_t column = 0; column < kRow; ++column)
      if (made(0, line, column) > 8) large.push_back(column);
    REQUIRE(large.size() >= 8);
    for (std::size_t i = 1; i < large.size(); ++i) CHECK(large[i] - large[i - 1] == 8);
  }
}

TEST_CASE("lines have a relation of their elements, but for one") {
  const auto holds = [](int form, auto relation) {
    CAPTURE(form);
    const Made made(InputFamily::regular, form, 3);
    CHECK(made.all([&](std::int64_t m, std::int64_t line, std::int64_t column) {
      return relation([&](std::int64_t at) { return made(m, line, at); }, column);
    }));
    FamilyRule rule = rule_for(InputFamily::regular, form, 3, made.own.shape);
    rule.odd = portable::odd_element(rule, 5);
    REQUIRE(rule.odd != kNoElement);
    Tensor but_for_one = made.own;
    apply_family(but_for_one, rule);
    int others = 0;
    for (std::int64_t i = 0; i < but_for_one.elements(); ++i)
      others += but_for_one.at(i) != made.values.at(i) ? 1 : 0;
    CHECK(others == 1);
  };
  holds(0, [](auto at, std::int64_t k) { return (at(k) == 0) == (k % 2 == 0); });
  holds(1, [](auto at, std::int64_t k) { return (at(k) == 0) == (k % 2 == 1); });
  holds(2, [](auto at, std::int64_t k) { return at(k) == at(k - k % 2); });
  holds(3, [](auto at, std::int64_t k) { return k % 4 == 3 || at(k) == at(k - k % 4); });
  holds(4, [](auto at, std::int64_t k) { return at(k) == at(kRow - 1 - k); });
  holds(5, [](auto at, std::int64_t k) {
    return k == 0 || (at(k) - at(k - 1) == at(1) - at(0) && at(1) > at(0));
  });
}

TEST_CASE("some lines have a few elements that are NaN, or the first, or all, and some have none") {
  const Made made(InputFamily::not_a_number, 0, 3);
  const auto missing = [&](std::int64_t line) {
    int out = 0;
    for (std::int64_t column = 0; column < kRow; ++column)
      out += std::isnan(made(0, line, column)) ? 1 : 0;
    return out;
  };
  CHECK(missing(1) == 1);
  CHECK(std::isnan(made(0, 1, 0)));
  CHECK(missing(2) == kRow);
  CHECK(missing(3) == 0);
  int few = 0;
  for (std::int64_t line = 0; line < kLines; line += 4) few += missing(line);
  CHECK(few > 0);
  CHECK(few < kRow);
}

TEST_CASE("near the ends of a type's range lie the digits that there are near 1") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (int f = 0; f < static_cast<int>(kInputFamilies.size()); ++f) {
      const auto family = static_cast<InputFamily>(f);
      if (!is_near_range_end(family) || family >= InputFamily::bottom) continue;
      CAPTURE(name_of(family));
      CAPTURE(info(dtype).name);
      const Tensor declared = fill_tensor(InitRule{}, 5, dtype, {40, 60}, {}, nullptr, "here");
      Tensor near_end = declared, near_one = declared;
      FamilyRule rule = rule_for(family, 0, 3, {40, 60}, dtype);
      apply_family(near_end, rule);
      rule.form = FamilyChoice{.family = family}.near_one().form;
      apply_family(near_one, rule);
      CHECK(is_times_power_of_two(near_one, near_end));
      CHECK(near_one.bytes != near_end.bytes);
    }
  }
}

TEST_CASE("numbers that are drawn from one side of zero stay there") {
  for (const InputFamily family :
       {InputFamily::zero_block, InputFamily::sparse, InputFamily::specials, InputFamily::subnormal,
        InputFamily::at_least_zero, InputFamily::ascending, InputFamily::tiny}) {
    FamilyRule rule = rule_for(family, 0, 3, {40, 50});
    rule.nonnegative = true;
    rule.odd_group = 50;
    rule.low = 0x1p-126, rule.high = INFINITY;
    Tensor tensor = make_tensor(DType::f32, {40, 50});
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, 0.5);
    apply_family(tensor, rule);
    bool stays = true;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) stays = stays && tensor.at(i) >= 0x1p-126;
    CAPTURE(name_of(family));
    CHECK(stays);
  }
}

TEST_CASE(
    "of zeros and ones in order the change is not at one place in all lines, and an exception is "
    "the other value") {
  FamilyRule rule = rule_for(InputFamily::ascending, 0, 5, {64, 96}, DType::i32);
  rule.least = 0, rule.greatest = 1, rule.holds_zero = true;
  const auto made = [](const FamilyRule& of) {
    Tensor tensor = make_tensor(DType::i32, {64, 96});
    apply_family(tensor, of);
    return tensor;
  };
  const Tensor regular = made(rule);
  std::set<std::int64_t> changes;
  for (std::int64_t line = 0; line < 64; ++line) {
    std::int64_t ones = 0;
    for (std::int64_t column = 0; column < 96; ++column)
      ones += regular.at(line * 96 + column) != 0 ? 1 : 0;
    changes.insert(ones);
  }
  CHECK(changes.size() > 5);
  CHECK(*changes.begin() < 32);
  CHECK(*changes.rbegin() > 64);
  rule.odd = 1234;
  CHECK(made(rule).at(1234) == 1 - regular.at(1234));
  CHECK(made(rule).at(1235) == regular.at(1235));
}

TEST_SUITE_END();
