#include "runners/inputs/range_end.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "engine/portable/family.h"

using namespace warpath;

namespace {

std::vector<Tensor> tensor(DType dtype, const std::vector<double>& values) {
  Tensor out = make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return {out};
}

bool stays(InputFamily family,
           const std::vector<Tensor>& inputs,
           const std::vector<Tensor>& result,
           const std::vector<Tensor>& near_one) {
  return stay_in_range(family, inputs, result, near_one) == std::vector<bool>{true};
}

}  // namespace

TEST_SUITE_BEGIN("range_end");

TEST_CASE(
    "near the ends of the range what selects is judged, and, where squares fit, what squares") {
  const auto inputs = tensor(DType::f32, {-0x1p102, -0x1.8p102, -0x1p103}),
             near_one = tensor(DType::f32, {-1}), greatest = tensor(DType::f32, {-0x1p102});
  CHECK(stays(InputFamily::lowest, inputs, greatest, near_one));
  CHECK(stays(InputFamily::lowest, inputs, tensor(DType::i32, {2}), tensor(DType::i32, {2})));
  // a sum, which other kernels may add up with squares on the way
  const auto sum = tensor(DType::f32, {-0x1.2p104});
  CHECK_FALSE(stays(InputFamily::lowest, inputs, sum, tensor(DType::f32, {-4.5})));
  CHECK(stays(InputFamily::vast, inputs, sum, tensor(DType::f32, {-4.5})));
  // a quotient that is the same at any size: the baseline takes care of it
  const auto quotient = tensor(DType::f32, {0.625});
  CHECK(stays(InputFamily::highest, inputs, quotient, quotient));
  CHECK_FALSE(stays(InputFamily::subnormal, inputs, quotient, quotient));
  // the baseline itself leaves the range
  CHECK_FALSE(stays(InputFamily::vast, inputs, tensor(DType::f32, {0}), near_one));
  CHECK_FALSE(stays(InputFamily::lowest, inputs, tensor(DType::i32, {2}), tensor(DType::i32, {0})));
  CHECK_FALSE(stays(InputFamily::lowest, inputs, greatest, {}));
}

TEST_CASE(
    "of several results each is judged on its own: the places of maxima, not what is made of "
    "them") {
  const auto inputs = tensor(DType::f32, {-0x1p102, -0x1.8p102});
  const std::vector<Tensor> results{tensor(DType::i32, {0}).front(),
                                    tensor(DType::f32, {1}).front()},
      near_one{tensor(DType::i32, {0}).front(), tensor(DType::f32, {0.625}).front()};
  CHECK(stay_in_range(InputFamily::lowest, inputs, results, near_one) ==
        std::vector<bool>{true, false});
  CHECK(stay_in_range(InputFamily::lowest, inputs, results, {near_one.front()}) ==
        std::vector<bool>{false, false});
}

TEST_CASE("where lines are -infinity what selects is judged, not what computes") {
  const double low = portable::stand_in_for_bottom(DType::f32);
  const auto inputs = tensor(DType::f32, {-INFINITY, 2, -INFINITY});
  const auto judges = [&](const std::vector<double>& results, const std::vector<double>& stands) {
    return stays(InputFamily::bottom, inputs, tensor(DType::f32, results),
                 tensor(DType::f32, stands));
  };
  CHECK(judges({-INFINITY, 2}, {low, 2}));
  const double least = portable::least_finite(DType::f32);
  CHECK(stays(InputFamily::bottom, tensor(DType::f32, {least, -INFINITY}),
              tensor(DType::f32, {least}), tensor(DType::f32, {low / 2})));
  CHECK_FALSE(judges({-INFINITY, 3}, {low, 3}));           // is no input
  CHECK_FALSE(judges({-INFINITY, 2}, {low + 0x1p90, 2}));  // a sum with it
  CHECK_FALSE(judges({0, 2}, {low, 2}));
  CHECK_FALSE(stays(InputFamily::bottom, inputs, tensor(DType::i32, {1}), tensor(DType::i32, {2})));
}

TEST_CASE("where some inputs are infinite, results are judged if the others depend on none") {
  for (const InputFamily family : {InputFamily::infinite_lines, InputFamily::few_infinite_lines,
                                   InputFamily::masked_infinities}) {
    const auto judges = [&](const std::vector<double>& results, const std::vector<double>& finite) {
      return stays(family, {}, tensor(DType::f32, results), tensor(DType::f32, finite));
    };
    CHECK(judges({1, INFINITY, 3, NAN}, {1, 2, 3, 4}));
    CHECK_FALSE(judges({1, 0, 3}, {1, 2, 3}));  // what an infinity makes finite
    CHECK_FALSE(judges({NAN, INFINITY}, {1, 2}));
  }
}

TEST_CASE("a line of zeros and of what is not finite is left out, others are not") {
  Tensor expected = make_tensor(DType::f32, {4, 3});
  const std::vector<double> values{0, NAN, 0, 0, 0, 0, 1, INFINITY, 0, INFINITY, 0, -0.0};
  for (std::size_t i = 0; i < values.size(); ++i)
    expected.set(static_cast<std::int64_t>(i), values[i]);
  leave_out_undecided_lines(expected);
  for (std::int64_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    const bool left_out = i < 3 || i >= 9;
    CHECK(std::isnan(expected.at(i)) == left_out);
  }
  CHECK(expected.at(6) == 1);
}

TEST_CASE("a kernel makes numbers of NaN where it clips, not where it selects") {
  const auto made = [](const std::vector<double>& results, const std::vector<double>& declared) {
    return makes_numbers_of_nan(tensor(DType::f32, results).front(),
                                tensor(DType::f32, declared).front());
  };
  CHECK(made({0, 0, NAN}, {0.5, 0, 2}));
  CHECK_FALSE(made({NAN, 0, NAN}, {0.5, 0, 2}));
  CHECK_FALSE(made({NAN, -INFINITY}, {0.5, 2}));
}

TEST_CASE("two tensors of numbers that are read may be multiplied") {
  KernelSpec spec;
  const auto add = [&](DType dtype, ArgRole role) {
    ArgSpec& arg = spec.io.args.emplace_back();
    arg.role = role;
    arg.tensor.emplace().dtype = dtype;
  };
  add(DType::f32, ArgRole::input);
  add(DType::i32, ArgRole::input);
  add(DType::f32, ArgRole::output);
  CHECK_FALSE(may_multiply(Infinities::beside_zeros, spec));
  add(DType::f16, ArgRole::inout);
  CHECK(may_multiply(Infinities::beside_zeros, spec));
  CHECK_FALSE(may_multiply(Infinities::in_lines, spec));
}

TEST_CASE("results that a large number is part of are left out, whatever they are") {
  Tensor expected = tensor(DType::f32, {1.5, 0x1p28, -2, 3}).front();
  leave_out_changed(expected, tensor(DType::f32, {1.5, 4, -2, 3.5}).front());
  CHECK(expected.at(0) == 1.5);
  CHECK(std::isnan(expected.at(1)));
  CHECK(expected.at(2) == -2);
  CHECK(std::isnan(expected.at(3)));
  Tensor places = tensor(DType::i32, {1, 2}).front();
  const Tensor before = places;
  leave_out_changed(places, tensor(DType::i32, {1, 3}).front());
  CHECK(places.bytes == before.bytes);
}

TEST_SUITE_END();
