#pragma once

/// Barriers, fences, warp shuffles, votes, matches and reductions.

#define WARPATH_FENCE __asm__ volatile("" ::: "memory")

WARPATH_F int warpath_block_barrier(int kind, int predicate) {
  WARPATH_FENCE;
  const int result = warpath_barrier(kind, predicate);
  WARPATH_FENCE;
  return result;
}
WARPATH_F void __syncthreads() { warpath_block_barrier(kWarpathBarrierPlain, 0); }
WARPATH_F int __syncthreads_and(int p) { return warpath_block_barrier(kWarpathBarrierAnd, p); }
WARPATH_F int __syncthreads_or(int p) { return warpath_block_barrier(kWarpathBarrierOr, p); }
WARPATH_F int __syncthreads_count(int p) { return warpath_block_barrier(kWarpathBarrierCount, p); }
WARPATH_F void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WARPATH_F void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WARPATH_F void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WARPATH_F void __nanosleep(unsigned) { warpath_yield(); }

template <class T>
WARPATH_F T warpath_exchange(int op, unsigned mask, T value, int argument, int width) {
  static_assert(sizeof(T) <= 8, "warp operations take up to 64 bits");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  WARPATH_FENCE;
  bits = warpath_warp(op, mask, bits, argument, width);
  WARPATH_FENCE;
  T out;
  __builtin_memcpy(&out, &bits, sizeof out);
  return out;
}
WARPATH_F unsigned warpath_vote(int op, unsigned mask, unsigned long long value) {
  return static_cast<unsigned>(warpath_exchange<unsigned long long>(op, mask, value, 0, 32));
}

WARPATH_F void __syncwarp(unsigned mask = 0xffffffffu) { warpath_vote(kWarpathSyncWarp, mask, 0); }
template <class T>
WARPATH_F T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return warpath_exchange(kWarpathShuffleIndex, mask, value, source, width);
}
template <class T>
WARPATH_F T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return warpath_exchange(kWarpathShuffleUp, mask, value, static_cast<int>(delta), width);
}
template <class T>
WARPATH_F T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return warpath_exchange(kWarpathShuffleDown, mask, value, static_cast<int>(delta), width);
}
template <class T>
WARPATH_F T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return warpath_exchange(kWarpathShuffleXor, mask, value, lane_mask, width);
}
WARPATH_F int __any_sync(unsigned mask, int p) { return static_cast<int>(warpath_vote(kWarpathAny, mask, p != 0)); }
WARPATH_F int __all_sync(unsigned mask, int p) { return static_cast<int>(warpath_vote(kWarpathAll, mask, p != 0)); }
WARPATH_F unsigned __ballot_sync(unsigned mask, int p) { return warpath_vote(kWarpathBallot, mask, p != 0); }
WARPATH_F unsigned __activemask() { return warpath_vote(kWarpathActiveMask, 0xffffffffu, 0); }
template <class T>
WARPATH_F unsigned __match_any_sync(unsigned mask, T value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return warpath_vote(kWarpathMatchAny, mask, bits);
}
template <class T>
WARPATH_F unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  const unsigned result = warpath_vote(kWarpathMatchAll, mask, bits);
  *predicate = result != 0;
  return result;
}
WARPATH_F unsigned __reduce_add_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceAdd, m, v); }
WARPATH_F int __reduce_add_sync(unsigned m, int v) { return static_cast<int>(warpath_vote(kWarpathReduceAdd, m, static_cast<unsigned>(v))); }
WARPATH_F unsigned __reduce_min_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceMinUnsigned, m, v); }
WARPATH_F int __reduce_min_sync(unsigned m, int v) { return static_cast<int>(warpath_vote(kWarpathReduceMinSigned, m, static_cast<unsigned>(v))); }
WARPATH_F unsigned __reduce_max_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceMaxUnsigned, m, v); }
WARPATH_F int __reduce_max_sync(unsigned m, int v) { return static_cast<int>(warpath_vote(kWarpathReduceMaxSigned, m, static_cast<unsigned>(v))); }
WARPATH_F unsigned __reduce_and_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceAnd, m, v); }
WARPATH_F unsigned __reduce_or_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceOr, m, v); }
WARPATH_F unsigned __reduce_xor_sync(unsigned m, unsigned v) { return warpath_vote(kWarpathReduceXor, m, v); }

// Cached loads and stores are plain ones.
template <class T> WARPATH_F T __ldg(const T* p) { return *p; }
template <class T> WARPATH_F T __ldca(const T* p) { return *p; }
template <class T> WARPATH_F T __ldcg(const T* p) { return *p; }
template <class T> WARPATH_F T __ldcs(const T* p) { return *p; }
template <class T> WARPATH_F T __ldlu(const T* p) { return *p; }
template <class T> WARPATH_F T __ldcv(const T* p) { return *const_cast<const volatile T*>(p); }
template <class T> struct warpath_same { using type = T; };
template <class T> WARPATH_F void __stcg(T* p, typename warpath_same<T>::type v) { *p = v; }
template <class T> WARPATH_F void __stcs(T* p, typename warpath_same<T>::type v) { *p = v; }
template <class T> WARPATH_F void __stwb(T* p, typename warpath_same<T>::type v) { *p = v; }
template <class T> WARPATH_F void __stwt(T* p, typename warpath_same<T>::type v) { *p = v; }
