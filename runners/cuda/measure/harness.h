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

/// The compilation of `device_code` for `arch` ("sm_90a"); without contraction, so that its
/// floating-point results equal the host's bits. Needs no headers.
[[nodiscard]] CompileRequest harness_request(std::string_view arch);

/// The verdict that compare of engine/spec/compare.h would give. A record with another nonce or
/// number of elements than `shape` has fails: it is not this comparison's.
[[nodiscard]] Comparison finish(const DeviceComparison& record,
                                const Tolerance& tolerance,
                                std::span<const std::int64_t> shape,
                                std::uint64_t nonce);

/// Size of canary()'s result, in words.
inline constexpr int kCanaryWords = 256;
[[nodiscard]] std::vector<std::uint64_t> canary_answer(std::uint64_t seed);

/// The kernels of a loaded module.
struct HarnessFunctions {
  CUfunction fill, family, nudge, poison, mask, compare, compare_finish, digest, digest_finish,
      guard_fill, guard_check, guard_finish, flush, poison_shared, poison_local, canary, spin,
      noise, stir;
};

/// The trusted kernels on one device. Methods only enqueue; results may be read once the stream has
/// passed them. compare, digest and guard_check share one workspace: their launches must be ordered
/// (one stream). Pointers to elements need their type's alignment only; 16 bytes is fast. Not
/// thread-safe; the device's context must be current. Methods throw Error(environment) if the
/// driver refuses.
class Harness {
 public:
  /// `cubin`: of harness_request(device.arch()). `device` must outlive this.
  Harness(const Device& device, const std::string& cubin);

  /// Fills `elements` elements by `rule` (engine/spec/tensor_init.h: element_rule).
  void fill(CUstream stream,
            CUdeviceptr out,
            std::uint64_t elements,
            const ElementRule& rule) const;
  /// Replaces the rule.elements values at `data` by those of a family, in place.
  void family(CUstream stream, CUdeviceptr data, const FamilyRule& rule) const;
  /// Changes floating-point values in their last place, like nudge of runners/inputs/reach.h.
  void nudge(CUstream stream,
             CUdeviceptr data,
             std::uint64_t elements,
             DType dtype,
             std::uint64_t seed) const;
  /// Fills with NaNs for floating types, noise for others. Seeds 2k and 2k + 1 differ in every
  /// element.
  void poison(CUstream stream,
              CUdeviceptr out,
              std::uint64_t elements,
              DType dtype,
              std::uint64_t seed) const;
  /// XORs with the keystream of `key`; a second call restores the data. `data` must be 16-byte
  /// aligned.
  void mask(CUstream stream, CUdeviceptr data, std::uint64_t size_bytes, const MaskKey& key) const;
  /// Writes a DeviceComparison to `result` (8-byte aligned). rule.key: that of the reference.
  void compare(CUstream stream,
               CUdeviceptr output,
               CUdeviceptr reference,
               const CompareRule& rule,
               CUdeviceptr result) const;
  /// Writes a DeviceDigest: equal for equal bytes under the same seed, at any address.
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

  /// Twice the L2 cache: minimum size of `scratch` for flush_l2.
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

  /// Blocks the stream until the 32-bit word at `flag` (device or mapped host memory) is `value`,
  /// for at most `limit_ns`.
  void spin(CUstream stream, CUdeviceptr flag, std::uint32_t value, std::uint64_t limit_ns) const;
  /// Keeps memory, multipliers and shared memory busy with `blocks` blocks of 256 threads until the
  /// word at `flag` is `value`, for at most `limit_ns`. Overwrites `scratch` (16-byte aligned).
  void noise(CUstream stream,
             CUdeviceptr scratch,
             std::uint64_t size_bytes,
             int blocks,
             CUdeviceptr flag,
             std::uint32_t value,
             std::uint64_t limit_ns) const;
  /// Enqueues some 0.2 ms of blocks with random number, size and lengths.
  void stir(CUstream stream, std::uint64_t seed) const;
  /// Writes canary_answer(seed) to `out`: a fixed amount of integer work, some tens of
  /// microseconds.
  void canary(CUstream stream, CUdeviceptr out, std::uint64_t seed) const;

 private:
  struct Grid {
    unsigned blocks, threads, smem_bytes;
  };
  /// Enough blocks for `threads` threads, or as many as the device holds.
  [[nodiscard]] Grid grid_for(std::uint64_t threads) const;
  void launch(CUstream stream,
              CUfunction function,
              const Grid& grid,
              std::initializer_list<const void*> arguments) const;

  const Device& device_;
  Module module_;
  DeviceMemory workspace_;  // one record per block
  HarnessFunctions functions_{};
  unsigned multiprocessors_ = 0;
  unsigned shared_bytes_ = 0;
  std::uint64_t flush_bytes_ = 0;
};

}  // namespace warpath::cuda
