#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace warpath::host {

/// How a tensor is placed between its guards.
enum class Placement : std::uint8_t {
  canaries,      ///< 64 KiB of known bytes on both sides, then unmapped pages: a small overrun is
                 ///< detected after the launch
  fence,         ///< ends at an unmapped page: the first access beyond it faults
  fence_before,  ///< begins at an unmapped page: the last access before it faults
};

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kCanaryBytes = 64 << 10;

/// One tensor's memory with its guards.
///
///     unmapped | canary | data | canary | unmapped      (fence: the second canary is what
///     alignment leaves)
class Buffer {
 public:
  Buffer() = default;
  /// `data()` is null if memory is short. `alignment`: a power of two; the address is aligned to
  /// exactly that, no more.
  Buffer(std::size_t size_bytes, std::size_t alignment, Placement placement);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// With its canaries and the unmapped pages around them.
  [[nodiscard]] std::span<const std::byte> mapping() const { return {mapping_, mapping_bytes_}; }
  /// Fills both canaries: with NaNs that depend on `seed`, or with portable::constant_guard(guards
  /// - 1).
  void arm(std::uint64_t seed, std::uint8_t guards);
  /// Empty if the canaries are intact; otherwise the position of the first changed byte relative to
  /// the data.
  [[nodiscard]] std::string violation() const;
  /// True if `address` is in the unmapped pages; `offset` is then its distance from the data's
  /// begin. Async-signal-safe.
  [[nodiscard]] bool in_fence(const void* address, std::int64_t& offset) const;
  /// Of an access that begins or ends in the canaries: its first byte there, relative to the data's
  /// begin. nullopt for one to the data, or elsewhere.
  [[nodiscard]] std::optional<std::int64_t> outside(const volatile void* address,
                                                    std::size_t bytes) const;

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0, size_ = 0;
  std::byte *readable_begin_ = nullptr, *readable_end_ = nullptr, *data_ = nullptr;
  [[nodiscard]] std::uint64_t canary(const std::byte* address) const;
  [[nodiscard]] bool intact(const std::byte* begin, const std::byte* end) const;

  std::uint64_t seed_ = 0;
  std::uint8_t guards_ = 0;
};

}  // namespace warpath::host
