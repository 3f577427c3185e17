#include "engine/base/counter_random.h"

#include "engine/portable/random.h"

namespace warpath {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  const auto [x, y, z, w] =
      portable::philox({counter[0], counter[1], counter[2], counter[3]}, key[0], key[1]);
  return {x, y, z, w};
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i, std::uint32_t stream) {
  return portable::random_word(seed, i, stream);
}

double portable_log(double x) {
  return portable::logarithm(x);
}

double inverse_normal(double p) {
  return portable::normal_quantile(p);
}

}  // namespace warpath
