#include "engine/search/edges_in_flight.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::size_t kLeastEdgeSlots = 64;

}  // namespace

void EdgesInFlight::grow() {
  std::vector<Slot> old(std::max(kLeastEdgeSlots, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& s : old) {
    if (s.edge != kNoEdge) slots_[slot_of(s.edge)] = s;
  }
}

/// Empties a slot and moves what was probed past it, so that no probe ends too early (Knuth
/// 1973, 6.4 R).
void EdgesInFlight::release(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t next = (slot + 1) & mask; slots_[next].edge != kNoEdge;
       next = (next + 1) & mask) {
    // its probes begin after the gap
    if (((next - home_of(slots_[next].edge)) & mask) < ((next - slot) & mask)) continue;
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = {};
}

void EdgesInFlight::add(std::span<const EdgeId> path) {
  while (2 * (size_ + path.size()) > slots_.size()) grow();
  for (const EdgeId edge : path) {
    Slot& s = slots_[slot_of(edge)];
    if (s.edge == kNoEdge) s.edge = edge, ++size_;
    ++s.count;
  }
}

void EdgesInFlight::remove(std::span<const EdgeId> path) {
  for (const EdgeId edge : path) {
    const std::size_t slot = slot_of(edge);
    WARPATH_CHECK(slots_[slot].edge == edge);
    if (--slots_[slot].count > 0) continue;
    release(slot);
    --size_;
  }
}

}  // namespace warpath
