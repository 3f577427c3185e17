#include "engine/base/base64.h"

#include <zlib.h>

#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/core/detail/base64.ipp>

#include "engine/base/error.h"

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

std::optional<std::vector<std::byte>> zlib_inflate(std::span<const std::byte> bytes,
                                                   std::size_t size_bytes) {
  std::vector<std::byte> out(size_bytes + 1);  // one spare byte shows a stream that is too long
  auto size = static_cast<uLongf>(out.size());
  const int rc =
      ::uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                   reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  if (rc != Z_OK || size != size_bytes) return std::nullopt;
  out.resize(size_bytes);
  return out;
}

std::vector<std::byte> zlib_deflate(std::span<const std::byte> bytes) {
  std::vector<std::byte> out(::compressBound(static_cast<uLong>(bytes.size())));
  auto size = static_cast<uLongf>(out.size());
  const int rc =
      ::compress(reinterpret_cast<Bytef*>(out.data()), &size,
                 reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  WARPATH_CHECK(rc == Z_OK);
  out.resize(size);
  return out;
}

}  // namespace warpath
