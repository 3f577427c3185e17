#include "runners/replay/gzip.h"

#include <zlib.h>

#include "engine/base/error.h"

namespace warpath {

std::string read_maybe_gzip(const std::filesystem::path& file) {
  const gzFile in = gzopen(file.c_str(), "rb");
  if (in == nullptr)
    throw bad_input(file.string(), "a file that cannot be read", "a recorded space");
  std::string out;
  std::string block(1 << 16, '\0');
  int got = 0;
  while ((got = gzread(in, block.data(), static_cast<unsigned>(block.size()))) > 0)
    out.append(block, 0, static_cast<std::size_t>(got));
  const bool whole = gzclose(in) == Z_OK && got == 0;
  if (!whole) throw bad_input(file.string(), "a damaged gzip file", "a recorded space");
  return out;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16;
  WARPATH_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 9,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  WARPATH_CHECK(status == Z_STREAM_END);
  return out;
}

}  // namespace warpath
