#pragma once

/// __half and __nv_bfloat16 with their pairs. Every operation rounds once, to nearest even; the basic ones compute in
/// float, which is exact enough for that (24 >= 2 * 11 + 2 bits), fused multiply-add in double with a sticky bit.

namespace warpath_half {

/// fp32 bits to the 16-bit pattern. Both formats: sign, exponent, mantissa from the top.
struct Ieee {  // binary16
  static inline unsigned short pack(float value) {
#ifdef __F16C__
    return static_cast<unsigned short>(__builtin_ia32_vcvtps2ph(
        (float __attribute__((vector_size(16)))){value, 0, 0, 0}, 0)[0]);
#else
    const unsigned bits = warpath_bits<unsigned>(value);
    const unsigned sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // subnormal: let the adder round at 2^-24
      const float aligned = warpath_bits<float>(magnitude) + 0.5f;
      return static_cast<unsigned short>(sign | (warpath_bits<unsigned>(aligned) - 0x3f000000u));
    }
    const unsigned odd = magnitude >> 13 & 1u;
    return static_cast<unsigned short>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
#endif
  }
  static inline float unpack(unsigned short bits) {
#ifdef __F16C__
    return __builtin_ia32_vcvtph2ps((short __attribute__((vector_size(16)))){static_cast<short>(bits), 0, 0, 0, 0, 0, 0, 0})[0];
#else
    const unsigned sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return warpath_bits<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude < 0x0400u) {
      const float tiny = static_cast<float>(magnitude) * 5.9604644775390625e-8f;
      return sign ? -tiny : tiny;
    }
    return warpath_bits<float>(sign | ((magnitude << 13) + 0x38000000u));
#endif
  }
};

struct Brain {  // bfloat16
  static inline unsigned short pack(float value) {
    const unsigned bits = warpath_bits<unsigned>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>(0x7fffu);
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  static inline float unpack(unsigned short bits) { return warpath_bits<float>(static_cast<unsigned>(bits) << 16); }
};

/// a * b + c to 53 bits, the lowest of them sticky (round to odd): a later rounding to fewer bits is then exact.
static inline double fused_odd(double a, double b, double c) {
  const double product = a * b;  // exact for 16-bit operands
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  if (!(error != 0) || !(sum - sum == 0)) return sum;
  unsigned long long bits = warpath_bits<unsigned long long>(sum);
  if (bits & 1u) return sum;
  bits += (error > 0) == (sum > 0) ? 1ull : ~0ull;
  return warpath_bits<double>(bits);
}
/// double to float, the lowest bit sticky.
static inline float float_odd(double x) {
  const float near = static_cast<float>(x);
  unsigned bits = warpath_bits<unsigned>(near);
  const double error = x - static_cast<double>(near);
  if (!(error != 0) || !(near - near == 0) || (bits & 1u)) return near;
  bits += (error > 0) == (x > 0) ? 1u : ~0u;
  return warpath_bits<float>(bits);
}

template <class Format>
struct Real {
  unsigned short __x;

  Real() = default;
  Real(float v) : __x(Format::pack(v)) {}
  Real(double v) : __x(Format::pack(float_odd(v))) {}
  Real(int v) : Real(static_cast<double>(v)) {}
  Real(unsigned v) : Real(static_cast<double>(v)) {}
  Real(short v) : Real(static_cast<float>(v)) {}
  Real(unsigned short v) : Real(static_cast<float>(v)) {}
  Real(long v) : Real(static_cast<double>(v)) {}
  Real(unsigned long v) : Real(static_cast<double>(v)) {}
  Real(long long v) : Real(static_cast<double>(v)) {}
  Real(unsigned long long v) : Real(static_cast<double>(v)) {}
  static Real from_bits(unsigned short bits) {
    Real out;
    out.__x = bits;
    return out;
  }
  operator float() const { return Format::unpack(__x); }

  friend Real operator+(const Real& a, const Real& b) { return Real(float(a) + float(b)); }
  friend Real operator-(const Real& a, const Real& b) { return Real(float(a) - float(b)); }
  friend Real operator*(const Real& a, const Real& b) { return Real(float(a) * float(b)); }
  friend Real operator/(const Real& a, const Real& b) { return Real(float(a) / float(b)); }
  friend bool operator==(const Real& a, const Real& b) { return float(a) == float(b); }
  friend bool operator!=(const Real& a, const Real& b) { return float(a) != float(b); }
  friend bool operator<(const Real& a, const Real& b) { return float(a) < float(b); }
  friend bool operator<=(const Real& a, const Real& b) { return float(a) <= float(b); }
  friend bool operator>(const Real& a, const Real& b) { return float(a) > float(b); }
  friend bool operator>=(const Real& a, const Real& b) { return float(a) >= float(b); }
  Real operator-() const { return from_bits(static_cast<unsigned short>(__x ^ 0x8000u)); }
  Real operator+() const { return *this; }
  Real& operator+=(const Real& b) { return *this = *this + b; }
  Real& operator-=(const Real& b) { return *this = *this - b; }
  Real& operator*=(const Real& b) { return *this = *this * b; }
  Real& operator/=(const Real& b) { return *this = *this / b; }
};

template <class Format>
struct __attribute__((aligned(4))) Pair {
  using Element = Real<Format>;
  Element x, y;

  Pair() = default;
  Pair(const Element& a, const Element& b) : x(a), y(b) {}
  friend Pair operator+(const Pair& a, const Pair& b) { return {a.x + b.x, a.y + b.y}; }
  friend Pair operator-(const Pair& a, const Pair& b) { return {a.x - b.x, a.y - b.y}; }
  friend Pair operator*(const Pair& a, const Pair& b) { return {a.x * b.x, a.y * b.y}; }
  friend Pair operator/(const Pair& a, const Pair& b) { return {a.x / b.x, a.y / b.y}; }
  friend bool operator==(const Pair& a, const Pair& b) { return a.x == b.x && a.y == b.y; }
  Pair operator-() const { return {-x, -y}; }
  Pair& operator+=(const Pair& b) { return *this = *this + b; }
  Pair& operator-=(const Pair& b) { return *this = *this - b; }
  Pair& operator*=(const Pair& b) { return *this = *this * b; }
};

template <class Format>
static inline Real<Format> fused(Real<Format> a, Real<Format> b, Real<Format> c) {
  return Real<Format>(float_odd(fused_odd(float(a), float(b), float(c))));
}
template <class Format>
static inline bool is_nan(Real<Format> a) { return float(a) != float(a); }

}  // namespace warpath_half

using __half = warpath_half::Real<warpath_half::Ieee>;
using __half2 = warpath_half::Pair<warpath_half::Ieee>;
using __nv_bfloat16 = warpath_half::Real<warpath_half::Brain>;
using __nv_bfloat162 = warpath_half::Pair<warpath_half::Brain>;
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define WARPATH_REAL16(H, H2)                                                                          \
  WARPATH_F H __hadd(H a, H b) { return a + b; }                                                       \
  WARPATH_F H __hsub(H a, H b) { return a - b; }                                                       \
  WARPATH_F H __hmul(H a, H b) { return a * b; }                                                       \
  WARPATH_F H __hdiv(H a, H b) { return a / b; }                                                       \
  WARPATH_F H __hadd_rn(H a, H b) { return a + b; }                                                    \
  WARPATH_F H __hsub_rn(H a, H b) { return a - b; }                                                    \
  WARPATH_F H __hmul_rn(H a, H b) { return a * b; }                                                    \
  WARPATH_F H __hadd_sat(H a, H b) { return H(__saturatef(float(a + b))); }                            \
  WARPATH_F H __hmul_sat(H a, H b) { return H(__saturatef(float(a * b))); }                            \
  WARPATH_F H __hfma(H a, H b, H c) { return warpath_half::fused(a, b, c); }                           \
  WARPATH_F H __hfma_relu(H a, H b, H c) {                                                             \
    const H r = __hfma(a, b, c);                                                                       \
    return float(r) > 0.0f || warpath_half::is_nan(r) ? r : H(0.0f);                                   \
  }                                                                                                    \
  WARPATH_F H __hneg(H a) { return -a; }                                                               \
  WARPATH_F H __habs(H a) { return H::from_bits(static_cast<unsigned short>(a.__x & 0x7fffu)); }       \
  WARPATH_F H __hmax(H a, H b) { return H(warpath_fmaxf(float(a), float(b))); }                        \
  WARPATH_F H __hmin(H a, H b) { return H(warpath_fminf(float(a), float(b))); }                        \
  WARPATH_F bool __heq(H a, H b) { return a == b; }                                                    \
  WARPATH_F bool __hne(H a, H b) { return a != b; }                                                    \
  WARPATH_F bool __hlt(H a, H b) { return a < b; }                                                     \
  WARPATH_F bool __hle(H a, H b) { return a <= b; }                                                    \
  WARPATH_F bool __hgt(H a, H b) { return a > b; }                                                     \
  WARPATH_F bool __hge(H a, H b) { return a >= b; }                                                    \
  WARPATH_F bool __hisnan(H a) { return warpath_half::is_nan(a); }                                     \
  WARPATH_F int __hisinf(H a) { return __builtin_isinf_sign(float(a)); }                               \
  WARPATH_F H hexp(H a) { return H(exp(double(float(a)))); }                                           \
  WARPATH_F H hexp2(H a) { return H(exp2(double(float(a)))); }                                         \
  WARPATH_F H hlog(H a) { return H(log(double(float(a)))); }                                           \
  WARPATH_F H hlog2(H a) { return H(log2(double(float(a)))); }                                         \
  WARPATH_F H hsin(H a) { return H(sin(double(float(a)))); }                                           \
  WARPATH_F H hcos(H a) { return H(cos(double(float(a)))); }                                           \
  WARPATH_F H hsqrt(H a) { return H(sqrt(double(float(a)))); }                                         \
  WARPATH_F H hrsqrt(H a) { return H(1.0 / sqrt(double(float(a)))); }                                  \
  WARPATH_F H hrcp(H a) { return H(1.0 / double(float(a))); }                                          \
  WARPATH_F H hfloor(H a) { return H(floorf(float(a))); }                                              \
  WARPATH_F H hceil(H a) { return H(ceilf(float(a))); }                                                \
  WARPATH_F H htrunc(H a) { return H(truncf(float(a))); }                                              \
  WARPATH_F H hrint(H a) { return H(rintf(float(a))); }                                                \
  WARPATH_F H2 __hadd2(H2 a, H2 b) { return a + b; }                                                   \
  WARPATH_F H2 __hsub2(H2 a, H2 b) { return a - b; }                                                   \
  WARPATH_F H2 __hmul2(H2 a, H2 b) { return a * b; }                                                   \
  WARPATH_F H2 __h2div(H2 a, H2 b) { return a / b; }                                                   \
  WARPATH_F H2 __hfma2(H2 a, H2 b, H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }    \
  WARPATH_F H2 __hneg2(H2 a) { return -a; }                                                            \
  WARPATH_F H2 __habs2(H2 a) { return {__habs(a.x), __habs(a.y)}; }                                    \
  WARPATH_F H2 __hmax2(H2 a, H2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                    \
  WARPATH_F H2 __hmin2(H2 a, H2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                    \
  WARPATH_F H2 h2exp(H2 a) { return {hexp(a.x), hexp(a.y)}; }                                          \
  WARPATH_F H2 h2log(H2 a) { return {hlog(a.x), hlog(a.y)}; }                                          \
  WARPATH_F H2 h2sqrt(H2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                       \
  WARPATH_F H2 h2rsqrt(H2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                    \
  WARPATH_F H2 h2rcp(H2 a) { return {hrcp(a.x), hrcp(a.y)}; }                                          \
  WARPATH_F float __low2float(H2 a) { return float(a.x); }                                             \
  WARPATH_F float __high2float(H2 a) { return float(a.y); }
WARPATH_REAL16(__half, __half2)
WARPATH_REAL16(__nv_bfloat16, __nv_bfloat162)
#undef WARPATH_REAL16

/// The names that carry the type: NAME in half or bfloat16, PAIR in half2 or bfloat162.
#define WARPATH_REAL16_NAMED(H, H2, NAME, PAIR, LETTER)                                                \
  WARPATH_F H __float2##NAME(float x) { return H(x); }                                                 \
  WARPATH_F H __float2##NAME##_rn(float x) { return H(x); }                                            \
  WARPATH_F H __double2##NAME(double x) { return H(x); }                                               \
  WARPATH_F H __int2##NAME##_rn(int x) { return H(x); }                                                \
  WARPATH_F H __uint2##NAME##_rn(unsigned x) { return H(x); }                                          \
  WARPATH_F float __##NAME##2float(H x) { return float(x); }                                           \
  WARPATH_F int __##NAME##2int_rn(H x) { return __float2int_rn(float(x)); }                            \
  WARPATH_F int __##NAME##2int_rz(H x) { return __float2int_rz(float(x)); }                            \
  WARPATH_F unsigned short __##NAME##_as_ushort(H x) { return x.__x; }                                 \
  WARPATH_F short __##NAME##_as_short(H x) { return static_cast<short>(x.__x); }                       \
  WARPATH_F H __ushort_as_##NAME(unsigned short x) { return H::from_bits(x); }                         \
  WARPATH_F H __short_as_##NAME(short x) { return H::from_bits(static_cast<unsigned short>(x)); }      \
  WARPATH_F H2 __float2##PAIR##_rn(float x) { return {H(x), H(x)}; }                                   \
  WARPATH_F H2 __floats2##PAIR##_rn(float x, float y) { return {H(x), H(y)}; }                         \
  WARPATH_F H2 __float22##PAIR##_rn(float2 v) { return {H(v.x), H(v.y)}; }                             \
  WARPATH_F float2 __##PAIR##2float2(H2 v) { return {float(v.x), float(v.y)}; }                        \
  WARPATH_F H2 __##NAME##2##PAIR(H x) { return {x, x}; }                                               \
  WARPATH_F H __low2##NAME(H2 v) { return v.x; }                                                       \
  WARPATH_F H __high2##NAME(H2 v) { return v.y; }                                                      \
  WARPATH_F H2 __low2##PAIR(H2 v) { return {v.x, v.x}; }                                               \
  WARPATH_F H2 __high2##PAIR(H2 v) { return {v.y, v.y}; }                                              \
  WARPATH_F H2 make_##PAIR(H x, H y) { return {x, y}; }
WARPATH_REAL16_NAMED(__half, __half2, half, half2, h)
WARPATH_REAL16_NAMED(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162, b)
#undef WARPATH_REAL16_NAMED
WARPATH_F __half2 __halves2half2(__half a, __half b) { return {a, b}; }
WARPATH_F __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
WARPATH_F __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
WARPATH_F __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
WARPATH_F __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
WARPATH_F __nv_bfloat162 make_nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
