#include "engine/counter_random.h"

#include <bit>
#include <cmath>

namespace warpath {
namespace {

/// c[0] + c[1] x + ... + c[7] x^7 by Horner's rule.
constexpr double polynomial(const std::array<double, 8>& c, double x) {
  double out = c[7];
  for (std::size_t i = 7; i-- > 0;) out = out * x + c[i];
  return out;
}

// Wichura 1988, table for PPND16: numerator and denominator of the centre, the shoulders and the tails.
constexpr std::array<double, 8> kA{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                   1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> kB{1.0,                     4.2313330701600911252e1, 6.8718700749205790830e2,
                                   5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                                   2.8729085735721942674e4, 5.2264952788528545610e3};
constexpr std::array<double, 8> kC{1.42343711074968357734e0,  4.63033784615654529590e0,  5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kD{1.0,                       2.05319162663775882187e0,  1.67638483018380384940e0,
                                   6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                   5.47593808499534494600e-4, 1.05075007164441684324e-9};
constexpr std::array<double, 8> kE{6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> kF{1.0,                       5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                   1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                   1.42151175831644588870e-7, 2.04426310338993978564e-15};

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(even)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i, std::uint32_t stream) {
  const std::uint64_t block = i / 2;
  const auto words =
      philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U), stream, 0},
                 {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)});
  return i % 2 == 0 ? words[0] | std::uint64_t{words[1]} << 32U : words[2] | std::uint64_t{words[3]} << 32U;
}

double portable_log(double x) {
  // x = 2^k * (1 + f) with sqrt(1/2) < 1 + f < sqrt(2).
  auto bits = std::bit_cast<std::uint64_t>(x);
  int k = static_cast<int>(bits >> 52U) - 1023;
  bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
  double m = std::bit_cast<double>(bits);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double t2 = z * (6.666666666666735130e-01 +
                         w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  const double series = s * (half_square + (t1 + t2));
  const double dk = k;
  return dk * 6.93147180369123816490e-01 - ((half_square - (series + dk * 1.90821492927058770002e-10)) - f);
}

double inverse_normal(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double magnitude = r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                                  : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace warpath
