#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runners/inputs/input_choices.h"
#include "runners/inputs/other_scalars.h"
#include "tests/runners/input_spec.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("neutral_inputs");

TEST_CASE("a scalar that is declared 0 becomes another number, beside tensors that are 0") {
  const KernelSpec spec = spec_of(
      R"({"name": "z", "type": "tensor", "tensor_spec": {"shape": [40], "dtype": "float32", "init": {"kind": "zeros"}}},
         {"name": "beta", "type": "float", "value": 0})");
  const Workload& workload = spec.workloads.front();
  const FamilyChoice choice{.family = InputFamily::other_scalars};
  REQUIRE(free_scalars(spec, workload) == 1);
  CHECK(std::get<double>(*scalar_on(choice, spec, spec.io.args[1], workload)) != 0);
  Tensor zeros{DType::f32, {40}, std::vector<std::byte>(160)};
  apply_family(zeros, family_rule(spec, spec.io.args[0], workload, choice, 0, 1));
  CHECK(zeros.at(0) != 0);
}

TEST_CASE("a mask that excludes nothing has both values in other inputs, an output of it none") {
  const auto mask = [](const std::string& role) {
    const KernelSpec spec =
        spec_of(R"({"name": "m", "type": "tensor", "role": ")" + role +
                R"(", "tensor_spec": {"shape": [40], "dtype": "bool", "init": {"kind": "ones"}}})");
    Tensor values{DType::boolean, {40}, std::vector<std::byte>(40, std::byte{1})};
    const Workload& workload = spec.workloads.front();
    if (!changes(InputFamily::sparse, spec, spec.io.args[0], workload)) return values.at(0) * 40;
    apply_family(values, family_rule(spec, spec.io.args[0], workload, InputFamily::sparse, 1));
    double sum = 0;
    for (std::int64_t i = 0; i < 40; ++i) sum += values.at(i);
    return sum;
  };
  CHECK((mask("input") > 0 && mask("input") < 20));
  CHECK(mask("inout") == 40);
}

TEST_SUITE_END();
