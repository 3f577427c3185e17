#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/portable/family_word.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/input_choices.h"
#include "tests/runners/input_spec.h"
#include "tests/runners/made_family.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("integer_families");

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
  auto pixels = made("uint8", R"({"kind": "uniform", "low": 0, "high": 256})");
  CHECK((pixels[0] > 200 && pixels[255] > 200));
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

TEST_CASE(
    "two integers are near opposite ends of their ranges, where sums of products are near equal") {
  const auto integers = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text +=
          std::string(i > 0 ? ", " : "") + R"({"name": ")" +
          std::string(1, static_cast<char>('a' + i)) +
          R"(", "type": "tensor", "tensor_spec": {"shape": [4, 30], "dtype": "int16", "init": {"kind": "randint", "low": -900, "high": 900}}})";
    return spec_of(text);
  };
  const FamilyChoice near_ends{.family = InputFamily::extremes, .form = 1};
  const KernelSpec one = integers(1), two = integers(2);
  CHECK(std::ranges::count(stress_choices(one, one.workloads.front()), near_ends) == 0);
  CHECK(std::ranges::count(stress_choices(two, two.workloads.front()), near_ends) == 1);
  const auto values = [&](std::size_t which) {
    const ArgSpec& arg = two.io.args.at(which);
    Tensor tensor = materialize(two, arg, two.workloads.front(), 0);
    apply_family(tensor, family_rule(two, arg, two.workloads.front(), near_ends, which, 3));
    std::set<double> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      out.insert(tensor.at(i));
      if (i % 2 != 0) CHECK(tensor.at(i - 1) + tensor.at(i) == (which == 0 ? 1795 : -1797));
    }
    return out;
  };
  CHECK(values(0) == std::set<double>{896, 897, 898, 899});
  CHECK(values(1) == std::set<double>{-900, -899, -898, -897});
}

TEST_CASE("wide ranges have integers of every size, equal in the same place of all tensors") {
  const auto integer = [](const std::string& name, const std::string& range) {
    return R"({"name": ")" + name +
           R"(", "type": "tensor", "tensor_spec": {"shape": [4, 600], "dtype": "int32", "init": {"kind": "randint", )" +
           range + "}}}";
  };
  const std::string wide = R"("low": -800000, "high": 800001)";
  const KernelSpec two = spec_of(integer("a", wide) + ", " + integer("b", wide)),
                   narrow = spec_of(integer("a", R"("low": 0, "high": 900)"));
  const FamilyChoice sizes{.family = InputFamily::extremes, .form = 3};
  CHECK(std::ranges::count(stress_choices(two, two.workloads.front()), sizes) == 1);
  CHECK(std::ranges::count(stress_choices(narrow, narrow.workloads.front()), sizes) == 0);
  std::vector<Tensor> values;
  for (std::size_t which = 0; which < 2; ++which) {
    const ArgSpec& arg = two.io.args.at(which);
    values.push_back(materialize(two, arg, two.workloads.front(), 0));
    apply_family(values.back(), family_rule(two, arg, two.workloads.front(), sizes, which, 3));
  }
  std::map<int, int> bits;
  int powers = 0;
  for (std::int64_t i = 0; i < values[0].elements(); ++i) {
    const double x = std::abs(values[0].at(i)), y = std::abs(values[1].at(i));
    CHECK((x <= 800000 && y <= 800000));
    ++bits[static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x)))];
    powers += std::has_single_bit(static_cast<std::uint64_t>(x)) ? 1 : 0;
    if (x >= 1024) CHECK((y >= x / 0x1p20 && y <= x * 0x1p20));
  }
  for (int width = 1; width <= 20; ++width) CHECK(bits[width] > 20);
  CHECK(powers > 200);
}

TEST_CASE("integers of two tensors are alike: equal, or with all bits others") {
  const auto integer = [](const std::string& name, const std::string& dtype) {
    return R"({"name": ")" + name +
           R"(", "type": "tensor", "tensor_spec": {"shape": [4, 60], "dtype": ")" + dtype +
           R"(", "init": {"kind": "randn"}}})";
  };
  for (const char* const dtype : {"uint8", "int32", "uint64"}) {
    CAPTURE(dtype);
    const KernelSpec spec =
        spec_of(integer("a", dtype) + ", " + input("x", "[30]") + ", " + integer("b", dtype));
    const Workload& workload = spec.workloads.front();
    for (const int form : {0, 1}) {
      const FamilyChoice alike{.family = InputFamily::alike, .form = form, .but_for_one = true};
      CHECK(std::ranges::count(structure_choices(spec, workload), alike) == 1);
      std::map<std::string, Tensor> made;
      for (const auto& [arg, rule] : family_rules(spec, workload, alike, 3)) {
        made[arg->name] = materialize(spec, *arg, workload, 0);
        apply_family(made[arg->name], rule);
      }
      std::size_t related = 0;
      const auto &a = made["a"].bytes, &b = made["b"].bytes;
      for (std::size_t i = 0; i < a.size(); ++i)
        related += (form == 0 ? a[i] == b[i] : (a[i] ^ b[i]) == std::byte{0xff}) ? 1 : 0;
      CHECK(related >= a.size() - 16);  // the odd elements of both
      CHECK(related < a.size());
      CHECK(std::set<std::byte>(a.begin(), a.end()).size() > 60);
    }
  }
  const KernelSpec one = spec_of(integer("a", "int32") + ", " + input("x", "[30]"));
  for (const FamilyChoice& choice : structure_choices(one, one.workloads.front()))
    CHECK(choice.family != InputFamily::alike);
}

TEST_CASE("integers beside offsets count up from 0 where ranges are empty") {
  const KernelSpec spec = spec_of(
      R"({"name": "begins", "type": "tensor", "tensor_spec": {"shape": [65], "dtype": "int32", "init": {"kind": "csr_row_pointers", "mean": 90}}},
         {"name": "at", "type": "tensor", "tensor_spec": {"shape": [300], "dtype": "int32", "init": {"kind": "randint", "low": 0, "high": 5760}}},
         {"name": "x", "type": "tensor", "tensor_spec": {"shape": [300], "dtype": "float32", "init": {"kind": "randn"}}})");
  const Workload& workload = spec.workloads.front();
  int beside = 0, with_empty = 0;
  for (const FamilyChoice& choice : structure_choices(spec, workload)) {
    if (!choice.beside_consecutive) continue;
    ++beside;
    std::map<std::string, Tensor> made;
    for (const auto& [arg, rule] : family_rules(spec, workload, choice, 3)) {
      made[arg->name] = materialize(spec, *arg, workload, 0);
      apply_family(made[arg->name], rule);
    }
    CHECK(made["x"].bytes == materialize(spec, spec.io.args[2], workload, 0).bytes);
    int consecutive = 0, empty = 0;
    for (std::int64_t i = 0; i < 300; ++i) {
      const double behind = static_cast<double>(i) - made["at"].at(i);
      consecutive += behind == 0 || behind == 1 ? 1 : 0;  // in odd forms the place before
    }
    for (std::int64_t i = 0; i < 64; ++i)
      empty += made["begins"].at(i) == made["begins"].at(i + 1) ? 1 : 0;
    CHECK(consecutive >= 299);
    CHECK(made["at"].at(0) == 0);
    with_empty += empty > 8 ? 1 : 0;
  }
  CHECK(with_empty == 3);
  CHECK(beside == 4);
}

TEST_CASE(
    "64-bit integers of any value have families too: ends of the range, halves that are equal, "
    "structures, exactly") {
  for (const DType dtype : {DType::i64, DType::u64}) {
    const auto words = [&](InputFamily family, int form = 0) {
      Tensor tensor = fill_tensor(InitRule{}, 5, dtype, {40, 60}, {}, nullptr, "here");
      FamilyRule rule = rule_for(family, form, 3, {40, 60}, dtype);
      rule.least = dtype == DType::i64 ? -0x1p63 : 0;
      rule.greatest = dtype == DType::i64 ? 0x1p63 : 0x1p64;
      rule.holds_zero = rule.holds_all = true;
      apply_family(tensor, rule);
      std::vector<std::uint64_t> out(2400);
      std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
      return out;
    };
    const auto own = words(InputFamily::as_declared);
    const std::uint64_t least = dtype == DType::i64 ? std::uint64_t{1} << 63 : 0;
    const auto halves = words(InputFamily::constant), ends = words(InputFamily::extremes);
    for (std::size_t i = 0; i < own.size(); ++i) {
      CHECK((halves[i] >> 32) == (halves[0] >> 32));
      CHECK((halves[i] & 0xffffffff) == (own[i] & 0xffffffff));
    }
    for (const std::uint64_t end : {least, least + 1, ~least, ~least - 1})
      CHECK(std::ranges::count(ends, end) > 50);
    CHECK(std::ranges::count(words(InputFamily::one_value, 3), ~least) == 2400);
    const auto tiles = words(InputFamily::half_copy);
    CHECK(std::equal(tiles.begin(), tiles.begin() + 30, tiles.begin() + 30));
    CHECK(tiles[5] == own[5]);
    CHECK(std::ranges::count(words(InputFamily::sparse), 0) > 2000);
    const auto sizes = words(InputFamily::extremes, 3);
    std::set<int> bits;
    int powers = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool is_below = dtype == DType::i64 && sizes[i] >> 63 != 0;
      bits.insert(static_cast<int>(std::bit_width(is_below ? ~sizes[i] : sizes[i])));
      powers += std::has_single_bit(sizes[i]) ? 1 : 0;
    }
    CHECK(bits.size() > 60);
    CHECK(powers > 200);
    FamilyRule rule = rule_for(InputFamily::one_value, 0, 3, {40, 60}, dtype);
    rule.holds_zero = rule.holds_all = true;
    CHECK(portable::odd_element(rule, 1) >= 1200);
  }
}

TEST_SUITE_END();
