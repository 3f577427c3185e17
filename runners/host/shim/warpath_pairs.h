#pragma once

/// Of half and bfloat16 what fewer kernels name: comparisons of pairs, maxima that keep NaN, functions of pairs.

/// Comparisons of pairs: 1 and 0, all of them, bits.
#define WARPATH_REAL16_COMPARED(H, H2, NAME)                                                           \
  WARPATH_F H2 __h##NAME##2(H2 a, H2 b) { return {H(__h##NAME(a.x, b.x) ? 1.0f : 0.0f), H(__h##NAME(a.y, b.y) ? 1.0f : 0.0f)}; } \
  WARPATH_F bool __hb##NAME##2(H2 a, H2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }      \
  WARPATH_F unsigned __h##NAME##2_mask(H2 a, H2 b) { return (__h##NAME(a.x, b.x) ? 0xffffu : 0u) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0u); }

#define WARPATH_PAIRS(H, H2)                                                                           \
  WARPATH_F H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }        \
  WARPATH_F H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }        \
  WARPATH_F H htanh(H a) { return H(tanh(double(float(a)))); }                                         \
  WARPATH_F H2 h2exp2(H2 a) { return {hexp2(a.x), hexp2(a.y)}; }                                       \
  WARPATH_F H2 h2log2(H2 a) { return {hlog2(a.x), hlog2(a.y)}; }                                       \
  WARPATH_F H2 h2tanh(H2 a) { return {htanh(a.x), htanh(a.y)}; }                                       \
  WARPATH_F H2 h2rint(H2 a) { return {hrint(a.x), hrint(a.y)}; }                                       \
  WARPATH_F H2 __hfma2_relu(H2 a, H2 b, H2 c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; } \
  WARPATH_F H2 __hadd2_rn(H2 a, H2 b) { return a + b; }                                                \
  WARPATH_F H2 __hsub2_rn(H2 a, H2 b) { return a - b; }                                                \
  WARPATH_F H2 __hmul2_rn(H2 a, H2 b) { return a * b; }                                                \
  WARPATH_F H2 __hmax2_nan(H2 a, H2 b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }        \
  WARPATH_F H2 __hmin2_nan(H2 a, H2 b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }        \
  WARPATH_REAL16_COMPARED(H, H2, eq)                                                                   \
  WARPATH_REAL16_COMPARED(H, H2, ne)                                                                   \
  WARPATH_REAL16_COMPARED(H, H2, lt)                                                                   \
  WARPATH_REAL16_COMPARED(H, H2, le)                                                                   \
  WARPATH_REAL16_COMPARED(H, H2, gt)                                                                   \
  WARPATH_REAL16_COMPARED(H, H2, ge)
WARPATH_PAIRS(__half, __half2)
WARPATH_PAIRS(__nv_bfloat16, __nv_bfloat162)
#undef WARPATH_PAIRS
#undef WARPATH_REAL16_COMPARED
