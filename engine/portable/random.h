#pragma once

#include "engine/portable/value.h"

/// Counter-based random numbers: the single implementation behind engine/base/counter_random.h and
/// device kernels.
namespace warpath::portable {

struct Words4 {
  Bits x, y, z, w;
};

/// Philox4x32 (Salmon et al. 2011): 128 random bits of `counter` under `key`. Ten rounds are the
/// authors' choice, seven the fewest that pass their tests.
template <int rounds = 10>
inline Words4 philox(Words4 counter, Bits key_low, Bits key_high) {
  for (int round = 0; round < rounds; ++round) {
    const Word even = Word{0xD2511F53U} * counter.x;
    const Word odd = Word{0xCD9E8D57U} * counter.z;
    counter =
        Words4{static_cast<Bits>(odd >> 32U) ^ counter.y ^ key_low, static_cast<Bits>(odd),
               static_cast<Bits>(even >> 32U) ^ counter.w ^ key_high, static_cast<Bits>(even)};
    key_low += 0x9E3779B9U;
    key_high += 0xBB67AE85U;
  }
  return counter;
}

inline Bits low_word(Word x) {
  return static_cast<Bits>(x);
}
inline Bits high_word(Word x) {
  return static_cast<Bits>(x >> 32U);
}

/// 64 random bits of element `i`.
inline Word random_word(Word seed, Word i, Bits stream = 0) {
  const Word block = i / 2;
  const Words4 words =
      philox(Words4{low_word(block), high_word(block), stream, 0}, low_word(seed), high_word(seed));
  return i % 2 == 0 ? words.x | Word{words.y} << 32U : words.z | Word{words.w} << 32U;
}

/// splitmix64's finaliser: a bijective mix of 64 bits.
inline constexpr Word mix(Word x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// The 53 high bits as a number in [0, 1).
inline constexpr double unit(Word bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

/// High 64 bits of a product.
inline Word multiply_high(Word a, Word b) {
  const Word al = low_word(a), ah = high_word(a), bl = low_word(b), bh = high_word(b);
  const Word low = al * bl, first = ah * bl + (low >> 32U), second = al * bh + low_word(first);
  return ah * bh + (first >> 32U) + (second >> 32U);
}

/// Natural logarithm of a positive normal number, within 1 ulp (argument reduction and series of
/// Sun's fdlibm, e_log.c).
inline double logarithm(double x) {
  // x = 2^k * (1 + f) with sqrt(1/2) < 1 + f < sqrt(2).
  const Word bits = bits_of(x);
  int k = static_cast<int>(bits >> 52U) - 1023;
  double m = double_of((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double t1 = w * (3.999999999940941908e-01 +
                         w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double t2 = z * (6.666666666666735130e-01 +
                         w * (2.857142874366239149e-01 +
                              w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half_square = 0.5 * f * f;
  const double series = s * (half_square + (t1 + t2));
  const double dk = k;
  return dk * 6.93147180369123816490e-01 -
         ((half_square - (series + dk * 1.90821492927058770002e-10)) - f);
}

// Wichura 1988, table for PPND16: numerator and denominator of the centre, the shoulders and the
// tails; coefficients ascending.
struct Polynomial {
  double c[8];
};
constexpr Polynomial kCentreTop{{3.3871328727963666080e0, 1.3314166789178437745e2,
                                 1.9715909503065514427e3, 1.3731693765509461125e4,
                                 4.5921953931549871457e4, 6.7265770927008700853e4,
                                 3.3430575583588128105e4, 2.5090809287301226727e3}};
constexpr Polynomial kCentreBottom{{1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
                                    5.3941960214247511077e3, 2.1213794301586595867e4,
                                    3.9307895800092710610e4, 2.8729085735721942674e4,
                                    5.2264952788528545610e3}};
constexpr Polynomial kShoulderTop{{1.42343711074968357734e0, 4.63033784615654529590e0,
                                   5.76949722146069140550e0, 3.64784832476320460504e0,
                                   1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4}};
constexpr Polynomial kShoulderBottom{{1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                                      6.89767334985100004550e-1, 1.48103976427480074590e-1,
                                      1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                      1.05075007164441684324e-9}};
constexpr Polynomial kTailTop{{6.65790464350110377720e0, 5.46378491116411436990e0,
                               1.78482653991729133580e0, 2.96560571828504891230e-1,
                               2.65321895265761230930e-2, 1.24266094738807843860e-3,
                               2.71155556874348757815e-5, 2.01033439929228813265e-7}};
constexpr Polynomial kTailBottom{{1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                  1.48753612908506148525e-2, 7.86869131145613259100e-4,
                                  1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                  2.04426310338993978564e-15}};

/// By Horner's rule.
inline double evaluate(const Polynomial& p, double x) {
  double out = p.c[7];
  for (int i = 6; i >= 0; --i) out = out * x + p.c[i];
  return out;
}

/// Inverse of the standard normal distribution at p in (0, 1): PPND16 of AS241 (Wichura 1988),
/// relative error about 1e-16.
inline double normal_quantile(double p) {
  const double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * evaluate(kCentreTop, r) / evaluate(kCentreBottom, r);
  }
  const double r = sqrt(-logarithm(q < 0 ? p : 1 - p));
  const double magnitude =
      r <= 5 ? evaluate(kShoulderTop, r - 1.6) / evaluate(kShoulderBottom, r - 1.6)
             : evaluate(kTailTop, r - 5) / evaluate(kTailBottom, r - 5);
  return q < 0 ? -magnitude : magnitude;
}

/// The image of `x` under a bijection of [0, n) chosen by `key`: a four-round Feistel network
/// walked until the value is in range (the domain is below 4n: few steps).
inline Word shuffled(Word x, Word n, Word key) {
  unsigned half = 1;
  while ((Word{1} << (2 * half)) < n) ++half;
  const Word mask = (Word{1} << half) - 1;
  do {
    Word left = x >> half, right = x & mask;
    for (Word round = 0; round < 4; ++round) {
      const Word next = left ^ (mix(key ^ mix(right << 2U | round)) & mask);
      left = right;
      right = next;
    }
    x = left << half | right;
  } while (x >= n);
  return x;
}

}  // namespace warpath::portable
