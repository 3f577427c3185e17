#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/hash.h"
#include "engine/base/pool.h"

namespace warpath {

/// Keys by number, 0 for the first that was inserted, and numbers by key. Not thread-safe.
///
///   keys_  [ k0 | k1 | k2 | ... ]
///   slots_ [ - | 2 | 0 | - | 1 | - ]     open addressing, linear probing, at most 3/4 full
class KeyTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  [[nodiscard]] const Hash128& operator[](std::uint32_t number) const { return keys_[number]; }
  /// kNone: it was never inserted.
  [[nodiscard]] std::uint32_t find(const Hash128& key) const;
  struct Inserted {
    std::uint32_t number = kNone;
    bool created = false;  ///< it was not there
  };
  Inserted insert(const Hash128& key);
  /// Throws std::bad_alloc if there is no memory for as many.
  void reserve(std::size_t keys) { keys_.reserve(keys); }

 private:
  [[nodiscard]] std::size_t slot_of(const Hash128& key) const;
  void grow();
  [[nodiscard]] std::uint32_t number_at(std::size_t slot) const {
    return static_cast<std::uint32_t>(slots_[slot] & ((std::uint64_t{1} << number_bits_) - 1));
  }
  /// The bits of the key that are stored with the number.
  [[nodiscard]] std::uint32_t tag_of(const Hash128& key) const {
    return static_cast<std::uint32_t>(key.high << number_bits_);
  }

  Pool<Hash128> keys_;
  // The number in the low bits and bits of its key in the others, so that few probes look at
  // another key; kNone: free.
  Pool<std::uint32_t> slots_;
  int number_bits_ = 0;  // no number is 2^number_bits_ - 1
};

}  // namespace warpath
