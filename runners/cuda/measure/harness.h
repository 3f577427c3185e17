#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/portable/element.h"
#include "engine/spec/compare.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/device_code/records.h"
#include "runners/cuda/driver/device.h"

namespace warpath::cuda {

/// CUDA C++ of the trusted kernels, without includes. The first part runs on any executor; the
/// second needs a device (clocks, inline assembly).
[[nodiscard]] std::string_view portable_device_code();
[[nodiscard]] std::string_view timed_device_code();
/// Both.
[[nodiscard]] std::string device_code();

/// Names of all kernels, extern "C".
[[nodiscard]] std::span<const std::string_view> harness_kernels();

/// What compiles `device_code` for `arch` ("sm_90a"); without contraction, so that its floating
/// point gives the host's bits. Needs no headers.
[[nodiscard]] CompileRequest harness_request(std::string_view arch);

/// The verdict that engine/spec/compare.h's compare would give. A record without `nonce`, or of
/// another number of elements than `shape` has, fails: it is not this comparison's.
[[nodiscard]] Comparison finish(const DeviceComparison& record,
                                const Tolerance& tolerance,
                                std::span<const std::int64_t> shape,
                                std::uint64_t nonce);

/// What canary() must leave: kCanaryWords words.
inline constexpr int kCanaryWords = 256;
[[nodiscard]] std::vector<std::uint64_t> canary_answer(std::uint64_t seed);

/// The kernels of a loaded module.
struct HarnessFunctions {
  CUfunction fill, family, nudge, poison, mask, compare, compare_finish, digest, digest_finish,
      guard_fill, guard_check, guard_finish, flush, poison_shared, poison_local, canary, spin,
      noise, stir;
};

/// The trusted kernels on one device. Every method only enqueues; what it writes may be read once
/// the stream has passed it. compare, digest and guard_check share one workspace: their launches
/// must be ordered (one stream). Pointers to elements may have any alignment of their type;
/// 16 bytes is fast. Not thread-safe; the device's context must be current. Methods throw
/// Error(environment) where the driver refuses: these kernels must work.
class Harness {
 public:
  /// `cubin`: of harness_request(device.arch()). `device` must outlive this.
  Harness(const Device& device, const std::string& cubin);

  /// Fills `elements` elements by `rule` (engine/spec/tensor_init.h: element_rule).
  void fill(CUstream stream,
            CUdeviceptr out,
            std::uint64_t elements,
            const ElementRule& rule) const;
  /// Replaces the rule.elements values at `data` by those of another family, in place.
  void family(CUstream stream, CUdeviceptr data, const FamilyRule& rule) const;
  /// Changes floating-point values in their last place, as runners/reach.h: nudge does.
  void nudge(CUstream stream,
             CUdeviceptr data,
             std::uint64_t elements,
             DType dtype,
             std::uint64_t seed) const;
  /// NaNs for floating types, noise for others. Seeds 2k and 2k + 1 differ in every element.
  void poison(CUstream stream,
              CUdeviceptr out,
              std::uint64_t elements,
              DType dtype,
              std::uint64_t seed) const;
  /// XORs with the keystream of `key`; a second call restores. `data` is 16-byte aligned.
  void mask(CUstream stream, CUdeviceptr data, std::uint64_t size_bytes, const MaskKey& key) const;
  /// Writes a DeviceComparison to `result` (8-byte aligned). rule.key: that of the reference.
  void compare(CUstream stream,
               CUdeviceptr output,
               CUdeviceptr reference,
               const CompareRule& rule,
               CUdeviceptr result) const;
  /// Writes a DeviceDigest: equal for equal bytes under one seed, wherever they lie.
  void digest(CUstream stream,
              CUdeviceptr data,
              std::uint64_t size_bytes,
              std::uint64_t seed,
              std::uint64_t nonce,
              CUdeviceptr result) const;
  /// Fills bytes with a pattern of (seed, offset, alignment of `zone`): engine/portable/guard.h.
  void guard_fill(CUstream stream,
                  CUdeviceptr zone,
                  std::uint64_t size_bytes,
                  std::uint64_t seed) const;
  /// Writes a DeviceGuard.
  void guard_check(CUstream stream,
                   CUdeviceptr zone,
                   std::uint64_t size_bytes,
                   std::uint64_t seed,
                   std::uint64_t nonce,
                   CUdeviceptr result) const;

  /// Twice the L2 cache: what `scratch` of flush_l2 should hold at least.
  [[nodiscard]] std::uint64_t flush_bytes() const { return flush_bytes_; }
  /// Writes all of `scratch` (16-byte aligned).
  void flush_l2(CUstream stream,
                CUdeviceptr scratch,
                std::uint64_t size_bytes,
                std::uint32_t value) const;
  /// Leaves NaNs in all shared memory of every multiprocessor, and in 512 bytes of local memory of
  /// every resident thread; the context keeps that much local memory from the first call on.
  void poison_shared(CUstream stream, std::uint32_t seed) const;
  void poison_local(CUstream stream, std::uint32_t seed) const;

  /// Holds the stream until the 32-bit word at `flag` (device or mapped host memory) is `value`,
  /// at most `limit_ns`.
  void spin(CUstream stream, CUdeviceptr flag, std::uint32_t value, std::uint64_t limit_ns) const;
  /// Keeps memory, multipliers and shared memory busy with `blocks` blocks of 256 threads, until
  /// the word at `flag` is `value`, at most `limit_ns`. `scratch` (16-byte aligned) is overwritten.
  void noise(CUstream stream,
             CUdeviceptr scratch,
             std::uint64_t size_bytes,
             int blocks,
             CUdeviceptr flag,
             std::uint32_t value,
             std::uint64_t limit_ns) const;
  /// Some 0.2 ms of blocks whose number, size and lengths are random.
  void stir(CUstream stream, std::uint64_t seed) const;
  /// Leaves canary_answer(seed) at `out`: integer work of a fixed amount, some tens of
  /// microseconds.
  void canary(CUstream stream, CUdeviceptr out, std::uint64_t seed) const;

 private:
  struct Grid {
    unsigned blocks, threads, smem_bytes;
  };
  /// Enough blocks for one thread each, or as many as the device holds.
  [[nodiscard]] Grid grid_for(std::uint64_t threads) const;
  void launch(CUstream stream,
              CUfunction function,
              const Grid& grid,
              std::initializer_list<const void*> arguments) const;

  const Device& device_;
  Module module_;
  DeviceMemory workspace_;  // a record a block
  HarnessFunctions functions_{};
  unsigned multiprocessors_ = 0;
  unsigned shared_bytes_ = 0;
  std::uint64_t flush_bytes_ = 0;
};

}  // namespace warpath::cuda
