#pragma once

/// Integers of 8 or 16 bits, four or two in a word: __vadd4, __vmaxs2, __vcmpgtu4 and the like. And the greatest, least
/// and bounded sums of two or three 32-bit ones: __vimax3_s32, __viaddmax_s32.

/// `f` of each element, of type T, of the words.
template <class T, class F>
static inline __attribute__((always_inline)) unsigned warpath_each(unsigned a, unsigned b, const F& f) {
  constexpr unsigned kBits = 8 * sizeof(T), kMask = (1u << kBits) - 1;
  unsigned out = 0;
  for (unsigned at = 0; at < 32; at += kBits)
    out |= (static_cast<unsigned>(f(static_cast<int>(static_cast<T>(a >> at)), static_cast<int>(static_cast<T>(b >> at)))) & kMask) << at;
  return out;
}
template <class T>
static inline __attribute__((always_inline)) int warpath_bounded(int x) {
  constexpr int kMost = static_cast<T>(-1) < T(0) ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << (8 * sizeof(T))) - 1,
                kLeast = static_cast<T>(-1) < T(0) ? -kMost - 1 : 0;
  return x < kLeast ? kLeast : x > kMost ? kMost : x;
}

#define WARPATH_EACH(NAME, T, VALUE) \
  WARPATH_F unsigned NAME(unsigned a, unsigned b) { return warpath_each<T>(a, b, [](int x, int y) { return VALUE; }); }
#define WARPATH_EACH1(NAME, T, VALUE) \
  WARPATH_F unsigned NAME(unsigned a) { return warpath_each<T>(a, 0, [](int x, int) { return VALUE; }); }
#define WARPATH_COMPARED(NAME, N, T, HOLDS)                  \
  WARPATH_EACH(__vcmp##NAME##N, T, (HOLDS) ? -1 : 0)         \
  WARPATH_EACH(__vset##NAME##N, T, (HOLDS) ? 1 : 0)
#define WARPATH_SIMD(N, S, U)                                                                    \
  WARPATH_EACH(__vadd##N, U, x + y)                                                              \
  WARPATH_EACH(__vsub##N, U, x - y)                                                              \
  WARPATH_EACH(__vaddss##N, S, warpath_bounded<S>(x + y))                                        \
  WARPATH_EACH(__vaddus##N, U, warpath_bounded<U>(x + y))                                        \
  WARPATH_EACH(__vsubss##N, S, warpath_bounded<S>(x - y))                                        \
  WARPATH_EACH(__vsubus##N, U, warpath_bounded<U>(x - y))                                        \
  WARPATH_EACH(__vmaxs##N, S, x > y ? x : y)                                                     \
  WARPATH_EACH(__vmaxu##N, U, x > y ? x : y)                                                     \
  WARPATH_EACH(__vmins##N, S, x < y ? x : y)                                                     \
  WARPATH_EACH(__vminu##N, U, x < y ? x : y)                                                     \
  WARPATH_EACH(__vabsdiffs##N, S, x > y ? x - y : y - x)                                         \
  WARPATH_EACH(__vabsdiffu##N, U, x > y ? x - y : y - x)                                         \
  WARPATH_EACH(__vavgs##N, S, (x + y + (x + y >= 0)) >> 1)                                       \
  WARPATH_EACH(__vavgu##N, U, (x + y + 1) >> 1)                                                  \
  WARPATH_EACH(__vhaddu##N, U, (x + y) >> 1)                                                     \
  WARPATH_EACH1(__vabs##N, S, x < 0 ? -x : x)                                                    \
  WARPATH_EACH1(__vabsss##N, S, warpath_bounded<S>(x < 0 ? -x : x))                              \
  WARPATH_EACH1(__vneg##N, S, -x)                                                                \
  WARPATH_EACH1(__vnegss##N, S, warpath_bounded<S>(-x))                                          \
  WARPATH_COMPARED(eq, N, U, x == y)                                                             \
  WARPATH_COMPARED(ne, N, U, x != y)                                                             \
  WARPATH_COMPARED(ges, N, S, x >= y)                                                            \
  WARPATH_COMPARED(geu, N, U, x >= y)                                                            \
  WARPATH_COMPARED(gts, N, S, x > y)                                                             \
  WARPATH_COMPARED(gtu, N, U, x > y)                                                             \
  WARPATH_COMPARED(les, N, S, x <= y)                                                            \
  WARPATH_COMPARED(leu, N, U, x <= y)                                                            \
  WARPATH_COMPARED(lts, N, S, x < y)                                                             \
  WARPATH_COMPARED(ltu, N, U, x < y)                                                             \
  WARPATH_F unsigned __vsads##N(unsigned a, unsigned b) {                                        \
    unsigned sum = 0;                                                                            \
    warpath_each<S>(a, b, [&](int x, int y) { return sum += static_cast<unsigned>(x > y ? x - y : y - x); }); \
    return sum;                                                                                  \
  }                                                                                              \
  WARPATH_F unsigned __vsadu##N(unsigned a, unsigned b) {                                        \
    unsigned sum = 0;                                                                            \
    warpath_each<U>(a, b, [&](int x, int y) { return sum += static_cast<unsigned>(x > y ? x - y : y - x); }); \
    return sum;                                                                                  \
  }
WARPATH_SIMD(2, short, unsigned short)
WARPATH_SIMD(4, signed char, unsigned char)
#undef WARPATH_SIMD
#undef WARPATH_COMPARED
#undef WARPATH_EACH1
#undef WARPATH_EACH

#define WARPATH_BOUNDS(T, LETTER)                                                            \
  WARPATH_F T __vimax3_##LETTER##32(T a, T b, T c) { return max(max(a, b), c); }             \
  WARPATH_F T __vimin3_##LETTER##32(T a, T b, T c) { return min(min(a, b), c); }             \
  WARPATH_F T __viaddmax_##LETTER##32(T a, T b, T c) {                                       \
    return max(static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);      \
  }                                                                                          \
  WARPATH_F T __viaddmin_##LETTER##32(T a, T b, T c) {                                       \
    return min(static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);      \
  }
WARPATH_BOUNDS(int, s)
WARPATH_BOUNDS(unsigned, u)
#undef WARPATH_BOUNDS
WARPATH_F int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
WARPATH_F int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
WARPATH_F int __vimax3_s32_relu(int a, int b, int c) { return max(__vimax3_s32(a, b, c), 0); }
WARPATH_F int __viaddmax_s32_relu(int a, int b, int c) { return max(__viaddmax_s32(a, b, c), 0); }
