#include "engine/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstring>

#include "engine/base/hash_pieces.h"

namespace warpath {
namespace {

Hash128 from_xxh(const XXH128_hash_t& h) {
  return {.high = h.high64, .low = h.low64};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Hash128::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(32, '0');
  for (unsigned i = 0; i < 16; ++i) {
    out[i] = kDigits[(high >> (60 - 4 * i)) & 15U];
    out[16 + i] = kDigits[(low >> (60 - 4 * i)) & 15U];
  }
  return out;
}

std::optional<Hash128> Hash128::parse(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  Hash128 out;
  for (std::size_t i = 0; i < 32; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    auto& half = i < 16 ? out.high : out.low;
    half = half << 4U | static_cast<std::uint64_t>(digit);
  }
  return out;
}

Hash128 hash128(std::span<const std::byte> bytes) {
  return from_xxh(XXH3_128bits(bytes.data(), bytes.size()));
}

Hash128 hash128(std::string_view text) {
  return from_xxh(XXH3_128bits(text.data(), text.size()));
}

Hash128 hash128_of(std::initializer_list<std::string_view> pieces) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const std::string_view piece : pieces)
    XXH3_128bits_update(&state, piece.data(), piece.size());
  return from_xxh(XXH3_128bits_digest(&state));
}

struct PieceHasher::State {
  XXH3_state_t xxh;
};

PieceHasher::PieceHasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
PieceHasher::~PieceHasher() = default;

void PieceHasher::add(std::string_view piece) {
  XXH3_128bits_update(&state_->xxh, piece.data(), piece.size());
}

Hash128 PieceHasher::digest() const {
  return from_xxh(XXH3_128bits_digest(&state_->xxh));
}

/// Short pieces are gathered: a call of the library costs more than what it hashes.
struct Hasher::State {
  XXH3_state_t xxh;
  std::array<char, 512> gathered;
  std::size_t used = 0;

  void add(const char* bytes, std::size_t count) {
    if (count > gathered.size() - used) {
      flush();
      if (count > gathered.size()) {
        XXH3_128bits_update(&xxh, bytes, count);
        return;
      }
    }
    std::memcpy(gathered.data() + used, bytes, count);
    used += count;
  }
  void flush() {
    XXH3_128bits_update(&xxh, gathered.data(), used);
    used = 0;
  }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::add(std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little);
  state_->add(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  if (!text.empty()) state_->add(text.data(), text.size());
  return *this;
}

Hasher& Hasher::add(double value) {
  return add(std::bit_cast<std::uint64_t>(value));
}

Hash128 Hasher::digest() const {
  state_->flush();
  return from_xxh(XXH3_128bits_digest(&state_->xxh));
}

}  // namespace warpath
