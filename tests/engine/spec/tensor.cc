#include "engine/spec/tensor.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/base/rng.h"

namespace warpath {
namespace {

constexpr std::int64_t kElements = 257, kBegin = 3;

/// Ordinary values, ties of rounding, ends of ranges, zeros of both signs, what is not finite.
std::vector<double> telling_values(const DTypeInfo& type) {
  std::vector<double> out;
  Rng rng(7, "telling");
  for (std::int64_t i = kBegin; i < kElements; ++i) out.push_back((rng.uniform() - 0.5) * 200);
  if (!type.is_float) {
    for (double& value : out) value = static_cast<double>(static_cast<int>(value) & 1);
    return out;
  }
  std::size_t at = 0;
  for (const double special :
       {0.0, -0.0, 1 + 0x1p-8, 1 + 0x1p-11, 65504.0, 65520.0, 0x1p-24, 0x1p-25, 1e308, -1e-308,
        std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()})
    out[at++] = special;
  return out;
}

TEST_SUITE("tensor") {
  TEST_CASE("a range is written and read as its elements are one by one, of every type") {
    for (const DTypeInfo& type : kDTypes) {
      const DType dtype = type.dtype;
      CAPTURE(type.name);
      const std::vector<double> values = telling_values(type);
      Tensor at_once = make_tensor(dtype, {kElements}), each = at_once;
      at_once.write(kBegin, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        each.set(kBegin + static_cast<std::int64_t>(i), values[i]);
      CHECK(at_once == each);
      std::vector<double> read(values.size());
      at_once.read(kBegin, read);
      for (std::size_t i = 0; i < read.size(); ++i)
        CHECK(std::bit_cast<std::uint64_t>(read[i]) ==
              std::bit_cast<std::uint64_t>(each.at(kBegin + static_cast<std::int64_t>(i))));
    }
  }
}

}  // namespace
}  // namespace warpath
