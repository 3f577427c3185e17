#include "engine/base/compression.h"

#include <zlib.h>

#include <array>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

/// Added to the window's size: gzip instead of zlib.
constexpr int kGzip = 16;

int level(Effort effort) {
  constexpr int kLevels[] = {Z_BEST_SPEED, Z_DEFAULT_COMPRESSION, Z_BEST_COMPRESSION};
  return kLevels[static_cast<std::size_t>(effort)];
}

Bytef* bytes_of(const void* data) {
  return static_cast<Bytef*>(const_cast<void*>(data));
}

}  // namespace

std::vector<std::byte> zlib_deflate(std::span<const std::byte> bytes, Effort effort) {
  std::vector<std::byte> out(::compressBound(static_cast<uLong>(bytes.size())));
  auto size = static_cast<uLongf>(out.size());
  WARPATH_CHECK(::compress2(bytes_of(out.data()), &size, bytes_of(bytes.data()),
                            static_cast<uLong>(bytes.size()), level(effort)) == Z_OK);
  out.resize(size);
  return out;
}

std::optional<std::vector<std::byte>> zlib_inflate(std::span<const std::byte> bytes,
                                                   std::size_t size_bytes) {
  std::vector<std::byte> out(size_bytes + 1);  // one spare byte shows a stream that is too long
  auto size = static_cast<uLongf>(out.size());
  const int code = ::uncompress(bytes_of(out.data()), &size, bytes_of(bytes.data()),
                                static_cast<uLong>(bytes.size()));
  if (code != Z_OK || size != size_bytes) return std::nullopt;
  out.resize(size_bytes);
  return out;
}

struct GzipWriter::State {
  z_stream stream{};
  std::array<char, 1U << 16U> out;
};

GzipWriter::GzipWriter(std::function<void(std::string_view)> sink, Effort effort)
    : sink_(std::move(sink)), state_(std::make_unique<State>()) {
  WARPATH_CHECK(deflateInit2(&state_->stream, level(effort), Z_DEFLATED, MAX_WBITS + kGzip,
                             MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK);
}

GzipWriter::~GzipWriter() {
  deflateEnd(&state_->stream);
}

void GzipWriter::add(std::string_view text) {
  deflate(text, false);
}

void GzipWriter::finish() {
  deflate({}, true);
}

void GzipWriter::deflate(std::string_view text, bool last) {
  z_stream& stream = state_->stream;
  stream.next_in = bytes_of(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  do {
    stream.next_out = bytes_of(state_->out.data());
    stream.avail_out = static_cast<uInt>(state_->out.size());
    WARPATH_CHECK(::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
    sink_({state_->out.data(), state_->out.size() - stream.avail_out});
  } while (stream.avail_out == 0);
}

std::string gzip(std::string_view text, Effort effort) {
  std::string out;
  GzipWriter writer([&](std::string_view piece) { out += piece; }, effort);
  writer.add(text);
  writer.finish();
  return out;
}

std::optional<std::string> gunzip(std::string_view bytes, std::size_t size_bytes) {
  std::string out(size_bytes, '\0');
  z_stream stream{};
  WARPATH_CHECK(inflateInit2(&stream, MAX_WBITS + kGzip) == Z_OK);
  stream.next_in = bytes_of(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = bytes_of(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == size_bytes;
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return out;
}

std::string read_maybe_gzip(const std::filesystem::path& file, std::string_view wanted) {
  // a pipe or a device may have no end
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  const gzFile in = regular ? gzopen(file.c_str(), "rb") : nullptr;
  if (in == nullptr)
    throw bad_input(file.string(), "a file that cannot be read", std::string(wanted));
  std::string out;
  std::string block(1 << 16, '\0');
  int got = 0;
  while ((got = gzread(in, block.data(), static_cast<unsigned>(block.size()))) > 0)
    out.append(block, 0, static_cast<std::size_t>(got));
  const bool whole = gzclose(in) == Z_OK && got == 0;
  if (!whole) throw bad_input(file.string(), "a damaged gzip file", std::string(wanted));
  return out;
}

}  // namespace warpath
