#pragma once

/// What a compiled candidate and the executor agree on. Included by both: plain types, no library headers.

struct WarpathIndex {
  unsigned x, y, z;
};

/// What the running thread of a block may read; the executor sets it before a thread runs.
struct WarpathThread {
  WarpathIndex thread_index;
  WarpathIndex block_index;
  WarpathIndex block_dim;
  WarpathIndex grid_dim;
  void* dynamic_shared;  ///< arena of the running block, 1024-byte aligned
};

enum WarpathBarrier : int { kWarpathBarrierPlain, kWarpathBarrierAnd, kWarpathBarrierOr, kWarpathBarrierCount };

/// Warp operations. `value` and the result are 64-bit containers of the operand's bits; what `argument` means follows the name.
enum WarpathWarpOp : int {
  kWarpathSyncWarp,
  kWarpathShuffleIndex,  // argument: source lane; width
  kWarpathShuffleUp,     // argument: delta; width
  kWarpathShuffleDown,
  kWarpathShuffleXor,    // argument: lane mask; width
  kWarpathAny,
  kWarpathAll,
  kWarpathBallot,
  kWarpathMatchAny,
  kWarpathMatchAll,      // result: mask, or 0
  kWarpathReduceAdd,     // 32-bit
  kWarpathReduceMinSigned,
  kWarpathReduceMaxSigned,
  kWarpathReduceMinUnsigned,
  kWarpathReduceMaxUnsigned,
  kWarpathReduceAnd,
  kWarpathReduceOr,
  kWarpathReduceXor,
  kWarpathActiveMask,    // mask: ignored
};

enum WarpathFault : int { kWarpathFaultTrap, kWarpathFaultAssert, kWarpathFaultAlignment };

enum WarpathAccess : int { kWarpathRead, kWarpathStore, kWarpathAtomic, kWarpathFence };

enum WarpathParameterKind : int {
  kWarpathPointer, kWarpathSigned, kWarpathUnsigned, kWarpathFloating, kWarpathBool, kWarpathHalf, kWarpathOther,
};
struct WarpathParameter {
  WarpathParameterKind kind;
  unsigned size_bytes;
  unsigned pointee_bytes;    ///< of a pointer; 0 for void
  int pointee_is_const;
};

/// One kernel. Every candidate exports a null-terminated list of pointers to them as `warpath_entries`.
struct WarpathEntry {
  unsigned parameter_count;
  const WarpathParameter* parameters;
  void (*run_thread)(void* const* arguments);  ///< one thread, `warpath_thread` set by the caller
  /// `count` threads one after another, at the indices given.
  void (*run_threads)(void* const* arguments, const WarpathIndex* indices, unsigned count);
};

extern "C" {
extern __attribute__((visibility("default"), tls_model("initial-exec"))) __thread WarpathThread warpath_thread;
__attribute__((visibility("default"))) int warpath_barrier(int kind, int predicate);
__attribute__((visibility("default"))) unsigned long long warpath_warp(int op, unsigned mask, unsigned long long value,
                                                                       int argument, int width);
__attribute__((visibility("default"))) void warpath_yield();
__attribute__((visibility("default"))) void warpath_access(const volatile void* address, unsigned long bytes,
                                                           int kind);  ///< before it (warpath_interleave.h)
__attribute__((visibility("default"))) void warpath_pause();  ///< in an update that is whole for a block alone
[[noreturn]] __attribute__((visibility("default"))) void warpath_fault(int fault, const char* text, int line);
}
