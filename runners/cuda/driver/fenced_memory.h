#pragma once

#include <cstddef>

#include "runners/cuda/driver/driver.h"

namespace warpath::cuda {

/// A buffer between unmapped address ranges, so that a load or store outside it faults. Its first
/// or last byte adjoins the fence.
///
///   reserved: [ fence | mapped .................... | fence ]
///   left:             [ buffer, size_bytes ][ slack ]
///   right:            [ slack ][ buffer, size_bytes ]
///
/// Granules are 2 MiB on current devices: the slack between the buffer and the far fence is mapped
/// and must be guarded by a pattern. The context must be current on construction and destruction.
class FencedMemory {
 public:
  enum class Align { left, right };

  FencedMemory() = default;
  /// Maps memory on `device`. `alignment_bytes` is that of the buffer's address: a right-aligned
  /// buffer whose size is not a multiple of it ends up to alignment_bytes - 1 bytes before the
  /// fence. Throws Error(environment), leaking nothing, if the driver refuses.
  FencedMemory(const DriverApi& api,
               CUdevice device,
               std::size_t size_bytes,
               Align align,
               std::size_t alignment_bytes);
  ~FencedMemory();
  FencedMemory(FencedMemory&& other) noexcept;
  FencedMemory& operator=(FencedMemory&& other) noexcept;
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;

  [[nodiscard]] CUdeviceptr buffer() const { return buffer_; }
  [[nodiscard]] CUdeviceptr mapped() const { return mapped_; }
  [[nodiscard]] std::size_t mapped_bytes() const { return mapped_bytes_; }

 private:
  void release() noexcept;

  const DriverApi* api_ = nullptr;
  CUdeviceptr reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr mapped_ = 0;  // 0 until mapped
  std::size_t mapped_bytes_ = 0;
  CUdeviceptr buffer_ = 0;
};

}  // namespace warpath::cuda
