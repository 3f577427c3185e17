#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace warpath::capture {

/// Memory that kernels may be given pointers into. Not thread-safe.
class Allocations {
 public:
  struct Place {
    std::uint64_t allocation_bytes = 0, offset_bytes = 0;
  };

  void add(std::uint64_t base, std::uint64_t bytes) { bytes_[base] = bytes; }
  void remove(std::uint64_t base) { bytes_.erase(base); }
  void clear() { bytes_.clear(); }
  /// Where a pointer points; nullopt if into none of them.
  [[nodiscard]] std::optional<Place> find(std::uint64_t address) const {
    auto after = bytes_.upper_bound(address);
    if (after == bytes_.begin()) return std::nullopt;
    --after;
    const std::uint64_t offset = address - after->first;
    if (offset >= after->second) return std::nullopt;
    return Place{.allocation_bytes = after->second, .offset_bytes = offset};
  }

 private:
  std::map<std::uint64_t, std::uint64_t> bytes_;  // by base
};

}  // namespace warpath::capture
