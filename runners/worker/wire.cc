#include "runners/worker/wire.h"

#include <bit>

#include "engine/base/error.h"

namespace warpath {
namespace {

template <class Integer>
void append_little_endian(std::string& out, Integer value) {
  for (unsigned shift = 0; shift < 8 * sizeof(Integer); shift += 8) {
    out += static_cast<char>((value >> shift) & 0xffU);
  }
}

template <class Integer>
Integer little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return static_cast<Integer>(value);
}

}  // namespace

WireWriter& WireWriter::u8(std::uint8_t value) {
  bytes_ += static_cast<char>(value);
  return *this;
}

WireWriter& WireWriter::u32(std::uint32_t value) {
  append_little_endian(bytes_, value);
  return *this;
}

WireWriter& WireWriter::u64(std::uint64_t value) {
  append_little_endian(bytes_, value);
  return *this;
}

WireWriter& WireWriter::f64(double value) {
  return u64(std::bit_cast<std::uint64_t>(value));
}

WireWriter& WireWriter::text(std::string_view value) {
  WARPATH_CHECK(value.size() <= 0xffffffffU);
  u32(static_cast<std::uint32_t>(value.size()));
  bytes_ += value;
  return *this;
}

WireWriter& WireWriter::texts(const std::vector<std::string>& values) {
  u32(static_cast<std::uint32_t>(values.size()));
  for (const std::string& value : values) text(value);
  return *this;
}

std::string_view WireReader::take(std::size_t count) {
  if (!ok_ || count > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint8_t WireReader::u8() {
  return little_endian<std::uint8_t>(take(1));
}

std::uint32_t WireReader::u32() {
  return little_endian<std::uint32_t>(take(4));
}

std::uint64_t WireReader::u64() {
  return little_endian<std::uint64_t>(take(8));
}

double WireReader::f64() {
  return std::bit_cast<double>(u64());
}

std::string WireReader::text() {
  return std::string(take(u32()));
}

std::vector<std::string> WireReader::texts() {
  std::vector<std::string> values;
  const std::uint32_t count = u32();
  for (std::uint32_t i = 0; i < count && ok_; ++i) values.push_back(text());
  if (!ok_) values.clear();
  return values;
}

}  // namespace warpath
