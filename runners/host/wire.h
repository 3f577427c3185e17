#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpath::host {

/// Messages between the runner and its worker processes: both ends are the same program on the same
/// machine, so values travel as they lie in memory. A message is its length (8 bytes) and its
/// bytes.
class Packer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Packer& put(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  Packer& put_bytes(std::span<const std::byte> bytes) {
    put(static_cast<std::uint64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Packer& put_text(std::string_view text) {
    return put_bytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a Packer wrote. A message that is too short makes `ok()` false and every later value
/// zero or empty: a worker whose memory a candidate overwrote may send anything.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    T value{};
    if (take(sizeof value)) std::memcpy(static_cast<void*>(&value), taken_.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> get_bytes() {
    const auto size = get<std::uint64_t>();
    return take(size) ? taken_ : std::span<const std::byte>{};
  }
  [[nodiscard]] std::string get_text() {
    const auto bytes = get_bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  bool take(std::uint64_t size) {
    if (!ok_ || size > rest_.size()) return ok_ = false;
    taken_ = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return true;
  }
  std::span<const std::byte> rest_, taken_;
  bool ok_ = true;
};

}  // namespace warpath::host
