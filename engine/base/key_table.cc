#include "engine/base/key_table.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::size_t kLeastSlots = 16;

}  // namespace

/// The slot of `key`, or the free one that ends its probe sequence.
std::size_t KeyTable::slot_of(const Hash128& key) const {
  const std::uint32_t tag = tag_of(key);
  std::size_t slot = static_cast<std::size_t>(key.low % slots_.size());
  while (slots_[slot] != kNone) {
    const std::uint32_t number = number_at(slot);
    if (slots_[slot] == (tag | number) && keys_[number] == key) break;
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return slot;
}

void KeyTable::grow() {
  const std::size_t size = std::max(kLeastSlots, slots_.size() + slots_.size() / 2);
  slots_ = {};  // before the larger one is there
  slots_.reserve(size);
  slots_.resize(size, kNone);
  number_bits_ = static_cast<int>(std::bit_width(size));
  for (std::uint32_t i = 0; i < this->size(); ++i) slots_[slot_of(keys_[i])] = tag_of(keys_[i]) | i;
}

std::uint32_t KeyTable::find(const Hash128& key) const {
  if (slots_.empty()) return kNone;
  const std::size_t slot = slot_of(key);
  return slots_[slot] == kNone ? kNone : number_at(slot);
}

KeyTable::Inserted KeyTable::insert(const Hash128& key) {
  if (4 * (keys_.size() + 1) > 3 * slots_.size()) grow();
  const std::size_t slot = slot_of(key);
  if (slots_[slot] != kNone) return {.number = number_at(slot)};
  WARPATH_CHECK(size() < kNone);
  const std::uint32_t number = size();
  keys_.push_back(key);
  slots_[slot] = tag_of(key) | number;
  return {.number = number, .created = true};
}

}  // namespace warpath
