#pragma once

/// Atomic functions: relaxed, on global and shared memory alike; the value before the operation is returned.

namespace warpath_atomic {

template <class T> struct Word;  // the integer type that holds T's bits
template <> struct Word<int> { using type = unsigned; };
template <> struct Word<unsigned> { using type = unsigned; };
template <> struct Word<float> { using type = unsigned; };
template <> struct Word<long> { using type = unsigned long long; };
template <> struct Word<unsigned long> { using type = unsigned long long; };
template <> struct Word<long long> { using type = unsigned long long; };
template <> struct Word<unsigned long long> { using type = unsigned long long; };
template <> struct Word<double> { using type = unsigned long long; };
template <> struct Word<unsigned short> { using type = unsigned short; };
template <> struct Word<__half> { using type = unsigned short; };
template <> struct Word<__nv_bfloat16> { using type = unsigned short; };
template <> struct Word<__half2> { using type = unsigned; };
template <> struct Word<__nv_bfloat162> { using type = unsigned; };

template <class T, class Change>
static inline T update(T* address, Change change) {
  using W = typename Word<T>::type;
  W* const word = reinterpret_cast<W*>(address);
  W old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, warpath_bits<W>(change(warpath_bits<T>(old))), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return warpath_bits<T>(old);
}

}  // namespace warpath_atomic

// CUDA has none for long: those of a kernel's own come before these.
#define WARPATH_ATOMIC_INTEGER(T, KIND)                                                                        \
  KIND WARPATH_F T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }                 \
  KIND WARPATH_F T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }                 \
  KIND WARPATH_F T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }                 \
  KIND WARPATH_F T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }                   \
  KIND WARPATH_F T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }                 \
  KIND WARPATH_F T atomicExch(T* p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }               \
  KIND WARPATH_F T atomicMin(T* p, T v) { return warpath_atomic::update(p, [v](T x) { return v < x ? v : x; }); } \
  KIND WARPATH_F T atomicMax(T* p, T v) { return warpath_atomic::update(p, [v](T x) { return x < v ? v : x; }); } \
  KIND WARPATH_F T atomicCAS(T* p, T expected, T v) {                                                          \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                   \
    return expected;                                                                                           \
  }
WARPATH_ATOMIC_INTEGER(int, )
WARPATH_ATOMIC_INTEGER(unsigned, )
WARPATH_ATOMIC_INTEGER(long, template <int = 0>)
WARPATH_ATOMIC_INTEGER(unsigned long, template <int = 0>)
WARPATH_ATOMIC_INTEGER(long long, )
WARPATH_ATOMIC_INTEGER(unsigned long long, )
#undef WARPATH_ATOMIC_INTEGER
WARPATH_F unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
WARPATH_F unsigned atomicInc(unsigned* p, unsigned limit) {
  return warpath_atomic::update(p, [limit](unsigned x) { return x >= limit ? 0u : x + 1u; });
}
WARPATH_F unsigned atomicDec(unsigned* p, unsigned limit) {
  return warpath_atomic::update(p, [limit](unsigned x) { return x == 0u || x > limit ? limit : x - 1u; });
}
#define WARPATH_ATOMIC_FLOATING(T) \
  WARPATH_F T atomicAdd(T* p, T v) { return warpath_atomic::update(p, [v](T x) { return static_cast<T>(x + v); }); }
WARPATH_ATOMIC_FLOATING(float)
WARPATH_ATOMIC_FLOATING(double)
WARPATH_ATOMIC_FLOATING(__half)
WARPATH_ATOMIC_FLOATING(__nv_bfloat16)
WARPATH_ATOMIC_FLOATING(__half2)
WARPATH_ATOMIC_FLOATING(__nv_bfloat162)
#undef WARPATH_ATOMIC_FLOATING
WARPATH_F float atomicExch(float* p, float v) {
  return warpath_atomic::update(p, [v](float) { return v; });
}
WARPATH_F float2 atomicAdd(float2* p, float2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
WARPATH_F float4 atomicAdd(float4* p, float4 v) {
  return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}

// One machine: system scope is device scope.
#define atomicAdd_system atomicAdd
#define atomicCAS_system atomicCAS

#if defined(WARPATH_INTERLEAVED)
/// Of block scope: whole for the threads of a block, which do not switch in here. Other blocks may come between.
namespace warpath_block {

template <class T> struct Same { using type = T; };
enum class Change { add, sub, min, max, exchange, compare, and_, or_, xor_ };

template <Change change, class T>
__attribute__((noinline, no_sanitize("thread"))) static T update(T* address, T value, T expected) {
  warpath_access(address, sizeof(T), kWarpathAtomic);
  volatile T* const place = address;
  const T old = *place;
  warpath_pause();
  if constexpr (change == Change::compare) {
    if (old != expected) return old;
  }
  T next = value;
  if constexpr (change == Change::add) next = static_cast<T>(old + value);
  if constexpr (change == Change::sub) next = static_cast<T>(old - value);
  if constexpr (change == Change::min) next = value < old ? value : old;
  if constexpr (change == Change::max) next = old < value ? value : old;
  if constexpr (change == Change::and_) next = old & value;
  if constexpr (change == Change::or_) next = old | value;
  if constexpr (change == Change::xor_) next = old ^ value;
  *place = next;
  return old;
}

}  // namespace warpath_block

#define WARPATH_OF_BLOCK(name, change)                                                            \
  template <class T>                                                                              \
  WARPATH_F T name##_block(T* p, typename warpath_block::Same<T>::type v) {                       \
    if constexpr (!std::is_arithmetic_v<T>)                                                       \
      return name(p, v); /* vectors and 16-bit types stay whole */                                \
    else                                                                                          \
      return warpath_block::update<warpath_block::Change::change>(p, v, v);                       \
  }
WARPATH_OF_BLOCK(atomicAdd, add)
WARPATH_OF_BLOCK(atomicSub, sub)
WARPATH_OF_BLOCK(atomicMin, min)
WARPATH_OF_BLOCK(atomicMax, max)
WARPATH_OF_BLOCK(atomicExch, exchange)
WARPATH_OF_BLOCK(atomicAnd, and_)
WARPATH_OF_BLOCK(atomicOr, or_)
WARPATH_OF_BLOCK(atomicXor, xor_)
#undef WARPATH_OF_BLOCK
template <class T>
WARPATH_F T atomicCAS_block(T* p,
                            typename warpath_block::Same<T>::type expected,
                            typename warpath_block::Same<T>::type v) {
  return warpath_block::update<warpath_block::Change::compare>(p, v, expected);
}
#else
#define atomicAdd_block atomicAdd
#define atomicSub_block atomicSub
#define atomicMin_block atomicMin
#define atomicMax_block atomicMax
#define atomicExch_block atomicExch
#define atomicCAS_block atomicCAS
#define atomicAnd_block atomicAnd
#define atomicOr_block atomicOr
#define atomicXor_block atomicXor
#endif
