#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/pool.h"

namespace warpath {

/// Counts of edges or nodes, of which few are not 0.
///
///   slots_ [ - | e7 2 | e3 1 | - | e9 1 | - ]     open addressing, linear probing, a power of two,
///   at most 3/4 full
template <class Id>
class Counts {
 public:
  /// `times` > 0.
  void add(Id id, std::uint32_t times = 1) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    Slot& s = slots_[slot_of(id)];
    if (s.id == kFree) s.id = id, ++size_;
    s.count += times;
  }
  /// One less of what has a count.
  void remove(Id id) {
    const std::size_t slot = slots_.empty() ? 0 : slot_of(id);
    WARPATH_CHECK(!slots_.empty() && slots_[slot].id == id);
    if (--slots_[slot].count > 0) return;
    release(slot);
    --size_;
  }
  [[nodiscard]] std::uint32_t operator[](Id id) const {
    return size_ == 0 ? 0 : slots_[slot_of(id)].count;
  }
  /// Number of those that have a count.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr Id kFree{UINT32_MAX};
  static constexpr std::size_t kLeastSlots = 64;
  struct Slot {
    Id id = kFree;
    std::uint32_t count = 0;
  };

  /// First slot probed: the upper bits of a product with 2^64 / golden ratio (Knuth 1973).
  [[nodiscard]] std::size_t home_of(Id id) const {
    return static_cast<std::size_t>(index(id) * 0x9E3779B97F4A7C15U >> 32U) & (slots_.size() - 1);
  }
  /// The slot of `id`, or the free slot that ends its probe sequence.
  [[nodiscard]] std::size_t slot_of(Id id) const {
    std::size_t slot = home_of(id);
    while (slots_[slot].id != id && slots_[slot].id != kFree)
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    const Pool<Slot> old = std::exchange(slots_, {});
    slots_.resize(std::max(kLeastSlots, 2 * old.size()));
    for (const Slot& s : old) {
      if (s.id != kFree) slots_[slot_of(s.id)] = s;
    }
  }
  /// Empties a slot and moves what was probed past it, so that no probe ends too early (Knuth
  /// 1973, 6.4 R).
  void release(std::size_t slot) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t next = (slot + 1) & mask; slots_[next].id != kFree; next = (next + 1) & mask) {
      // its probes begin after the gap
      if (((next - home_of(slots_[next].id)) & mask) < ((next - slot) & mask)) continue;
      slots_[slot] = slots_[next];
      slot = next;
    }
    slots_[slot] = {};
  }

  Pool<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace warpath
