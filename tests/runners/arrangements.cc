#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/tensor_init.h"
#include "runners/inputs/column_indices.h"
#include "runners/inputs/input_choices.h"
#include "tests/runners/input_spec.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("arrangements");

TEST_CASE("permutations and row pointers are arranged otherwise, and stay what they are") {
  const auto index = [](const std::string& shape, const std::string& init) {
    return R"({"name": "p", "type": "tensor", "tensor_spec": {"shape": )" + shape +
           R"(, "dtype": "int32", "init": )" + init + "}}";
  };
  const auto made = [](const KernelSpec& spec, const FamilyChoice& choice) {
    const ArgSpec& arg = spec.io.args.front();
    Tensor tensor = materialize(spec, arg, spec.workloads.front(), 0);
    apply_family(tensor, family_rule(spec, arg, spec.workloads.front(), choice, 0, 3));
    std::vector<int> out;
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      out.push_back(static_cast<int>(tensor.at(i)));
    return out;
  };
  const KernelSpec permuted = spec_of(index("[2, 50]", R"({"kind": "permutation"})"));
  for (const FamilyChoice& choice : structure_choices(permuted, permuted.workloads.front())) {
    CAPTURE(choice.label());
    const std::vector<int> found = made(permuted, choice);
    for (std::ptrdiff_t line = 0; line < 100; line += 50) {
      std::set<int> values(found.begin() + line, found.begin() + line + 50);
      CHECK((values.size() == 50 && *values.begin() == 0 && *values.rbegin() == 49));
    }
  }
  CHECK(made(permuted, {.family = InputFamily::identity})[57] == 7);
  const auto but_for_two = made(permuted, {.family = InputFamily::identity, .but_for_one = true});
  int elsewhere = 0;
  for (int i = 0; i < 100; ++i)
    elsewhere += but_for_two[static_cast<std::size_t>(i)] != i % 50 ? 1 : 0;
  CHECK(elsewhere == 2);
  CHECK(made(permuted, {.family = InputFamily::permutation, .form = 1})[57] == 42);
  const KernelSpec rows = spec_of(index("[65]", R"({"kind": "csr_row_pointers", "mean": 5})"));
  std::set<std::vector<int>> kinds;
  for (const FamilyChoice& choice : structure_choices(rows, rows.workloads.front())) {
    const std::vector<int> found = made(rows, choice);
    CHECK(std::ranges::is_sorted(found));
    CHECK((found.front() == 0 && found.back() == 320));
    kinds.insert(found);
  }
  CHECK(kinds.size() == 8);
  for (const int form : {0, 1}) {
    // even ranges of five but for two beside each other
    const auto even =
        made(rows, {.family = InputFamily::ascending, .form = form, .but_for_one = true});
    std::multiset<int> lengths;
    for (std::size_t i = 1; i < even.size(); ++i) lengths.insert(even[i] - even[i - 1]);
    CHECK(lengths.count(5) == 62);
    CHECK(lengths.count(form == 0 ? 0 : 4) == 1);
  }
  CHECK(made(rows, {.family = InputFamily::ascending})[7] == 0);
  CHECK(made(rows, {.family = InputFamily::ascending})[8] == 40);
  for (const int form : {2, 3}) {  // all in one range, or all but one element
    for (const bool but_for_one : {false, true}) {
      const auto one =
          made(rows, {.family = InputFamily::ascending, .form = form, .but_for_one = but_for_one});
      const int longest = but_for_one ? 319 : 320;
      CHECK((form == 2 ? one[64] - one[63] : one[1]) == longest);
    }
  }
  const KernelSpec many = spec_of(index("[5]", R"({"kind": "csr_row_pointers", "mean": 5000})"));
  CHECK(made(many, {.family = InputFamily::ascending, .form = 2}) ==
        std::vector<int>{0, 0, 5904, 11808, 20000});
  CHECK(made(many, {.family = InputFamily::ascending, .form = 3}) ==
        std::vector<int>{0, 8192, 14096, 20000, 20000});
}

TEST_CASE("column indices follow the rows that a structure arranges, and are distinct in them") {
  const KernelSpec spec = spec_of(
      R"({"name": "rows", "type": "tensor", "tensor_spec": {"shape": [101], "dtype": "int32", "init": {"kind": "csr_row_pointers", "mean": 5}}},
         {"name": "columns", "type": "tensor", "tensor_spec": {"shape": [500], "dtype": "int32", "init": {"kind": "csr_column_indices", "row_pointers": "rows", "high": 60}}})");
  const Workload& workload = spec.workloads.front();
  for (const int form : {0, 1, 2, 3}) {
    const FamilyChoice choice{.family = InputFamily::ascending, .form = form};
    Tensor rows = materialize(spec, spec.io.args[0], workload, 0);
    apply_family(rows, family_rule(spec, spec.io.args[0], workload, choice, 0, 3));
    const auto found = columns_of_arranged_rows(spec, workload, choice, 3);
    REQUIRE(found.size() == 1);
    const Tensor& columns = found.at("columns");
    double longest = 0;
    for (std::int64_t row = 0; row < 100; ++row) {
      longest = std::max(longest, rows.at(row + 1) - rows.at(row));
      const auto end = static_cast<std::int64_t>(rows.at(row + 1));
      for (auto i = static_cast<std::int64_t>(rows.at(row)); i + 1 < end; ++i)
        CHECK(columns.at(i) < columns.at(i + 1));
    }
    CHECK(longest == (form == 0 ? 40 : form == 1 ? 10 : 60));
    for (std::int64_t i = 0; i < 500; ++i) CHECK((columns.at(i) >= 0 && columns.at(i) < 60));
  }
  CHECK(columns_of_arranged_rows(spec, workload, {.family = InputFamily::zero_block}, 3).empty());
}

TEST_SUITE_END();
