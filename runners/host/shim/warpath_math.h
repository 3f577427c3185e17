#pragma once

/// CUDA's device math beyond <math.h>: intrinsics (computed at least as exactly as the device does), bit operations,
/// conversions with a rounding mode, and casts by bit pattern.

template <class To, class From>
static constexpr To warpath_bits(From from) {
  return __builtin_bit_cast(To, from);
}

#define WARPATH_F static inline __attribute__((always_inline))

// Without finite-math flags the compiler calls the library for these.
WARPATH_F float warpath_fmaxf(float a, float b) { return a > b || b != b ? a : b; }
WARPATH_F float warpath_fminf(float a, float b) { return a < b || b != b ? a : b; }
WARPATH_F double warpath_fmax(double a, double b) { return a > b || b != b ? a : b; }
WARPATH_F double warpath_fmin(double a, double b) { return a < b || b != b ? a : b; }
WARPATH_F float warpath_fmax(float a, float b) { return warpath_fmaxf(a, b); }
WARPATH_F float warpath_fmin(float a, float b) { return warpath_fminf(a, b); }
#define fmaxf warpath_fmaxf
#define fminf warpath_fminf

#define WARPATH_MINMAX(T)                                  \
  WARPATH_F constexpr T min(T a, T b) { return b < a ? b : a; } \
  WARPATH_F constexpr T max(T a, T b) { return a < b ? b : a; }
WARPATH_MINMAX(int)
WARPATH_MINMAX(unsigned)
WARPATH_MINMAX(long)
WARPATH_MINMAX(unsigned long)
WARPATH_MINMAX(long long)
WARPATH_MINMAX(unsigned long long)
#undef WARPATH_MINMAX
WARPATH_F float min(float a, float b) { return warpath_fminf(a, b); }
WARPATH_F float max(float a, float b) { return warpath_fmaxf(a, b); }
WARPATH_F double min(double a, double b) { return warpath_fmin(a, b); }
WARPATH_F double max(double a, double b) { return warpath_fmax(a, b); }
WARPATH_F double min(float a, double b) { return warpath_fmin(static_cast<double>(a), b); }
WARPATH_F double min(double a, float b) { return warpath_fmin(a, static_cast<double>(b)); }
WARPATH_F double max(float a, double b) { return warpath_fmax(static_cast<double>(a), b); }
WARPATH_F double max(double a, float b) { return warpath_fmax(a, static_cast<double>(b)); }
WARPATH_F unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
WARPATH_F unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
WARPATH_F unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
WARPATH_F unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
WARPATH_F unsigned umin(unsigned a, unsigned b) { return min(a, b); }
WARPATH_F unsigned umax(unsigned a, unsigned b) { return max(a, b); }
WARPATH_F long long llmin(long long a, long long b) { return min(a, b); }
WARPATH_F long long llmax(long long a, long long b) { return max(a, b); }
WARPATH_F unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
WARPATH_F unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

WARPATH_F float rsqrtf(float x) { return 1.0f / sqrtf(x); }
WARPATH_F double rsqrt(double x) { return 1.0 / sqrt(x); }
WARPATH_F float rsqrt(float x) { return rsqrtf(x); }
WARPATH_F float rcbrtf(float x) { return 1.0f / cbrtf(x); }
WARPATH_F double rcbrt(double x) { return 1.0 / cbrt(x); }
WARPATH_F float fdividef(float a, float b) { return a / b; }
WARPATH_F float __fdividef(float a, float b) { return a / b; }
WARPATH_F float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
WARPATH_F double sinpi(double x) { return sin(3.14159265358979323846 * remainder(x, 2.0)); }
WARPATH_F double cospi(double x) { return cos(3.14159265358979323846 * remainder(x, 2.0)); }
WARPATH_F float sinpif(float x) { return static_cast<float>(sinpi(x)); }
WARPATH_F float cospif(float x) { return static_cast<float>(cospi(x)); }
WARPATH_F void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
WARPATH_F double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
WARPATH_F float normcdff(float x) { return static_cast<float>(normcdf(x)); }
WARPATH_F double erfcx(double x) { return exp(x * x) * erfc(x); }
WARPATH_F float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
WARPATH_F float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
WARPATH_F float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
WARPATH_F float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }

WARPATH_F float warpath_expf(float x) { return expf(x); }
WARPATH_F float warpath_exp10f(float x) { return static_cast<float>(pow(10.0, static_cast<double>(x))); }
WARPATH_F float warpath_logf(float x) { return logf(x); }
WARPATH_F float warpath_log2f(float x) { return log2f(x); }
WARPATH_F float warpath_log10f(float x) { return log10f(x); }
WARPATH_F float warpath_powf(float x, float y) { return powf(x, y); }
WARPATH_F float warpath_sinf(float x) { return sinf(x); }
WARPATH_F float warpath_cosf(float x) { return cosf(x); }
WARPATH_F float warpath_tanf(float x) { return tanf(x); }
WARPATH_F float warpath_tanhf(float x) { return tanhf(x); }
WARPATH_F void warpath_sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }

// The C library declares some of these names itself.
#define __expf warpath_expf
#define __exp10f warpath_exp10f
#define __logf warpath_logf
#define __log2f warpath_log2f
#define __log10f warpath_log10f
#define __powf warpath_powf
#define __sinf warpath_sinf
#define __cosf warpath_cosf
#define __tanf warpath_tanf
#define __tanhf warpath_tanhf
#define __sincosf warpath_sincosf

// Rounding to nearest even is the host's mode; the directed modes nudge the correctly rounded result by its error.
WARPATH_F float __fadd_rn(float a, float b) { return a + b; }
WARPATH_F float __fsub_rn(float a, float b) { return a - b; }
WARPATH_F float __fmul_rn(float a, float b) { return a * b; }
WARPATH_F float __fdiv_rn(float a, float b) { return a / b; }
WARPATH_F float __frcp_rn(float a) { return 1.0f / a; }
WARPATH_F float __fsqrt_rn(float a) { return sqrtf(a); }
WARPATH_F float __frsqrt_rn(float a) { return static_cast<float>(1.0 / sqrt(static_cast<double>(a))); }
WARPATH_F float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPATH_F double __dadd_rn(double a, double b) { return a + b; }
WARPATH_F double __dsub_rn(double a, double b) { return a - b; }
WARPATH_F double __dmul_rn(double a, double b) { return a * b; }
WARPATH_F double __ddiv_rn(double a, double b) { return a / b; }
WARPATH_F double __drcp_rn(double a) { return 1.0 / a; }
WARPATH_F double __dsqrt_rn(double a) { return sqrt(a); }
WARPATH_F double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
/// `exact` (a double) to float in a directed mode: -1 down, 0 to zero, +1 up.
WARPATH_F float warpath_directed(double exact, int mode) {
  const float near = static_cast<float>(exact);
  const double error = exact - static_cast<double>(near);
  const bool toward_up = mode > 0 || (mode == 0 && exact < 0);
  if (error > 0 && toward_up) return nextafterf(near, __builtin_inff());
  if (error < 0 && !toward_up) return nextafterf(near, -__builtin_inff());
  return near;
}
WARPATH_F float __double2float_rn(double x) { return static_cast<float>(x); }
WARPATH_F float __double2float_rz(double x) { return warpath_directed(x, 0); }
WARPATH_F float __double2float_ru(double x) { return warpath_directed(x, 1); }
WARPATH_F float __double2float_rd(double x) { return warpath_directed(x, -1); }
WARPATH_F float __fmul_rz(float a, float b) { return warpath_directed(static_cast<double>(a) * b, 0); }
WARPATH_F float __fmul_ru(float a, float b) { return warpath_directed(static_cast<double>(a) * b, 1); }
WARPATH_F float __fmul_rd(float a, float b) { return warpath_directed(static_cast<double>(a) * b, -1); }

/// Saturating conversion, NaN to 0, as the device does it; `x` is integral already.
template <class I, class R>
WARPATH_F I warpath_saturate(R x) {
  constexpr R low = static_cast<R>(static_cast<I>(-1) < I(0) ? I(I(1) << (8 * sizeof(I) - 1)) : I(0));
  constexpr R span = static_cast<R>(I(1) << (8 * sizeof(I) - 2)) * (static_cast<I>(-1) < I(0) ? R(2) : R(4));
  if (x != x) return I(0);
  if (x <= low) return static_cast<I>(low);
  if (x >= span) return static_cast<I>(~static_cast<I>(low));
  return static_cast<I>(x);
}
#define WARPATH_CONVERT(R, NAME, I, TARGET, RINT, FLOOR, CEIL, TRUNC)                    \
  WARPATH_F I __##NAME##2##TARGET##_rn(R x) { return warpath_saturate<I, R>(RINT(x)); }  \
  WARPATH_F I __##NAME##2##TARGET##_rd(R x) { return warpath_saturate<I, R>(FLOOR(x)); } \
  WARPATH_F I __##NAME##2##TARGET##_ru(R x) { return warpath_saturate<I, R>(CEIL(x)); }  \
  WARPATH_F I __##NAME##2##TARGET##_rz(R x) { return warpath_saturate<I, R>(TRUNC(x)); }
WARPATH_CONVERT(float, float, int, int, rintf, floorf, ceilf, truncf)
WARPATH_CONVERT(float, float, unsigned, uint, rintf, floorf, ceilf, truncf)
WARPATH_CONVERT(float, float, long long, ll, rintf, floorf, ceilf, truncf)
WARPATH_CONVERT(float, float, unsigned long long, ull, rintf, floorf, ceilf, truncf)
WARPATH_CONVERT(double, double, int, int, rint, floor, ceil, trunc)
WARPATH_CONVERT(double, double, unsigned, uint, rint, floor, ceil, trunc)
WARPATH_CONVERT(double, double, long long, ll, rint, floor, ceil, trunc)
WARPATH_CONVERT(double, double, unsigned long long, ull, rint, floor, ceil, trunc)
#undef WARPATH_CONVERT
WARPATH_F float __int2float_rn(int x) { return static_cast<float>(x); }
WARPATH_F float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
WARPATH_F float __ll2float_rn(long long x) { return static_cast<float>(x); }
WARPATH_F float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
WARPATH_F double __int2double_rn(int x) { return x; }
WARPATH_F double __uint2double_rn(unsigned x) { return x; }
WARPATH_F double __ll2double_rn(long long x) { return static_cast<double>(x); }

WARPATH_F int __float_as_int(float x) { return warpath_bits<int>(x); }
WARPATH_F unsigned __float_as_uint(float x) { return warpath_bits<unsigned>(x); }
WARPATH_F constexpr float __int_as_float(int x) { return warpath_bits<float>(x); }
WARPATH_F float __uint_as_float(unsigned x) { return warpath_bits<float>(x); }
WARPATH_F long long __double_as_longlong(double x) { return warpath_bits<long long>(x); }
WARPATH_F constexpr double __longlong_as_double(long long x) { return warpath_bits<double>(x); }
WARPATH_F int __double2hiint(double x) { return static_cast<int>(warpath_bits<long long>(x) >> 32); }
WARPATH_F int __double2loint(double x) { return static_cast<int>(warpath_bits<long long>(x)); }
WARPATH_F double __hiloint2double(int hi, int lo) {
  return warpath_bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32 | static_cast<unsigned>(lo));
}

WARPATH_F int __popc(unsigned x) { return __builtin_popcount(x); }
WARPATH_F int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WARPATH_F int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
WARPATH_F int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
WARPATH_F int __ffs(int x) { return __builtin_ffs(x); }
WARPATH_F int __ffsll(long long x) { return __builtin_ffsll(x); }
WARPATH_F unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
WARPATH_F unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
WARPATH_F unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned selector = s >> (4 * i) & 0xfu;
    const unsigned byte = static_cast<unsigned>(both >> (8 * (selector & 7u))) & 0xffu;
    out |= (selector & 8u ? (byte & 0x80u ? 0xffu : 0u) : byte) << (8 * i);
  }
  return out;
}
WARPATH_F int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>((a << 8 >> 8)) * static_cast<unsigned>((b << 8 >> 8)));
}
WARPATH_F unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
WARPATH_F int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
WARPATH_F unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32); }
WARPATH_F long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
WARPATH_F unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
WARPATH_F unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(a > b ? static_cast<long long>(a) - b : static_cast<long long>(b) - a);
}
WARPATH_F unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
WARPATH_F int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
WARPATH_F unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1); }
WARPATH_F int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
WARPATH_F unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1); }
WARPATH_F unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) << (s & 31u) >> 32);
}
WARPATH_F unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) >> (s & 31u));
}
WARPATH_F unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : __funnelshift_l(lo, hi, s); }
WARPATH_F unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : __funnelshift_r(lo, hi, s); }

template <class A, class B>
WARPATH_F unsigned warpath_dp4a(unsigned a, unsigned b, unsigned c) {
  for (unsigned i = 0; i < 32; i += 8) c += static_cast<unsigned>(static_cast<int>(static_cast<A>(a >> i)) * static_cast<int>(static_cast<B>(b >> i)));
  return c;
}
WARPATH_F int __dp4a(int a, int b, int c) {
  return static_cast<int>(warpath_dp4a<signed char, signed char>(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c)));
}
WARPATH_F unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return warpath_dp4a<unsigned char, unsigned char>(a, b, c); }
WARPATH_F int __dp4a(char4 a, char4 b, int c) { return __dp4a(warpath_bits<int>(a), warpath_bits<int>(b), c); }
WARPATH_F unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return __dp4a(warpath_bits<unsigned>(a), warpath_bits<unsigned>(b), c); }
