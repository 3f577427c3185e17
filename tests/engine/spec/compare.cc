#include "engine/spec/compare.h"

#include <doctest/doctest.h>

#include <limits>

using namespace warpath;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor tensor(std::initializer_list<double> values, DType dtype = DType::f32) {
  Tensor out = make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  std::int64_t i = 0;
  for (const double x : values) out.set(i++, x);
  return out;
}
const Tolerance kLoose{.atol = 0.1, .rtol = 0.1, .norm = 1};

}  // namespace

TEST_SUITE_BEGIN("compare");

TEST_CASE("each element has its own bound and the worst one is named") {
  const auto result = compare(tensor({1, 2.5, 3}), tensor({1, 2, 3}), kLoose);
  CHECK_FALSE(result.passed);
  CHECK(result.bad_elements == 1);
  CHECK(result.worst_index == 1);
  CHECK(result.max_abs_error == 0.5);
  CHECK(result.worst_ratio == doctest::Approx(0.5 / 0.3));
  CHECK(result.detail.find(
            "1 of 3 elements out of bounds; worst element 1: got 2.5, reference 2") == 0);
  CHECK(compare(tensor({1, 2.25, 3}), tensor({1, 2, 3}), kLoose).passed);
}

TEST_CASE("the norm bound holds even if every element passes its own") {
  Tolerance tolerance = kLoose;
  tolerance.norm = 0.01;
  const auto result = compare(tensor({1.1, 1.1}), tensor({1, 1}), tolerance);
  CHECK(result.bad_elements == 0);
  CHECK_FALSE(result.passed);
  CHECK(result.relative_norm == doctest::Approx(0.1));
  CHECK(result.detail.find("relative norm") == 0);
}

TEST_CASE("non-finite values must agree in class and sign; NaN is no wildcard") {
  CHECK(compare(tensor({kNan, kInf, -kInf}), tensor({kNan, kInf, -kInf}), kLoose).passed);
  for (const auto& [out, reference] :
       {std::pair{kNan, 1.0}, {1.0, kNan}, {kInf, -kInf}, {kInf, 1.0}, {1.0, kInf}, {kNan, kInf}}) {
    const auto result = compare(tensor({out, 1}), tensor({reference, 1}), kLoose);
    CHECK_FALSE(result.passed);
    CHECK(result.worst_index == 0);
  }
}

TEST_CASE("exact asks for the same bytes") {
  const Tolerance exact{.exact = true};
  CHECK(compare(tensor({1, 2}, DType::i32), tensor({1, 2}, DType::i32), exact).passed);
  CHECK_FALSE(compare(tensor({0.0}), tensor({-0.0}), exact).passed);
  const auto result = compare(tensor({1, 5, 6}, DType::i32), tensor({1, 2, 3}, DType::i64), exact);
  CHECK(result.bad_elements == 2);
  CHECK(result.detail == "2 of 3 elements differ; first element 1: got 5, reference 2");
  CHECK(compare(tensor({1, 2}, DType::i32), tensor({1, 2}, DType::f64), exact).passed);
}

TEST_CASE("zero bounds accept equality alone and huge values do not overflow the norm") {
  const Tolerance zero{.atol = 0, .rtol = 0, .norm = 0};
  CHECK(compare(tensor({1, 0}), tensor({1, 0}), zero).passed);
  CHECK_FALSE(compare(tensor({1e-30}), tensor({0}), zero).passed);
  CHECK(compare(tensor({1e300, 1e300}, DType::f64), tensor({1e300, 1e300}, DType::f64), kLoose)
            .passed);
  CHECK(compare(tensor({1e300}, DType::f64), tensor({-1e300}, DType::f64), kLoose).relative_norm ==
        doctest::Approx(2));
}

TEST_CASE("another shape fails and coordinates are shown for matrices") {
  CHECK(compare(tensor({1, 2}), tensor({1, 2, 3}), kLoose).detail ==
        "shape [2] is not the reference's [3]");
  Tensor out = make_tensor(DType::f32, {2, 3});
  const Tensor reference = out;
  out.set(4, 9);
  CHECK(compare(out, reference, kLoose).detail.find("element 4 = [1, 1]") != std::string::npos);
}

TEST_SUITE_END();
