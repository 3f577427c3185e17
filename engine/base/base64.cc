#include "engine/base/base64.h"

#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/core/detail/base64.ipp>

namespace warpath {

namespace codec = boost::beast::detail::base64;

std::string base64_encode(std::span<const std::byte> bytes) {
  std::string out(codec::encoded_size(bytes.size()), '\0');
  out.resize(codec::encode(out.data(), bytes.data(), bytes.size()));
  return out;
}

std::optional<std::vector<std::byte>> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> out(codec::decoded_size(text.size()));
  const auto [written, read] = codec::decode(out.data(), text.data(), text.size());
  static_cast<void>(read);
  out.resize(written);
  // The decoder stops at the first foreign character and forgives wrong padding; the round trip
  // does not.
  if (base64_encode(out) != text) return std::nullopt;
  return out;
}

}  // namespace warpath
