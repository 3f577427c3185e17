#pragma once

/// CUDA's vector types with their sizes and alignments.

#define WARPATH_VECTOR(NAME, T, ALIGN1, ALIGN2, ALIGN4)                                            \
  struct __attribute__((aligned(ALIGN1))) NAME##1 { T x; };                                        \
  struct __attribute__((aligned(ALIGN2))) NAME##2 { T x, y; };                                     \
  struct __attribute__((aligned(ALIGN1))) NAME##3 { T x, y, z; };                                  \
  struct __attribute__((aligned(ALIGN4))) NAME##4 { T x, y, z, w; };                               \
  static inline constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                              \
  static inline constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                      \
  static inline constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }              \
  static inline constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

WARPATH_VECTOR(char, signed char, 1, 2, 4)
WARPATH_VECTOR(uchar, unsigned char, 1, 2, 4)
WARPATH_VECTOR(short, short, 2, 4, 8)
WARPATH_VECTOR(ushort, unsigned short, 2, 4, 8)
WARPATH_VECTOR(int, int, 4, 8, 16)
WARPATH_VECTOR(uint, unsigned int, 4, 8, 16)
WARPATH_VECTOR(long, long, 8, 16, 16)
WARPATH_VECTOR(ulong, unsigned long, 8, 16, 16)
WARPATH_VECTOR(longlong, long long, 8, 16, 16)
WARPATH_VECTOR(ulonglong, unsigned long long, 8, 16, 16)
WARPATH_VECTOR(float, float, 4, 8, 16)
WARPATH_VECTOR(double, double, 8, 16, 16)
#undef WARPATH_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
