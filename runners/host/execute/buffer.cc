#include "runners/host/execute/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/base/rng.h"
#include "engine/base/round_up.h"
#include "engine/portable/guard.h"

namespace warpath::host {
namespace {

constexpr std::size_t kFenceBytes = 4 << 20;  // address space only

/// Calls `piece(p, bytes)` for each aligned word of [begin, end) and each byte beside them, until
/// it returns false; whether it never did.
template <class Byte, class Piece>
bool each_piece(Byte* begin, const std::byte* end, Piece piece) {
  for (Byte* p = begin; p != end;) {
    const bool whole = reinterpret_cast<std::uintptr_t>(p) % 8 == 0 && end - p >= 8;
    const std::size_t bytes = whole ? 8 : 1;
    if (!piece(p, bytes)) return false;
    p += bytes;
  }
  return true;
}

}  // namespace

/// What belongs at `address` and behind it in the same aligned word.
/// The random ones depend on where a byte is, so that a copied block does not restore it, and are
/// NaNs.
std::uint64_t Buffer::canary(const std::byte* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t word = guards_ > 0 ? portable::constant_guard(guards_ - 1U)
                                         : mix64(seed_ ^ (at >> 3U)) | 0x7ff8'7ff8'7ff8'7ff8ULL;
  return word >> (8 * (at & 7U));
}

Buffer::Buffer(std::size_t size_bytes, std::size_t alignment, Placement placement)
    : size_(size_bytes) {
  const bool fence = placement == Placement::fence, before = placement == Placement::fence_before;
  const std::size_t body = round_up(size_bytes + 2 * alignment, kPage);
  const std::size_t readable = (before ? 0 : kCanaryBytes) + body + (fence ? 0 : kCanaryBytes);
  mapping_bytes_ = kFenceBytes + readable + kFenceBytes;
  void* const address = ::mmap(nullptr, mapping_bytes_, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return;
  mapping_ = static_cast<std::byte*>(address);
  readable_begin_ = mapping_ + kFenceBytes;
  readable_end_ = readable_begin_ + readable;
  if (::mprotect(readable_begin_, readable, PROT_READ | PROT_WRITE) != 0) return;
  std::byte* start = readable_begin_ + (before ? 0 : kCanaryBytes);
  if (fence) {
    start = readable_end_ - round_up(size_bytes, alignment);
  } else if (!before && alignment < kPage) {
    start += alignment;  // not aligned to more than was promised
  }
  data_ = start;
}

Buffer::~Buffer() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

Buffer::Buffer(Buffer&& other) noexcept {
  *this = std::move(other);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(size_, other.size_);
  std::swap(readable_begin_, other.readable_begin_);
  std::swap(readable_end_, other.readable_end_);
  std::swap(data_, other.data_);
  std::swap(seed_, other.seed_);
  std::swap(guards_, other.guards_);
  return *this;
}

void Buffer::arm(std::uint64_t seed, std::uint8_t guards) {
  seed_ = seed;
  guards_ = guards;
  const auto fill = [&](std::byte* begin, const std::byte* end) {
    each_piece(begin, end, [this](std::byte* p, std::size_t bytes) {
      const std::uint64_t right = canary(p);
      std::memcpy(p, &right, bytes);
      return true;
    });
  };
  fill(readable_begin_, data_);
  fill(data_ + size_, readable_end_);
}

bool Buffer::intact(const std::byte* begin, const std::byte* end) const {
  return each_piece(begin, end, [this](const std::byte* p, std::size_t bytes) {
    const std::uint64_t right = canary(p);
    return std::memcmp(p, &right, bytes) == 0;
  });
}

std::string Buffer::violation() const {
  const std::byte* const end = data_ + size_;
  if (!intact(end, readable_end_)) {
    const std::byte* p = end;
    while (intact(p, p + 1)) ++p;
    return std::to_string(p - end) + " bytes past its end";
  }
  if (!intact(readable_begin_, data_)) {
    const std::byte* p = data_ - 1;
    while (intact(p, p + 1)) --p;
    return std::to_string(data_ - p) + " bytes before its begin";
  }
  return {};
}

std::optional<std::int64_t> Buffer::outside(const volatile void* address, std::size_t bytes) const {
  const auto number = [](const volatile void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const std::uintptr_t first = number(address), begin = number(data_), end = begin + size_;
  if (first + bytes <= number(readable_begin_) || first >= number(readable_end_) || bytes == 0)
    return std::nullopt;
  if (first >= begin && first + bytes <= end) return std::nullopt;
  return static_cast<std::int64_t>(first < begin ? first : std::max(first, end)) -
         static_cast<std::int64_t>(begin);
}

bool Buffer::in_fence(const void* address, std::int64_t& offset) const {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping_), end = begin + mapping_bytes_;
  if (a < begin || a >= end) return false;
  offset = static_cast<std::int64_t>(a) -
           static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_));
  return true;
}

}  // namespace warpath::host
