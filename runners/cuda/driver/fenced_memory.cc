#include "runners/cuda/driver/fenced_memory.h"

#include <algorithm>

#include "engine/base/error.h"

namespace warpath::cuda {

FencedMemory::FencedMemory(const DriverApi& api,
                           CUdevice device,
                           std::size_t size_bytes,
                           Align align,
                           std::size_t alignment_bytes)
    : api_(&api) {
  WARPATH_CHECK(alignment_bytes > 0);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  std::size_t granule = 0;
  require(
      api,
      api.cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cannot read the granularity of device memory");
  const std::size_t bytes =
      std::max<std::size_t>(1, (size_bytes + granule - 1) / granule) * granule;
  CUdeviceptr mapped = 0;
  try {
    require(api, api.cuMemAddressReserve(&reserved_, bytes + 2 * granule, 0, 0, 0),
            "cannot reserve device addresses");
    reserved_bytes_ = bytes + 2 * granule;
    require(api, api.cuMemCreate(&memory_, bytes, &properties, 0), "cannot allocate device memory");
    mapped = reserved_ + granule;
    require(api, api.cuMemMap(mapped, bytes, 0, memory_, 0), "cannot map device memory");
    mapped_ = mapped;
    mapped_bytes_ = bytes;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    require(api, api.cuMemSetAccess(mapped_, bytes, &access, 1),
            "cannot open device memory for access");
  } catch (...) {
    release();
    throw;
  }
  const std::size_t slack = bytes - size_bytes;
  buffer_ = mapped_ + (align == Align::left ? 0 : slack / alignment_bytes * alignment_bytes);
}

FencedMemory::~FencedMemory() {
  release();
}

FencedMemory::FencedMemory(FencedMemory&& other) noexcept {
  *this = std::move(other);
}

FencedMemory& FencedMemory::operator=(FencedMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  api_ = other.api_;
  reserved_ = std::exchange(other.reserved_, 0);
  reserved_bytes_ = std::exchange(other.reserved_bytes_, 0);
  memory_ = std::exchange(other.memory_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  buffer_ = std::exchange(other.buffer_, 0);
  return *this;
}

void FencedMemory::release() noexcept {
  if (releases_abandoned()) return;
  if (mapped_ != 0) note_release(api_->cuMemUnmap(mapped_, mapped_bytes_));
  if (memory_ != 0) note_release(api_->cuMemRelease(memory_));
  if (reserved_ != 0) note_release(api_->cuMemAddressFree(reserved_, reserved_bytes_));
  mapped_ = reserved_ = buffer_ = 0;
  memory_ = 0;
}

}  // namespace warpath::cuda
