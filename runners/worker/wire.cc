#include "runners/worker/wire.h"

namespace warpath::wire {
namespace {

// The low bits of a head: an argument of its own up to 23, else one of 1, 2, 4 or 8 bytes behind
// it, the most significant first.
constexpr std::uint8_t kShort = 24;
constexpr int kMajorShift = 5;

}  // namespace

void Writer::put(std::uint8_t first, std::uint64_t argument, int bytes) {
  std::array<char, 9> out{static_cast<char>(first)};
  for (int i = 0; i < bytes; ++i)
    out[static_cast<std::size_t>(i) + 1] = static_cast<char>(argument >> (8 * (bytes - 1 - i)));
  out_.append(out.data(), static_cast<std::size_t>(bytes) + 1);
}

void Writer::head(Major major, std::uint64_t argument) {
  const auto first = static_cast<std::uint8_t>(static_cast<unsigned>(major) << kMajorShift);
  if (argument < kShort) return put(static_cast<std::uint8_t>(first | argument), 0, 0);
  const int power = argument <= 0xffU         ? 0
                    : argument <= 0xffffU     ? 1
                    : argument <= 0xffffffffU ? 2
                                              : 3;
  put(static_cast<std::uint8_t>(first | (kShort + power)), argument, 1 << power);
}

std::string_view Reader::take(std::uint64_t count) {
  if (!expect(count <= rest_.size())) return {};
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint8_t Reader::take_byte() {
  const std::string_view byte = take(1);
  return byte.empty() ? 0 : static_cast<std::uint8_t>(byte.front());
}

std::uint64_t Reader::take_number(int bytes) {
  std::uint64_t number = 0;
  for (const char byte : take(static_cast<std::uint64_t>(bytes)))
    number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

std::pair<Major, std::uint64_t> Reader::head() {
  const std::uint8_t first = take_byte();
  const auto major = static_cast<Major>(first >> kMajorShift);
  const auto low = static_cast<std::uint8_t>(first & 0x1fU);
  if (low < kShort) return {major, low};
  if (!expect(low < kShort + 4)) return {major, 0};
  return {major, take_number(1 << (low - kShort))};
}

std::uint64_t Reader::head(Major expected) {
  const auto [major, argument] = head();
  return expect(major == expected) ? argument : 0;
}

}  // namespace warpath::wire
