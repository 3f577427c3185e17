#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

// How processes of the program talk over pipes, sockets and ssh: a frame is a little-endian 32-bit
// length and that many bytes.

inline constexpr std::uint32_t kMaxFrameBytes = 256U << 20U;

/// `payload` with its length before it. `payload` must not exceed kMaxFrameBytes.
[[nodiscard]] std::string frame(std::string_view payload);

/// Cuts a stream of bytes, arriving in any pieces, into frames.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint32_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}
  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// The next whole frame; nullopt if none is there yet, and for good once `broken()`.
  [[nodiscard]] std::optional<std::string> next();
  /// A length above the limit was announced: the stream cannot be trusted any more.
  [[nodiscard]] bool broken() const { return broken_; }
  /// Bytes of an unfinished frame are waiting: a stream that ends here is torn.
  [[nodiscard]] bool mid_frame() const { return begin_ < buffer_.size(); }

 private:
  std::uint32_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the first byte not handed out
  bool broken_ = false;
};

enum class FrameStatus : std::uint8_t {
  done,
  closed,    ///< the stream ended between frames
  torn,      ///< it ended inside one
  too_long,  ///< a length above the limit
  timed_out,
  failed,  ///< a system call did; errno says why
};

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  ///< nullopt: wait for ever

/// Reads exactly one frame and no byte more. `payload` is unspecified unless `done`.
[[nodiscard]] FrameStatus read_frame(int fd,
                                     std::string& payload,
                                     std::uint32_t max_bytes = kMaxFrameBytes,
                                     Deadline deadline = std::nullopt);
/// Writes one frame. Where the reader of a pipe is gone: SIGPIPE, or `failed` if that is ignored.
[[nodiscard]] FrameStatus write_frame(int fd,
                                      std::string_view payload,
                                      Deadline deadline = std::nullopt);

}  // namespace warpath
