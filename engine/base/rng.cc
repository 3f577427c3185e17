#include "engine/base/rng.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "engine/base/hash.h"

namespace warpath {

Rng::Rng(std::uint64_t root_seed, std::string_view purpose, std::uint64_t index) {
  const Hash128 seed = Hasher().add(root_seed).add(purpose).add(index).digest();
  state_ = {mix64(seed.high), mix64(seed.low), mix64(seed.high ^ mix64(seed.low)),
            mix64(seed.low + 1)};
}

double Rng::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
  }
}

double Rng::gamma(double shape) {
  if (shape < 1) {
    const double u = 1 - uniform();  // (0, 1]
    return gamma(shape + 1) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    if (std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

void Rng::dirichlet(double concentration, std::span<double> out) {
  double sum = 0;
  for (double& x : out) sum += x = gamma(concentration);
  for (double& x : out) x = sum > 0 ? x / sum : 1.0 / static_cast<double>(out.size());
}

std::vector<std::uint32_t> Rng::permutation(std::uint32_t size) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = size; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace warpath
