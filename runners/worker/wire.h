#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// Builds a message for another process: little-endian integers, texts with a 32-bit length before
/// them.
class WireWriter {
 public:
  WireWriter& u8(std::uint8_t value);
  WireWriter& u32(std::uint32_t value);
  WireWriter& u64(std::uint64_t value);
  WireWriter& f64(double value);  ///< by bit pattern
  WireWriter& text(std::string_view value);
  WireWriter& texts(const std::vector<std::string>& values);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what WireWriter built. Any bytes are safe to read: past the end, or past a length that
/// lies, every value is zero or empty and `ok()` is false for good. Borrows the message.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  [[nodiscard]] std::uint8_t u8();
  [[nodiscard]] std::uint32_t u32();
  [[nodiscard]] std::uint64_t u64();
  [[nodiscard]] double f64();
  [[nodiscard]] std::string text();
  [[nodiscard]] std::vector<std::string> texts();
  [[nodiscard]] bool ok() const { return ok_; }
  /// Everything was read, and nothing was missing.
  [[nodiscard]] bool complete() const { return ok_ && rest_.empty(); }

 private:
  [[nodiscard]] std::string_view take(std::size_t count);

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace warpath
