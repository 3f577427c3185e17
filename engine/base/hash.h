#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warpath {

/// 128-bit content hash (XXH3-128, seed 0): the persisted identity of nodes, configurations and
/// logs. Stable across machines and versions; not cryptographic.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Hash128&) const = default;
  /// 32 lower-case hexadecimal digits, `high` first.
  [[nodiscard]] std::string hex() const;
  /// The first 12 digits of `hex()`: the form shown to people.
  [[nodiscard]] std::string short_hex() const { return hex().substr(0, 12); }
  /// nullopt unless `text` is exactly 32 hexadecimal digits.
  [[nodiscard]] static std::optional<Hash128> parse(std::string_view text);
};

[[nodiscard]] Hash128 hash128(std::span<const std::byte> bytes);
[[nodiscard]] Hash128 hash128(std::string_view text);

/// Incremental hashing. Every `add` is delimited by length or width, so that ("ab","c") differs
/// from ("a","bc").
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& add(std::string_view text);
  Hasher& add(std::uint64_t value);
  Hasher& add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  Hasher& add(std::uint32_t value) { return add(static_cast<std::uint64_t>(value)); }
  Hasher& add(int value) { return add(static_cast<std::int64_t>(value)); }
  /// Hashes the bit pattern: -0.0 and 0.0 differ, as do NaN payloads.
  Hasher& add(double value);
  Hasher& add(const Hash128& value) { return add(value.high).add(value.low); }
  [[nodiscard]] Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpath

template <>
struct std::hash<warpath::Hash128> {
  std::size_t operator()(const warpath::Hash128& h) const noexcept {
    return static_cast<std::size_t>(h.low);
  }
};
