#include "runners/range_end.h"

#include <doctest/doctest.h>

#include <vector>

using namespace warpath;

namespace {

std::vector<Tensor> tensor(DType dtype, const std::vector<double>& values) {
  Tensor out = make_tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
  return {out};
}

}  // namespace

TEST_SUITE_BEGIN("range_end");

TEST_CASE(
    "near the ends of the range what selects is judged, and, where squares fit, what squares") {
  const auto inputs = tensor(DType::f32, {-0x1p102, -0x1.8p102, -0x1p103}),
             near_one = tensor(DType::f32, {-1}), greatest = tensor(DType::f32, {-0x1p102});
  CHECK(stays_in_range(InputFamily::lowest, inputs, greatest, near_one));
  CHECK(stays_in_range(InputFamily::lowest, inputs, tensor(DType::i32, {2}),
                       tensor(DType::i32, {2})));
  // a sum, which other kernels may add up with squares on the way
  const auto sum = tensor(DType::f32, {-0x1.2p104});
  CHECK_FALSE(stays_in_range(InputFamily::lowest, inputs, sum, tensor(DType::f32, {-4.5})));
  CHECK(stays_in_range(InputFamily::vast, inputs, sum, tensor(DType::f32, {-4.5})));
  // the baseline itself leaves the range
  CHECK_FALSE(stays_in_range(InputFamily::vast, inputs, tensor(DType::f32, {0}), near_one));
  CHECK_FALSE(stays_in_range(InputFamily::lowest, inputs, tensor(DType::i32, {2}),
                             tensor(DType::i32, {0})));
  CHECK_FALSE(stays_in_range(InputFamily::lowest, inputs, greatest, {}));
}

TEST_SUITE_END();
