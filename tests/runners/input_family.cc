#include "runners/input_family.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "engine/spec/tensor_init.h"

using namespace warpath;

namespace {

using Of = FamilyChoice::Of;

FamilyRule rule_for(InputFamily family,
                    int form,
                    std::uint64_t seed,
                    const std::vector<std::int64_t>& shape,
                    DType dtype = DType::f32) {
  FamilyRule rule{};
  rule.family = family;
  rule.form = form;
  rule.dtype = dtype;
  rule.seed = seed;
  rule.elements = 1;
  for (const std::int64_t extent : shape) rule.elements *= static_cast<std::uint64_t>(extent);
  rule.row = static_cast<std::uint64_t>(shape.back());
  rule.lines = static_cast<std::uint64_t>(shape.size() < 2 ? 1 : shape[shape.size() - 2]);
  rule.scale = 1;
  rule.odd = kNoElement;
  return rule;
}

constexpr std::int64_t kMatrices = 2, kLines = 48, kRow = 80;

/// A family's tensor of kMatrices matrices.
struct Made {
  Tensor own =
             fill_tensor(InitRule{}, 5, DType::f32, {kMatrices, kLines, kRow}, {}, nullptr, "here"),
         values = own;
  Made(InputFamily family, int form, std::uint64_t seed) {
    apply_family(values, rule_for(family, form, seed, own.shape));
  }
  [[nodiscard]] double operator()(std::int64_t matrix,
                                  std::int64_t line,
                                  std::int64_t column) const {
    return values.at((matrix * kLines + line) * kRow + column);
  }
  /// True if `holds` of every element.
  [[nodiscard]] bool all(
      const std::function<bool(std::int64_t, std::int64_t, std::int64_t)>& holds) const {
    for (std::int64_t m = 0; m < kMatrices; ++m) {
      for (std::int64_t line = 0; line < kLines; ++line) {
        for (std::int64_t column = 0; column < kRow; ++column) {
          if (!holds(m, line, column)) return false;
        }
      }
    }
    return true;
  }
};

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

/// Two matrices, a vector, indices, or what else stands in `inputs`.
KernelSpec spec_of(const std::string& inputs) {
  return parse_specs(
             R"({"name": "s", "kernel": {"source_code": "extern \"C\" __global__ void k() {}", "metadata": {"kernel_name": "k"}, "io": {"args": [)" +
                 inputs +
                 R"(, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [40], "dtype": "float32"}}],
                         "launch": {"grid": {"x": 1}, "block": {"x": 32}}}}})",
             "spec.json", ".")
      .front();
}

std::string input(const std::string& name,
                  const std::string& shape,
                  const std::string& dtype = "float32") {
  const std::string init = dtype == "int32" ? R"("randint", "low": 0, "high": 40)" : R"("randn")";
  return R"({"name": ")" + name + R"(", "type": "tensor", "tensor_spec": {"shape": )" + shape +
         R"(, "dtype": ")" + dtype + R"(", "init": {"kind": )" + init + "}}}";
}

/// Form numbers of each family in `of`, by what it is combined with.
using Forms = std::map<InputFamily, std::multiset<int>>;
Forms forms_of(const std::vector<FamilyChoice>& choices,
               Of of,
               bool but_for_one,
               bool against_specials) {
  Forms out;
  for (const FamilyChoice& choice : choices) {
    if (choice.of == of && choice.but_for_one == but_for_one &&
        choice.against_specials == against_specials)
      out[choice.family].insert(choice.form);
  }
  return out;
}

/// Kinds of what is zero in a matrix: lines, columns, rectangles.
std::multiset<int> kinds(const std::multiset<int>& forms) {
  std::multiset<int> out;
  for (const int form : forms) out.insert(form / 3);
  return out;
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
  for (const double x : values(InputFamily::coarse)) CHECK(x * 256 == std::floor(x * 256));
  const auto unit = values(InputFamily::unit_row);
  CHECK(unit[0] == 1);
  CHECK(std::all_of(unit.begin() + 1, unit.begin() + 500, [](double x) { return x == 0; }));
  CHECK(std::equal(unit.begin() + 500, unit.end(), declared.begin() + 500));
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

TEST_CASE("extremes of integers are values of their rule, its ends often") {
  const auto made = [](const std::string& dtype, const std::string& init) {
    const KernelSpec spec =
        spec_of(R"({"name": "x", "type": "tensor", "tensor_spec": {"shape": [64, 64], "dtype": ")" +
                dtype + R"(", "init": )" + init + "}}");
    const ArgSpec& arg = spec.io.args.front();
    const Workload& workload = spec.workloads.front();
    Tensor tensor = materialize(spec, arg, workload, 0);
    apply_family(tensor, family_rule(spec, arg, workload, {.family = InputFamily::extremes}, 0, 3));
    std::map<double, int> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) ++out[tensor.at(i)];
    return out;
  };
  auto some = made("int64", R"({"kind": "randint", "low": 3, "high": 90})");
  CHECK(some.begin()->first == 3);
  CHECK(some.rbegin()->first == 89);
  CHECK(some[3] > 200);
  CHECK(some[89] > 200);
  auto all = made("int16", R"({"kind": "randn"})");
  CHECK(all.begin()->first == -32768);
  CHECK(all.rbegin()->first == 32767);
  CHECK(all[-32768] > 200);
  CHECK(all[32767] > 200);
  CHECK(all[-1] > 20);
  auto words = made("uint32", R"({"kind": "randn"})");
  CHECK(words[0] > 200);
  CHECK(words.rbegin()->first == 0xffffffffU);
  int digits = 0;
  for (const auto& [value, count] : words) {
    const auto word = static_cast<std::uint32_t>(value);
    digits += word % 0x11111111U == 0 && word != 0 && word != ~0U ? count : 0;
  }
  CHECK(digits > 50);
}

TEST_CASE("every other tensor is far above, those between far below") {
  const KernelSpec spec = load_specs(WARPATH_SOURCE_ROOT "/specs/attention_causal.json").at(0);
  const FamilyChoice opposed{.family = InputFamily::opposed};
  std::size_t changed = 0;
  for (const char* const name : {"q", "k"}) {
    const auto arg = std::ranges::find(spec.io.args, name, &ArgSpec::name);
    FamilyRule rule = family_rule(spec, *arg, spec.workloads.at(0), opposed, changed++, 1);
    CHECK(portable::family_value(rule, 5, 0.25, 0.25) == (changed == 1 ? 10.25 : -9.75));
  }
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

TEST_CASE(
    "every kind of a structure is a choice of its own: in the even and the odd tensors, but for "
    "one element, beside special numbers, and whole") {
  const KernelSpec spec = spec_of(input("a", "[40, 60]") + "," + input("b", "[60, 50]"));
  const auto choices = structure_choices(spec, spec.workloads.front());
  for (const Of of : {Of::even_ones, Of::odd_ones}) {
    for (const bool but_for_one : {true, false}) {
      Forms found = forms_of(choices, of, but_for_one, false);
      CHECK(found.size() == kInputFamilies.size() - static_cast<std::size_t>(kFirstStructure));
      CHECK(kinds(found[InputFamily::zero_block]) == std::multiset<int>{0, 1, 2});
      CHECK(found[InputFamily::repeated_tile] == std::multiset<int>{0, 1, 2});
      for (const InputFamily two :
           {InputFamily::permutation, InputFamily::triangular, InputFamily::one_value,
            InputFamily::half_copy, InputFamily::ascending}) {
        CHECK(found[two] == std::multiset<int>{0, 1});
      }
      for (const InputFamily one : {InputFamily::identity, InputFamily::low_rank})
        CHECK(found[one] == std::multiset<int>{0});
    }
    Forms beside = forms_of(choices, of, false, true);
    CHECK(kinds(beside[InputFamily::zero_block]) == std::multiset<int>{0, 1, 2});
    CHECK(beside[InputFamily::one_value] == std::multiset<int>{1});
    CHECK(beside[InputFamily::triangular] == std::multiset<int>{0, 1});
    CHECK(beside.count(InputFamily::ascending) == 0);
    // Of what is zero each kind has each place once.
    std::multiset<int> zeros;
    for (const FamilyChoice& choice : choices) {
      if (choice.of == of && choice.family == InputFamily::zero_block) zeros.insert(choice.form);
    }
    CHECK(zeros == std::multiset<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  }
  CHECK(choices.size() <= 100);
  std::set<std::string> labels;
  for (const FamilyChoice& choice : choices) labels.insert(choice.label());
  CHECK(labels.size() == choices.size());
  CHECK(
      labels.contains("zero_block (lines amid) in every other tensor, from the first, special "
                      "numbers in the others"));
}

TEST_CASE("a choice that changes nothing, or nothing else than another one, is not made") {
  const auto choices = [](const std::string& inputs) {
    const KernelSpec spec = spec_of(inputs);
    return structure_choices(spec, spec.workloads.front());
  };
  for (const FamilyChoice& choice : choices(input("x", "[40]"))) {
    CHECK(choice.of == Of::even_ones);
    CHECK_FALSE(choice.against_specials);
    CHECK(choice.form < (choice.family == InputFamily::zero_block ? 3 : 2));
  }
  // A vector beside a matrix: what only matrices have is tried where the matrix is.
  const auto mixed = choices(input("a", "[40, 60]") + "," + input("x", "[60]"));
  CHECK(forms_of(mixed, Of::even_ones, true, false)[InputFamily::repeated_tile] ==
        std::multiset<int>{0, 1, 2});
  CHECK(forms_of(mixed, Of::odd_ones, true, false)[InputFamily::repeated_tile] ==
        std::multiset<int>{0});
  CHECK(forms_of(mixed, Of::odd_ones, true, false)[InputFamily::zero_block] ==
        std::multiset<int>{0, 1, 2});
  // Indices have none but their own values and zeros, and no special numbers.
  for (const FamilyChoice& choice : choices(input("i", "[40]", "int32"))) {
    CHECK((choice.family == InputFamily::repeated_tile || choice.family == InputFamily::half_copy ||
           choice.family == InputFamily::one_value || choice.family == InputFamily::zero_block));
    CHECK_FALSE(choice.against_specials);
  }
  for (const FamilyChoice& choice : choices(input("x", "[40]") + "," + input("i", "[40]", "int32")))
    CHECK_FALSE(choice.against_specials);
  CHECK(choices(input("i", "[40]", "int32") + "," + input("x", "[40]")).size() > 0);
}

TEST_CASE(
    "where not all choices are affordable those that remain are spread over all, from another one "
    "on for another seed") {
  std::vector<FamilyChoice> choices;
  for (int form = 0; form < 90; ++form)
    choices.push_back({.family = InputFamily::identity, .form = form});
  CHECK(spread(choices, 90, 5) == choices);
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < 23; ++seed) {
    const auto some = spread(choices, 4, seed);
    REQUIRE(some.size() == 4);
    std::set<int> forms;
    for (const FamilyChoice& choice : some) forms.insert(choice.form);
    CHECK(forms.size() == 4);
    for (std::size_t i = 1; i < some.size(); ++i)
      CHECK(std::abs((some[i].form - some[i - 1].form + 90) % 90 - 22) <= 1);
    seen.merge(forms);
  }
  CHECK(seen.size() == 90);
}

TEST_SUITE_END();
