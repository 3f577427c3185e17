#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

// The framing of messages over pipes, sockets and ssh. A frame is a fixed header, which tells it
// from other bytes, followed by one message (wire.h).
//
//   4 bytes "WPf1" | 8 bytes, little-endian: size of the message | message

inline constexpr std::size_t kFrameHeaderBytes = 12;
/// Default limit on the size of a message.
inline constexpr std::uint64_t kMaxMessageBytes = 256U << 20U;

/// Size of the whole frame whose first bytes are `header` (at least kFrameHeaderBytes of them);
/// nullopt if it is no frame header or announces a message of more than `max_bytes`.
[[nodiscard]] std::optional<std::uint64_t> frame_size(std::string_view header,
                                                      std::uint64_t max_bytes = kMaxMessageBytes);
/// `open_frame` returns room for a header; append the message, then let `close_frame` write the
/// header.
[[nodiscard]] std::string open_frame();
void close_frame(std::string& frame);

/// Splits a byte stream, fed in pieces of any size, into frames. Buffers only what has arrived.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint64_t max_bytes = kMaxMessageBytes) : max_bytes_(max_bytes) {}
  void set_max_bytes(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// True if a whole frame is buffered or the stream is `broken()`.
  [[nodiscard]] bool ready();
  /// The next whole frame; nullopt if none has arrived yet or the stream is `broken()`.
  [[nodiscard]] std::optional<std::string> next();
  /// True once something other than a valid frame arrived; the stream cannot be resynchronised.
  [[nodiscard]] bool broken() const { return broken_; }
  /// True if bytes are left that belong to an unfinished frame: a stream that ends here is torn.
  [[nodiscard]] bool mid_frame() const { return begin_ < buffer_.size(); }

 private:
  std::uint64_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;   // offset of the first byte not yet handed out
  std::uint64_t size_ = 0;  // of the frame that begins there; 0: not known yet
  bool broken_ = false;
};

enum class FrameStatus : std::uint8_t {
  done,
  closed,   ///< the stream ended between frames
  torn,     ///< the stream ended inside a frame
  damaged,  ///< not a frame, or one above the size limit
  failed,   ///< a system call failed; see errno
};

// Blocking I/O, as a worker uses it.

/// Reads exactly one frame and not a byte more. `frame` is unspecified unless the result is `done`.
/// If `descriptor` is not null it receives the descriptor that was sent with the frame, or -1; `fd`
/// must then be a socket.
[[nodiscard]] FrameStatus read_frame(int fd,
                                     std::string& frame,
                                     std::uint64_t max_bytes = kMaxMessageBytes,
                                     int* descriptor = nullptr);
/// Writes a whole frame. If the reader of a pipe is gone: SIGPIPE, or `failed` if that is ignored.
[[nodiscard]] FrameStatus write_frame(int fd, std::string_view frame);

}  // namespace warpath
