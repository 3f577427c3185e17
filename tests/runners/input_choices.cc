#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/other_scalars.h"
#include "tests/runners/input_spec.h"

using namespace warpath;
using namespace warpath::test;

namespace {

using Of = FamilyChoice::Of;

/// Form numbers of each family in `of`, by what it is combined with.
using Forms = std::map<InputFamily, std::multiset<int>>;
Forms forms_of(const std::vector<FamilyChoice>& choices,
               Of of,
               bool but_for_one,
               bool against_specials) {
  Forms out;
  for (const FamilyChoice& choice : choices) {
    if (choice.of == of && choice.but_for_one == but_for_one && !choice.but_for_one_of_each &&
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

TEST_SUITE_BEGIN("input_choices");

TEST_CASE(
    "of three inputs each has every structure alone, but for one element: zeros in one may hide "
    "what another one shows") {
  const KernelSpec spec =
      spec_of(input("a", "[40, 60]") + "," + input("b", "[60, 50]") + "," + input("c", "[60]"));
  std::set<std::uint8_t> alone;
  for (const FamilyChoice& choice : structure_choices(spec, spec.workloads.front())) {
    if (choice.family != InputFamily::identity || !choice.but_for_one) continue;
    CHECK(choice.of == Of::one);
    for (std::size_t tensor = 0; tensor < 3; ++tensor)
      CHECK(choice.has(tensor) == (tensor == choice.which));
    alone.insert(choice.which);
  }
  CHECK(alone == std::set<std::uint8_t>{0, 1, 2});
}

TEST_CASE("structures of numbers from one side of zero stay between the ends of their rule") {
  const KernelSpec spec = spec_of(
      R"({"name": "x", "type": "tensor", "tensor_spec": {"shape": [8, 30], "dtype": "float32", "init": {"kind": "uniform", "low": 2.5, "high": 4.0}}})");
  for (const FamilyChoice& choice : structure_choices(spec, spec.workloads.front())) {
    CAPTURE(choice.label());
    Tensor x = materialize(spec, spec.io.args[0], spec.workloads.front(), 0);
    apply_family(x, family_rule(spec, spec.io.args[0], spec.workloads.front(), choice, 0, 3));
    for (std::int64_t i = 0; i < x.elements(); ++i) CHECK((x.at(i) >= 2.5 && x.at(i) <= 4));
    if (choice == FamilyChoice{.family = InputFamily::ascending})
      CHECK((x.at(0) < 2.7 && x.at(29) > 3.8));
  }
}

TEST_CASE(
    "numbers drawn from one side of zero beside others from around it: all keep to their ranges, "
    "which one factor for all may change") {
  const auto drawn = [](const char* name, const char* low, const char* high) {
    return std::string(R"({"name": ")") + name +
           R"(", "type": "tensor", "tensor_spec": {"shape": [8, 30], "dtype": "float32", "init": )" +
           R"({"kind": "uniform", "low": )" + low + R"(, "high": )" + high + "}}}";
  };
  const auto largest = [&](const KernelSpec& spec, std::size_t arg, InputFamily family) {
    Tensor x = materialize(spec, spec.io.args[arg], spec.workloads.front(), 0);
    apply_family(x, family_rule(spec, spec.io.args[arg], spec.workloads.front(), family, 3));
    double out = 0;
    for (std::int64_t i = 0; i < x.elements(); ++i) out = std::max(out, std::abs(x.at(i)));
    return out;
  };
  const KernelSpec system = spec_of(drawn("a", "-1.0", "1.0") + "," + drawn("b", "2.0", "3.0")),
                   alone = spec_of(drawn("a", "-1.0", "1.0"));
  for (const InputFamily family : {InputFamily::shifted, InputFamily::halves}) {
    CHECK(largest(system, 0, family) <= 1);
    CHECK(largest(system, 1, family) <= 3);
    CHECK(largest(alone, 0, family) > 1);
  }
  CHECK(largest(system, 0, InputFamily::huge) > 100);
  CHECK(largest(system, 1, InputFamily::huge) > 2000);
}

TEST_CASE("each integer may be the place before its own, in chains of 16384") {
  const KernelSpec spec = spec_of(
      R"({"name": "i", "type": "tensor", "tensor_spec": {"shape": [20000], "dtype": "int32", "init": {"kind": "randint", "low": 0, "high": 20000}}})");
  const ArgSpec& arg = spec.io.args.front();
  Tensor links = materialize(spec, arg, spec.workloads.front(), 0);
  apply_family(links, family_rule(spec, arg, spec.workloads.front(),
                                  {.family = InputFamily::identity, .form = 1}, 0, 3));
  for (std::int64_t i = 0; i < 20000; ++i) CHECK(links.at(i) == (i % 16384 > 0 ? i - 1 : i));
}

TEST_CASE("beside numbers at equal distances integers stay as declared, not zero here and there") {
  const KernelSpec spec = spec_of(input("x", "[40]") + "," + input("i", "[40]", "int32"));
  const ArgSpec& integers = spec.io.args[1];
  const Tensor own = materialize(spec, integers, spec.workloads.front(), 0);
  Tensor beside = own;
  apply_family(beside, family_rule(spec, integers, spec.workloads.front(),
                                   {.family = InputFamily::regular, .form = 5}, 1, 3));
  CHECK(beside.bytes == own.bytes);
}

TEST_CASE("zeros in every other column are tried apart, equal elements in all tensors at once") {
  const KernelSpec spec = spec_of(input("a", "[40, 60]") + "," + input("b", "[60, 50]"));
  std::map<int, std::set<Of>> of;
  for (const FamilyChoice& choice : structure_choices(spec, spec.workloads.front())) {
    if (choice.family != InputFamily::regular) continue;
    CHECK((choice.but_for_one || choice.but_for_one_of_each));
    of[choice.form].insert(choice.of);
  }
  CHECK(of.size() == 6);
  for (const auto& [form, targets] : of)
    CHECK(targets == (form < 2 ? std::set{Of::even_ones, Of::odd_ones} : std::set{Of::all}));
}

TEST_CASE("integers count upwards, ascend and descend through the values of their rule") {
  const KernelSpec spec = spec_of(
      R"({"name": "i", "type": "tensor", "tensor_spec": {"shape": [2, 300], "dtype": "int32", "init": {"kind": "randint", "low": -20, "high": 100}}})");
  const auto made = [&](const FamilyChoice& choice) {
    const ArgSpec& arg = spec.io.args.front();
    Tensor tensor = materialize(spec, arg, spec.workloads.front(), 0);
    apply_family(tensor, family_rule(spec, arg, spec.workloads.front(), choice, 0, 3));
    std::vector<double> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) out.push_back(tensor.at(i));
    return out;
  };
  const auto counted = made({.family = InputFamily::identity});
  for (std::size_t i = 1; i < 300; ++i)
    CHECK(counted[i] == (counted[i - 1] == 99 ? -20 : counted[i - 1] + 1));
  const auto but_for_one = made({.family = InputFamily::identity, .but_for_one = true});
  int elsewhere = 0;
  for (std::size_t i = 0; i < 600; ++i)
    elsewhere += but_for_one[i] == static_cast<double>((i % 300 + 20) % 120) - 20 ? 0 : 1;
  CHECK(elsewhere == 1);
  for (const int form : {0, 1}) {
    auto line = made({.family = InputFamily::ascending, .form = form});
    line.resize(300);
    if (form == 1) std::ranges::reverse(line);
    CHECK(std::ranges::is_sorted(line));
    CHECK((line.front() >= -20 && line.front() < -18 && line.back() > 97 && line.back() <= 99));
  }
}

TEST_CASE(
    "places that the spec counts through may be others: any of a tensor that is read, distinct "
    "ones where results go") {
  const auto index = [](const std::string& of, int step, const std::string& rows = "30") {
    return R"({"name": "i", "type": "tensor", "tensor_spec": {"shape": [20], "dtype": "int32", "init": {"kind": "arange", "step": )" +
           std::to_string(step) + R"(}, "indexes": ")" + of + R"("}}, )" +
           input("t", "[" + rows + ", 8]");
  };
  const auto found = [](const KernelSpec& spec) {
    const ArgSpec& arg = spec.io.args.front();
    const Workload& workload = spec.workloads.front();
    std::set<std::vector<double>> out;
    for (const FamilyChoice& choice : structure_choices(spec, workload)) {
      if (!changes(choice.family, spec, arg, workload) || !choice.has(0)) continue;
      Tensor tensor = materialize(spec, arg, workload, 0);
      apply_family(tensor, family_rule(spec, arg, workload, choice, 0, 3));
      std::vector<double> values;
      for (std::int64_t k = 0; k < tensor.elements(); ++k) values.push_back(tensor.at(k));
      out.insert(values);
    }
    return out;
  };
  bool repeats = false, reaches_end = false;
  for (const auto& values : found(spec_of(index("t", 1)))) {
    repeats = repeats || std::set<double>(values.begin(), values.end()).size() < 20;
    reaches_end = reaches_end || std::ranges::count(values, 29) > 0;
    CHECK((std::ranges::min(values) >= 0 && std::ranges::max(values) <= 29));
  }
  CHECK((repeats && reaches_end));
  // y has 40 rows: results may go where the places of a tensor of 40 rows say
  for (const std::string& places : {index("y", 1), index("t", 1, "40")}) {
    const auto written = found(spec_of(places));
    CHECK(written.size() >= 3);
    for (const auto& values : written) {
      CHECK(std::set<double>(values.begin(), values.end()).size() == 20);
      CHECK(std::ranges::max(values) == 19);
    }
  }
  CHECK(found(spec_of(index("t", 2, "40"))).empty());  // begins of ranges, maybe
}

TEST_CASE(
    "scalars that a kernel receives differ in one family; compiled ones and integers do not") {
  const auto spec = [](const std::string& scalar) {
    return spec_of(input("x", "[4, 8]") + R"(, {"name": "s", )" + scalar + "}");
  };
  const auto others = [](const KernelSpec& made) {
    return std::ranges::count(stress_choices(made, made.workloads.front()),
                              InputFamily::other_scalars, &FamilyChoice::family);
  };
  const KernelSpec received = spec(R"("type": "float", "value": 0.5)");
  CHECK(others(received) == 1);
  const auto value = [&](InputFamily family) {
    return std::get<double>(
        *scalar_on({.family = family}, received, received.io.args[1], received.workloads.front()));
  };
  CHECK(value(InputFamily::other_scalars) == 0.375);
  CHECK(value(InputFamily::tiny) == 0.5);
  CHECK(others(spec(R"("type": "float", "value": 0)")) == 1);
  CHECK(others(spec(R"("type": "int", "value": 3)")) == 0);
  KernelSpec resampling = received;
  resampling.source = "__global__ void k(float s) { y[i] = x[(int)(i / s)]; }";
  CHECK(others(resampling) == 0);
  CHECK(others(spec(R"("type": "float", "value": 0.5, "is_meta": true)")) == 0);
}

TEST_CASE(
    "of several scalars each differs alone too: what is known of one says nothing of others") {
  const KernelSpec spec = spec_of(
      input("x", "[4, 8]") +
      R"(, {"name": "s", "type": "float", "value": 0.5}, {"name": "zero", "type": "float", "value": 0})"
      R"(, {"name": "n", "type": "int", "value": 3}, {"name": "t", "type": "float", "value": 2})");
  const Workload& workload = spec.workloads.front();
  const auto value = [&](const FamilyChoice& choice, const char* name) {
    return std::get<double>(*scalar_on(choice, spec, *spec.io.find(name), workload));
  };
  std::set<std::vector<double>> found;
  for (const FamilyChoice& choice : stress_choices(spec, workload)) {
    if (choice.family != InputFamily::other_scalars) continue;
    found.insert({value(choice, "s"), value(choice, "zero"), value(choice, "t")});
  }
  CHECK(found == std::set<std::vector<double>>{
                     {0.375, 0.5, 1.5}, {0.375, 0, 2}, {0.5, 0.5, 2}, {0.5, 0, 1.5}});
  CHECK(FamilyChoice{.family = InputFamily::other_scalars, .form = 2}.label() ==
        "other_scalars (scalar 2 alone)");
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
  const FamilyChoice reversed{.family = InputFamily::opposed, .form = 1};
  const FamilyRule rule =
      family_rule(spec, spec.io.args.at(0), spec.workloads.at(0), reversed, 0, 1);
  CHECK(portable::family_value(rule, 5, 0.25, 0.25) == -9.75);
  const auto choices = stress_choices(spec, spec.workloads.at(0));
  CHECK(std::ranges::count(choices, opposed) == 1);
  CHECK(std::ranges::count(choices, reversed) == 1);
}

TEST_CASE(
    "infinities are put beside masks, offsets and places of which -1 is none, and NaN where the "
    "spec's text says what becomes of it") {
  const auto has = [](const KernelSpec& spec, InputFamily family) {
    const auto choices = stress_choices(spec, spec.workloads.at(0));
    return std::ranges::count(choices, family, &FamilyChoice::family) == 1;
  };
  const std::string folder = WARPATH_SOURCE_ROOT "/tests/data/integrity/";
  const KernelSpec masked = load_specs(folder + "masked_rows/spec.json").at(0);
  CHECK(has(masked, InputFamily::masked_infinities));
  for (const char* const name : {"segment_sum", "padded_bag"})
    CHECK(has(load_specs(folder + name + "/spec.json").at(0), InputFamily::few_infinite_lines));
  for (const char* const name : {"masked_rows", "take"})
    CHECK_FALSE(
        has(load_specs(folder + name + "/spec.json").at(0), InputFamily::few_infinite_lines));
  CHECK_FALSE(has(masked, InputFamily::not_a_number));
  KernelSpec peak = load_specs(folder + "peak_or_nan/spec.json").at(0);
  CHECK_FALSE(has(peak, InputFamily::masked_infinities));
  CHECK(has(peak, InputFamily::not_a_number));
  const auto looks = [&](const std::string& condition) {
    peak.source = "__global__ void k(float* x, int i) { if (" + condition + ") x[i] = 0; }";
    return has(peak, InputFamily::not_a_number);
  };
  for (const char* const condition : {"x[i] != x[i]", "p.a == p.a", "__hisnan(x[i])"})
    CHECK(looks(condition));
  for (const char* const condition :
       {"x[i] != x[i + 1]", "x[i] == x[i] + 1", "x[0] > x[i]", "i == i++", "isnan"})
    CHECK_FALSE(looks(condition));
}

TEST_CASE("two tensors are constants far above and far below 0, beside a third as declared") {
  const KernelSpec spec = load_specs(WARPATH_SOURCE_ROOT "/specs/attention_causal.json").at(0);
  const FamilyChoice far_apart{.family = InputFamily::far_apart};
  std::size_t changed = 0;
  for (const char* const name : {"q", "k", "v"}) {
    const auto arg = std::ranges::find(spec.io.args, name, &ArgSpec::name);
    const FamilyRule rule = family_rule(spec, *arg, spec.workloads.at(0), far_apart, changed++, 1);
    CHECK(portable::family_value(rule, 5, 0.25, 0.25) == (changed == 1   ? 128
                                                          : changed == 2 ? -128
                                                                         : 0.25));
  }
  CHECK(std::ranges::count(stress_choices(spec, spec.workloads.at(0)), far_apart) == 1);
  const KernelSpec one = load_specs(WARPATH_SOURCE_ROOT "/specs/softmax_scaled.json").at(0);
  CHECK(std::ranges::count(stress_choices(one, one.workloads.at(0)), far_apart) == 0);
}

TEST_CASE(
    "every kind of a structure is a choice of its own: in the even and the odd tensors, but for "
    "one element, beside special numbers, and whole") {
  const KernelSpec spec = spec_of(input("a", "[40, 60]") + "," + input("b", "[60, 50]"));
  const auto choices = structure_choices(spec, spec.workloads.front());
  for (const Of of : {Of::even_ones, Of::odd_ones}) {
    for (const bool but_for_one : {true, false}) {
      Forms found = forms_of(choices, of, but_for_one, false);
      const auto first = static_cast<std::size_t>(kFirstStructure);
      // alike is of all tensors, and who takes a relation for granted is seen but for one element
      CHECK(found.size() + (but_for_one ? 1 : 2) == kInputFamilies.size() - first);
      CHECK(kinds(found[InputFamily::zero_block]) == std::multiset<int>{0, 1, 2});
      CHECK(found[InputFamily::repeated_tile] == std::multiset<int>{0, 1, 2});
      for (const InputFamily two : {InputFamily::permutation, InputFamily::one_value,
                                    InputFamily::half_copy, InputFamily::ascending}) {
        CHECK(found[two] == std::multiset<int>{0, 1});
      }
      CHECK(found[InputFamily::triangular] == std::multiset<int>{0, 1, 2});
      for (const InputFamily one : {InputFamily::identity, InputFamily::low_rank})
        CHECK(found[one] == std::multiset<int>{0});
    }
    Forms beside = forms_of(choices, of, false, true);
    CHECK(kinds(beside[InputFamily::zero_block]) == std::multiset<int>{0, 1, 2});
    CHECK(beside[InputFamily::one_value] == std::multiset<int>{1});
    CHECK(beside[InputFamily::triangular] == std::multiset<int>{0, 1, 2});
    CHECK(beside.count(InputFamily::ascending) == 0);
    // Of what is zero each kind has each place once.
    std::multiset<int> zeros;
    for (const FamilyChoice& choice : choices) {
      if (choice.of == of && choice.family == InputFamily::zero_block &&
          !choice.but_for_one_of_each)
        zeros.insert(choice.form);
    }
    CHECK(zeros == std::multiset<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  }
  CHECK(choices.size() <= 146);
  std::set<std::string> labels;
  for (const FamilyChoice& choice : choices) labels.insert(choice.label());
  CHECK(labels.size() == choices.size());
  CHECK(
      labels.contains("zero_block (lines amid) in every other tensor, from the first, special "
                      "numbers in the others"));
}

TEST_CASE(
    "tensors are alike where there are two; one element of each line is odd where there are "
    "lines") {
  const auto of_each = [](const std::string& inputs, InputFamily family) {
    const KernelSpec spec = spec_of(inputs);
    const auto choices = structure_choices(spec, spec.workloads.front());
    return std::ranges::count_if(choices, [&](const FamilyChoice& choice) {
      return choice.family == family && choice.but_for_one_of_each;
    });
  };
  const std::string matrix = input("a", "[40, 60]"), vector = input("x", "[60]");
  CHECK(of_each(matrix, InputFamily::alike) == 0);
  CHECK(of_each(matrix + "," + vector, InputFamily::alike) == 4);
  CHECK(of_each(matrix, InputFamily::identity) == 1);
  CHECK(of_each(matrix, InputFamily::triangular) == 0);
  CHECK(of_each(vector, InputFamily::ascending) == 0);
}

TEST_CASE("a choice that changes nothing, or nothing else than another one, is not made") {
  const auto choices = [](const std::string& inputs) {
    const KernelSpec spec = spec_of(inputs);
    return structure_choices(spec, spec.workloads.front());
  };
  for (const FamilyChoice& choice : choices(input("x", "[40]"))) {
    const bool is_regular = choice.family == InputFamily::regular;
    CHECK((choice.of == Of::even_ones || is_regular));
    CHECK_FALSE(choice.against_specials);
    CHECK(choice.form < (choice.family == InputFamily::zero_block ? 3 : is_regular ? 6 : 2));
  }
  // A vector beside a matrix: what only matrices have is tried where the matrix is.
  const auto mixed = choices(input("a", "[40, 60]") + "," + input("x", "[60]"));
  CHECK(forms_of(mixed, Of::even_ones, true, false)[InputFamily::repeated_tile] ==
        std::multiset<int>{0, 1, 2});
  CHECK(forms_of(mixed, Of::odd_ones, true, false)[InputFamily::repeated_tile] ==
        std::multiset<int>{0});
  CHECK(forms_of(mixed, Of::odd_ones, true, false)[InputFamily::zero_block] ==
        std::multiset<int>{0, 1, 2});
  // Indices have their own values, zeros and orders, and no special numbers.
  for (const FamilyChoice& choice : choices(input("i", "[40]", "int32"))) {
    CHECK((choice.family == InputFamily::repeated_tile || choice.family == InputFamily::half_copy ||
           choice.family == InputFamily::one_value || choice.family == InputFamily::zero_block ||
           choice.family == InputFamily::identity || choice.family == InputFamily::ascending ||
           choice.family == InputFamily::regular));
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
