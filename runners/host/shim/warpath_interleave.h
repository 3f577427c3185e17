#pragma once

/// Of code that is compiled so that it tells of every access to memory before it makes it (-fsanitize=thread), with its
/// address and its bytes: the functions that the compiler calls. Atomic operations stay whole.

#if defined(WARPATH_INTERLEAVED)

#define WARPATH_TOLD(type, name, ...) \
  __attribute__((no_sanitize("thread"), noinline, used)) type warpath_##name(__VA_ARGS__) __asm__("__tsan_" #name); \
  type warpath_##name(__VA_ARGS__)

extern "C" {
WARPATH_TOLD(void, init, ) {}
WARPATH_TOLD(void, func_entry, void*) {}
WARPATH_TOLD(void, func_exit, void*) {}
WARPATH_TOLD(void, read_range, void* p, unsigned long size) { warpath_access(p, size, kWarpathRead); }
WARPATH_TOLD(void, write_range, void* p, unsigned long size) { warpath_access(p, size, kWarpathStore); }

#define WARPATH_ACCESSES(bytes)                                                       \
  WARPATH_TOLD(void, read##bytes, void* p) { warpath_access(p, bytes, kWarpathRead); }              \
  WARPATH_TOLD(void, write##bytes, void* p) { warpath_access(p, bytes, kWarpathStore); }             \
  WARPATH_TOLD(void, unaligned_read##bytes, void* p) { warpath_access(p, bytes, kWarpathRead); }    \
  WARPATH_TOLD(void, unaligned_write##bytes, void* p) { warpath_access(p, bytes, kWarpathStore); }   \
  WARPATH_TOLD(void, volatile_read##bytes, void* p) { warpath_access(p, bytes, kWarpathRead); }     \
  WARPATH_TOLD(void, volatile_write##bytes, void* p) { warpath_access(p, bytes, kWarpathStore); }
WARPATH_ACCESSES(1)
WARPATH_ACCESSES(2)
WARPATH_ACCESSES(4)
WARPATH_ACCESSES(8)
WARPATH_ACCESSES(16)
#undef WARPATH_ACCESSES

#define WARPATH_CHANGE(bits, T, name)                                             \
  WARPATH_TOLD(T, atomic##bits##_##name, volatile T* p, T v, int) {               \
    warpath_access(p, bits / 8, kWarpathAtomic);                                                  \
    return __atomic_##name(p, v, __ATOMIC_SEQ_CST);                               \
  }
#define WARPATH_COMPARE(bits, T, name, weak)                                                       \
  WARPATH_TOLD(bool, atomic##bits##_compare_exchange_##name, volatile T* p, T* old, T v, int, int) { \
    warpath_access(p, bits / 8, kWarpathAtomic);                                                                   \
    return __atomic_compare_exchange_n(p, old, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
  }
#define WARPATH_ATOMICS(bits, T)                                                  \
  WARPATH_TOLD(T, atomic##bits##_load, const volatile T* p, int) {                \
    warpath_access(p, bits / 8, kWarpathRead);                                                  \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                  \
  }                                                                               \
  WARPATH_TOLD(void, atomic##bits##_store, volatile T* p, T v, int) {             \
    warpath_access(p, bits / 8, kWarpathAtomic);                                                  \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                     \
  }                                                                               \
  WARPATH_TOLD(T, atomic##bits##_exchange, volatile T* p, T v, int) {             \
    warpath_access(p, bits / 8, kWarpathAtomic);                                                  \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                           \
  }                                                                               \
  WARPATH_CHANGE(bits, T, fetch_add)                                              \
  WARPATH_CHANGE(bits, T, fetch_sub)                                              \
  WARPATH_CHANGE(bits, T, fetch_and)                                              \
  WARPATH_CHANGE(bits, T, fetch_or)                                               \
  WARPATH_CHANGE(bits, T, fetch_xor)                                              \
  WARPATH_CHANGE(bits, T, fetch_nand)                                             \
  WARPATH_COMPARE(bits, T, strong, false)                                         \
  WARPATH_COMPARE(bits, T, weak, true)
WARPATH_ATOMICS(8, unsigned char)
WARPATH_ATOMICS(16, unsigned short)
WARPATH_ATOMICS(32, unsigned)
WARPATH_ATOMICS(64, unsigned long long)
#undef WARPATH_ATOMICS
#undef WARPATH_COMPARE
#undef WARPATH_CHANGE
/// Of an access through a pointer that is not a multiple of its type's alignment (-fsanitize=alignment).
struct WarpathPlace { const char* file; unsigned line, column; };
struct WarpathMisaligned {
  WarpathPlace place;
  const struct { unsigned short kind, info; char name[1]; }* type;
};
__attribute__((no_sanitize("thread", "alignment"), noinline, used)) void warpath_misaligned(const WarpathMisaligned* access, void*) __asm__("__ubsan_handle_type_mismatch_v1");
void warpath_misaligned(const WarpathMisaligned* access, void*) {
  warpath_fault(kWarpathFaultAlignment, access->type->name, static_cast<int>(access->place.line));
}
WARPATH_TOLD(void, atomic_thread_fence, int) { warpath_access(nullptr, 0, kWarpathFence); __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WARPATH_TOLD(void, atomic_signal_fence, int) {}
}

#undef WARPATH_TOLD
#undef WARPATH_INTERLEAVED
#endif
#undef __SANITIZE_THREAD__
