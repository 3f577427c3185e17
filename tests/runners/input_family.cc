#include "runners/inputs/input_choices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "engine/portable/family_word.h"
#include "engine/spec/spec_load.h"
#include "tests/runners/made_family.h"

using namespace warpath;
using namespace warpath::test;

namespace {

/// Which of the extents are zero somewhere: begin and end of the run.
std::pair<std::int64_t, std::int64_t> run_of(std::int64_t extent,
                                             const std::function<bool(std::int64_t)>& is_in) {
  std::int64_t first = extent, last = -1, count = 0;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (!is_in(i)) continue;
    first = std::min(first, i);
    last = i;
    ++count;
  }
  CHECK(count == last - first + 1);
  return {first, last + 1};
}

}  // namespace

TEST_SUITE_BEGIN("input_family");

TEST_CASE("families have their meaning") {
  const auto values = [](InputFamily family, bool nonnegative = false) {
    Tensor tensor = fill_tensor(InitRule{}, 5, DType::f32, {20, 500}, {}, nullptr, "here");
    FamilyRule rule{};
    rule.family = family;
    rule.dtype = DType::f32;
    rule.seed = 2;
    rule.elements = 10000;
    rule.row = 500;
    rule.lines = 20;
    rule.odd = kNoElement;
    rule.scale = 1;
    rule.nonnegative = nonnegative;
    apply_family(tensor, rule);
    std::vector<double> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) out.push_back(tensor.at(i));
    return out;
  };
  const auto constant = values(InputFamily::constant);
  CHECK(std::count(constant.begin(), constant.end(), constant[0]) == 10000);
  const auto sparse = values(InputFamily::sparse);
  CHECK(std::count(sparse.begin(), sparse.end(), 0.0) == doctest::Approx(9000).epsilon(0.02));
  for (const double x : values(InputFamily::small_integers)) CHECK((x == -1 || x == 0 || x == 1));
  for (const double x : values(InputFamily::small_integers, true)) CHECK((x == 0 || x == 1));
  const auto mantissa = values(InputFamily::mantissa);
  for (const double x : mantissa) CHECK((std::abs(x) >= 1 && std::abs(x) < 2));
  CHECK(std::count_if(mantissa.begin(), mantissa.end(), [](double x) {
          return (std::bit_cast<std::uint32_t>(static_cast<float>(x)) & 1U) != 0;
        }) == doctest::Approx(5000).epsilon(0.05));
  const auto cancellation = values(InputFamily::cancellation);
  double sum = 0;
  for (int i = 0; i < 500; ++i) sum += cancellation[static_cast<std::size_t>(i)];
  CHECK(std::abs(sum) < 0.1);
  const auto sorted = values(InputFamily::sorted_ties);
  CHECK(std::is_sorted(sorted.begin(), sorted.begin() + 500));
  CHECK(sorted[0] == sorted[60]);
  const auto declared = values(InputFamily::as_declared);
  const auto outliers = values(InputFamily::rare_outliers);
  int changed = 0;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (outliers[i] == declared[i]) continue;
    CHECK(i >= 4096);
    CHECK(outliers[i] == 1024 * declared[i]);
    ++changed;
  }
  CHECK(changed > 0);
  const auto specials = values(InputFamily::specials);
  const auto count = [&](auto is) { return std::count_if(specials.begin(), specials.end(), is); };
  // what a comparison or a maximum makes of it no contract says
  CHECK(count([](double x) { return std::isnan(x); }) == 0);
  CHECK(count([](double x) { return std::isinf(x) && x > 0; }) > 0);
  // an honest online softmax may start from it
  CHECK(count([](double x) { return std::isinf(x) && x < 0; }) == 0);
  CHECK(count([](double x) { return x == 0 && std::signbit(x); }) > 0);
  const auto below = values(InputFamily::far_below), faint = values(InputFamily::faint),
             peaked = values(InputFamily::peaked);
  CHECK(std::all_of(below.begin(), below.end(), [](double x) { return x < -1e5; }));
  CHECK(faint[7] == std::ldexp(declared[7], -40));
  std::size_t peaks = 0;
  std::set<double> heights;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const double height = peaked[i] - declared[i];
    if (height == 0) continue;
    ++peaks;
    if (i / 500 % 2 == 0) CHECK(height == doctest::Approx(16));
    CHECK((height > 3.9 && height < 16.1));
    heights.insert(height);
  }
  CHECK(peaks == declared.size() / 500);
  CHECK(heights.size() > 8);
  for (const double x : values(InputFamily::far_above)) CHECK(x > 1e5);
  const auto lone = values(InputFamily::lone);
  for (std::size_t line = 0; line < 20; ++line) {
    const auto* const first = &lone[line * 500];
    CHECK(std::count(first, first + 500, 0.0) == 499);
  }
  for (const auto& [family, sign] :
       {std::pair{InputFamily::at_most_zero, -1}, std::pair{InputFamily::at_least_zero, 1}}) {
    int plus = 0, minus = 0;
    for (const double x : values(family)) {
      CHECK(x * sign >= 0);
      if (x == 0) (std::signbit(x) ? minus : plus) += 1;
    }
    CHECK(plus == doctest::Approx(1250).epsilon(0.15));
    CHECK(minus == doctest::Approx(1250).epsilon(0.15));
  }
  for (const double x : values(InputFamily::lowest)) CHECK((x <= -0x1p102 && x > -0x1p106));
  for (const double x : values(InputFamily::highest)) CHECK((x >= 0x1p102 && x < 0x1p106));
  CHECK(values(InputFamily::vast)[7] == std::ldexp(declared[7], 48));
  for (const double x : values(InputFamily::subnormal)) CHECK(std::fabs(x) < 0x1p-126);
  CHECK(std::ranges::count(values(InputFamily::subnormal), 0.0) < 1000);
  const auto magnitudes = values(InputFamily::other_scalars);
  CHECK(magnitudes[7] == declared[7]);
  CHECK(magnitudes[7 * 500 + 3] == 16 * declared[7 * 500 + 3]);
  CHECK(magnitudes[6 * 500 + 3] == std::ldexp(declared[6 * 500 + 3], -24));
  const auto adjacent = values(InputFamily::adjacent);
  for (std::size_t i = 0; i < adjacent.size(); ++i)
    CHECK((std::fabs(adjacent[i]) >= 1 && std::fabs(adjacent[i]) < 1 + 0x1p-20 &&
           (adjacent[i] < 0) == (i / 500 % 2 == 0)));
  for (const double x : values(InputFamily::coarse)) CHECK(x * 256 == std::floor(x * 256));
  const auto unit = values(InputFamily::unit_row);
  CHECK(unit[0] == 1);
  CHECK(std::all_of(unit.begin() + 1, unit.begin() + 500, [](double x) { return x == 0; }));
  CHECK(std::equal(unit.begin() + 500, unit.end(), declared.begin() + 500));
}

TEST_CASE("numbers lie at what a kernel compares with, and on either side of it") {
  FamilyRule rule = rule_for(InputFamily::coarse, 0, 3, {40, 60});
  rule.landmarks[0] = 0.3;
  rule.landmark_count = 1;
  Tensor tensor = fill_tensor(InitRule{}, 5, DType::f32, {40, 60}, {}, nullptr, "here");
  apply_family(tensor, rule);
  int at = 0, above = 0, below = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double distance = tensor.at(i) - static_cast<double>(0.3F);
    if (std::abs(distance) > 1e-6) continue;
    ++(distance > 0 ? above : distance < 0 ? below : at);
  }
  CHECK((at > 90 && above > 40 && below > 40));
}

TEST_CASE("but for one element, weights are all 1: a kernel may know that they mostly are") {
  FamilyRule rule = rule_for(InputFamily::one_value, 0, 3, {40, 60});
  Tensor tensor = fill_tensor(InitRule{}, 5, DType::f32, {40, 60}, {}, nullptr, "here");
  rule.odd = portable::odd_element(rule, 9);
  apply_family(tensor, rule);
  int ones = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) ones += tensor.at(i) == 1 ? 1 : 0;
  CHECK(ones == 2399);
}

TEST_CASE("a square matrix may equal its transpose, or each of its lines the one before") {
  constexpr std::int64_t kSize = 24;
  const Tensor own = fill_tensor(InitRule{}, 5, DType::f32, {3, kSize, kSize}, {}, nullptr, "here");
  const auto holds = [&](int form, const auto& relation) {
    Tensor values = own;
    apply_family(values, rule_for(InputFamily::half_copy, form, 4, own.shape));
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      const std::int64_t column = i % kSize, line = i / kSize % kSize,
                         first = i - line * kSize - column;
      const std::int64_t other = form == 3
                                     ? first + (line + 1) % kSize * kSize + (column + 1) % kSize
                                     : first + column * kSize + line;
      if (!relation(values.at(i), values.at(other))) return false;
    }
    return values.at(1) != values.at(2);
  };
  CHECK(holds(2, [](double a, double b) { return a == b; }));
  CHECK(holds(3, [](double a, double b) { return a == b; }));
  CHECK(holds(4, [](double a, double b) { return a == -b; }));
}

TEST_CASE("one element of each line is an exception; of an order it is greater than all, or less") {
  const Tensor own = fill_tensor(InitRule{}, 5, DType::f32, {20, 30}, {}, nullptr, "here");
  for (const InputFamily family : {InputFamily::triangular, InputFamily::ascending}) {
    FamilyRule rule = rule_for(family, 0, 7, own.shape);
    Tensor whole = own, values = own;
    apply_family(whole, rule);
    rule.odd_group = 30;
    apply_family(values, rule);
    std::set<std::int64_t> places;
    for (std::int64_t line = 0; line < 20; ++line) {
      double least = 9, greatest = -9;
      int changed = 0;
      for (std::int64_t i = line * 30; i < line * 30 + 30; ++i) {
        least = std::min(least, values.at(i)), greatest = std::max(greatest, values.at(i));
        if (values.at(i) == whole.at(i)) continue;
        ++changed;
        places.insert(i % 30);
        if (family == InputFamily::triangular) CHECK(values.at(i) == own.at(i));
      }
      CHECK(changed <= 1);
      if (family == InputFamily::ascending)
        CHECK((line % 2 == 0 ? greatest == 1.5 : least == -1.5));
    }
    CHECK(places.size() > 5);
  }
}

TEST_CASE(
    "tensors may have the same values, the sign, the order of the dimensions or places in lines "
    "changed") {
  const Tensor own = fill_tensor(InitRule{}, 5, DType::f32, {6, 10}, {}, nullptr, "here");
  const auto made = [&](int form, std::uint64_t seed, const std::vector<std::int64_t>& shape) {
    Tensor values = own;
    values.shape = shape;
    FamilyRule rule = rule_for(InputFamily::alike, form, seed, shape);
    rule.common_seed = 3;
    apply_family(values, rule);
    return values;
  };
  const Tensor first = made(0, 1, {6, 10}), same = made(0, 2, {6, 10}), minus = made(1, 2, {6, 10}),
               turned = made(2, 2, {6, 10}), exchanged = made(3, 2, {10, 6});
  CHECK(same.bytes == first.bytes);
  CHECK(first.at(1) != first.at(2));
  for (std::int64_t i = 0; i < 60; ++i) {
    CHECK(minus.at(i) == -first.at(i));
    CHECK(exchanged.at(i % 10 * 6 + i / 10) == first.at(i));
  }
  std::set<std::int64_t> places;
  for (std::int64_t line = 0; line < 60; line += 10) {
    std::int64_t by = 0;
    while (by < 10 && turned.at(line) != first.at(line + by)) ++by;
    REQUIRE(by < 10);
    places.insert(by);
    for (std::int64_t column = 0; column < 10; ++column)
      CHECK(turned.at(line + column) == first.at(line + (column + by) % 10));
  }
  CHECK(places.size() > 2);
}

TEST_CASE("each form of a structure has its meaning, whatever the seed") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Made identity(InputFamily::identity, 0, seed);
    CHECK(identity.all([&](auto m, auto line, auto column) {
      return identity(m, line, column) == (line == column ? 1 : 0);
    }));

    const Made shifted(InputFamily::permutation, 0, seed),
        reversed(InputFamily::permutation, 1, seed);
    std::int64_t shift = 0, mirror = 0;
    while (shifted(0, 0, shift) == 0) ++shift;
    while (reversed(0, 0, mirror) == 0) ++mirror;
    CHECK(shift > 0);
    CHECK(shifted.all([&](auto m, auto line, auto column) {
      return shifted(m, line, column) == (column == (line + shift) % kRow ? 1 : 0);
    }));
    CHECK(reversed.all([&](auto m, auto line, auto column) {
      return reversed(m, line, column) == (column == (mirror - line + kRow) % kRow ? 1 : 0);
    }));

    for (const int form : {0, 1}) {
      CAPTURE(form);
      const Made triangle(InputFamily::triangular, form, seed),
          order(InputFamily::ascending, form, seed), halves(InputFamily::half_copy, form, seed);
      CHECK(triangle.all([&](auto m, auto line, auto column) {
        return triangle(m, line, column) ==
               ((form == 0 ? column > line : column < line)
                    ? 0
                    : triangle.own.at((m * kLines + line) * kRow + column));
      }));
      CHECK(order.all([&](auto m, auto line, auto column) {
        return column == 0 || (form == 0 ? order(m, line, column) > order(m, line, column - 1)
                                         : order(m, line, column) < order(m, line, column - 1));
      }));
      CHECK(halves.all([&](auto m, auto line, auto column) {
        if (form == 0)
          return column < kRow / 2 || halves(m, line, column) == halves(m, line, column - kRow / 2);
        return m == 0 || halves(1, line, column) == halves(0, line, column);
      }));
      const Made one(InputFamily::one_value, form, seed);
      CHECK((one(0, 0, 0) == 0) == (form == 1));
      CHECK(one.all(
          [&](auto m, auto line, auto column) { return one(m, line, column) == one(0, 0, 0); }));
    }

    for (const int form : {0, 1, 2}) {
      CAPTURE(form);
      const Made tiles(InputFamily::repeated_tile, form, seed);
      const auto repeats = [&](std::int64_t lines, std::int64_t columns) {
        return tiles.all([&](auto m, auto line, auto column) {
          return line + lines >= kLines || column + columns >= kRow ||
                 tiles(m, line, column) == tiles(m, line + lines, column + columns);
        });
      };
      CHECK((repeats(0, 8) || repeats(0, 16) || repeats(0, 32)) == (form != 1));
      CHECK((repeats(8, 0) || repeats(16, 0)) == (form != 0));
    }

    const Made rank(InputFamily::low_rank, 0, seed);
    CHECK(rank.all([&](auto, auto line, auto column) {
      const double left = rank(0, line, column) * rank(0, 0, 0),
                   right = rank(0, line, 0) * rank(0, 0, column);
      return std::abs(left - right) <= 1e-6 * std::abs(left);
    }));
  }
}

TEST_CASE(
    "what is zero in a matrix is lines, columns or a rectangle, at the begin, amid it or at the "
    "end, whatever the seed") {
  std::set<std::int64_t> amid;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (int form = 0; form < 9; ++form) {
      CAPTURE(seed);
      CAPTURE(form);
      const int kind = form / 3, place = form % 3;
      const Made zeros(InputFamily::zero_block, form, seed);
      const auto lines = run_of(kLines, [&](std::int64_t line) {
        return std::ranges::any_of(std::vector<int>{0, kRow / 2, kRow - 1, kRow / 4, kRow * 3 / 4},
                                   [&](int column) { return zeros(0, line, column) == 0; });
      });
      const auto columns = run_of(kRow, [&](std::int64_t column) {
        return zeros(0, (lines.first + lines.second) / 2, column) == 0;
      });
      CHECK(zeros.all([&](auto m, auto line, auto column) {
        return (zeros(m, line, column) == 0) ==
               (line >= lines.first && line < lines.second && column >= columns.first &&
                column < columns.second);
      }));
      const auto lies = [&](std::pair<std::int64_t, std::int64_t> run, std::int64_t extent) {
        CHECK(run.second - run.first >= extent / 4);
        CHECK(run.second - run.first <= extent / 2 + 1);
        CHECK((run.first == 0) == (place == 0));
        CHECK((run.second == extent) == (place == 2));
      };
      if (kind == 1) CHECK(lines == std::pair<std::int64_t, std::int64_t>{0, kLines});
      if (kind == 0) CHECK(columns == std::pair<std::int64_t, std::int64_t>{0, kRow});
      if (kind != 1) lies(lines, kLines);
      if (kind != 0) lies(columns, kRow);
      if (form == 1) amid.insert(lines.first);
    }
  }
  CHECK(amid.size() > 8);
}

TEST_CASE("integers take their own values, the ends of their range, and 0 where the rule has it") {
  const auto made = [](bool holds_zero, InputFamily family, int form) {
    FamilyRule rule = rule_for(family, form, 1, {6, 50}, DType::i32);
    rule.holds_zero = holds_zero, rule.least = holds_zero ? -8 : 3, rule.greatest = 40;
    Tensor tensor = make_tensor(DType::i32, {6, 50});
    for (std::int64_t i = 0; i < 300; ++i) tensor.set(i, static_cast<double>(5 + i % 30));
    apply_family(tensor, rule);
    return tensor;
  };
  CHECK(made(true, InputFamily::one_value, 1).at(7) == 0);
  CHECK(made(false, InputFamily::one_value, 1).at(7) == 3);
  CHECK(made(true, InputFamily::one_value, 2).at(7) == -8);
  CHECK(made(true, InputFamily::one_value, 3).at(7) == 40);
  CHECK(made(false, InputFamily::zero_block, 0).at(0) == 5);
  CHECK(made(true, InputFamily::zero_block, 0).at(0) == 0);
}

TEST_CASE("forms that a shape does not have are none of its own") {
  const auto count = [](InputFamily family, const std::vector<std::int64_t>& shape,
                        DType dtype = DType::f32) {
    return portable::structure_forms(rule_for(family, 0, 1, shape, dtype));
  };
  CHECK(count(InputFamily::zero_block, {7, 9}) == 9);
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{63}, {63, 1}, {1, 63}}) {
    CHECK(count(InputFamily::zero_block, shape) == 3);
    CHECK(count(InputFamily::repeated_tile, shape) == 1);
    CHECK(count(InputFamily::half_copy, shape) == 1);
    // all of the vector's places with any three forms in a row
    for (int form = 0; form < 9; ++form) {
      Tensor zeros = fill_tensor(InitRule{}, 5, DType::f32, shape, {}, nullptr, "here");
      apply_family(zeros, rule_for(InputFamily::zero_block, form, 3, shape));
      const auto run = run_of(63, [&](std::int64_t i) { return zeros.at(i) == 0; });
      CHECK((run.first == 0) == (form % 3 == 0));
      CHECK((run.second == 63) == (form % 3 == 2));
    }
  }
  CHECK(count(InputFamily::one_value, {7, 9}, DType::i32) == 4);
  // Down to one element everything ends.
  for (int family = static_cast<int>(kFirstStructure);
       family < static_cast<int>(kInputFamilies.size()); ++family) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{1}, {1, 1}, {2}, {2, 1}, {3, 2}, {2, 1, 2}}) {
      for (int form = 0; form < 9; ++form) {
        Tensor tensor = fill_tensor(InitRule{}, 5, DType::f32, shape, {}, nullptr, "here");
        apply_family(tensor, rule_for(static_cast<InputFamily>(family), form, 3, shape));
        for (std::int64_t i = 0; i < tensor.elements(); ++i) CHECK(std::isfinite(tensor.at(i)));
      }
    }
  }
}

TEST_CASE(
    "the one element that breaks a structure lies where a look at the first half does not find it, "
    "wherever that can be") {
  std::set<std::uint64_t> places;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    for (int family = static_cast<int>(kFirstStructure);
         family < static_cast<int>(kInputFamilies.size()); ++family) {
      for (int form = 0; form < 9; ++form) {
        CAPTURE(kInputFamilies[static_cast<std::size_t>(family)]);
        CAPTURE(form);
        const FamilyRule rule =
            rule_for(static_cast<InputFamily>(family), form, seed, {kLines, kRow});
        const std::uint64_t odd = portable::odd_element(rule, seed);
        REQUIRE(odd < rule.elements);
        std::uint64_t changed = 0;
        for (std::uint64_t i = rule.elements / 2; i < rule.elements; ++i) {
          const bool is_own = portable::family_source(rule, i) == i;
          changed += portable::family_value(rule, i, 2, is_own ? 2 : 3) != 2 ? 1 : 0;
        }
        if (changed > rule.elements / 16) CHECK(odd >= rule.elements / 2);
        if (family == static_cast<int>(InputFamily::identity)) places.insert(odd);
      }
    }
  }
  CHECK(places.size() > 10);
}

TEST_SUITE_END();
