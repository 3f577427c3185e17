#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/ids.h"

namespace warpath {

/// O_e of the edges on a path in flight; it is 0 for all others.
///
///   slots_ [ - | e7 2 | e3 1 | - | e9 1 | - ]     open addressing, linear probing, a power of two,
///   at most half full
class EdgesInFlight {
 public:
  /// O_e += 1 along `path`.
  void add(std::span<const EdgeId> path);
  /// O_e -= 1 along `path`, which was added.
  void remove(std::span<const EdgeId> path);
  [[nodiscard]] std::uint32_t operator[](EdgeId edge) const {
    return slots_.empty() ? 0 : slots_[slot_of(edge)].count;
  }
  /// Number of edges on a path in flight.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    EdgeId edge = kNoEdge;
    std::uint32_t count = 0;
  };

  /// First slot probed for `edge`: the upper bits of a product with 2^64 / golden ratio (Knuth
  /// 1973).
  [[nodiscard]] std::size_t home_of(EdgeId edge) const {
    return static_cast<std::size_t>(index(edge) * 0x9E3779B97F4A7C15U >> 32U) & (slots_.size() - 1);
  }
  /// The slot of `edge`, or the free slot that ends its probe sequence.
  [[nodiscard]] std::size_t slot_of(EdgeId edge) const {
    std::size_t slot = home_of(edge);
    while (slots_[slot].edge != edge && slots_[slot].edge != kNoEdge)
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow();
  void release(std::size_t slot);

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace warpath
