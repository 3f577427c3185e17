#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

// How processes of the program talk over pipes, sockets and ssh: a frame is a header, which tells
// it from nonsense, and one message (wire.h).
//
//   4 bytes "WPf1" | 8 bytes, little-endian: size of the message | message

inline constexpr std::size_t kFrameHeaderBytes = 12;
/// Of a message, where its reader says nothing else.
inline constexpr std::uint64_t kMaxMessageBytes = 256U << 20U;

/// Size of the whole frame that begins with `header` (at least kFrameHeaderBytes of it); nullopt if
/// none does, or one with a larger message than allowed.
[[nodiscard]] std::optional<std::uint64_t> frame_size(std::string_view header,
                                                      std::uint64_t max_bytes = kMaxMessageBytes);
/// Room for a header, to which the message is appended; then the header is written.
[[nodiscard]] std::string open_frame();
void close_frame(std::string& frame);

/// Cuts a stream of bytes, arriving in any pieces, into frames. It holds no more than has arrived.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint64_t max_bytes = kMaxMessageBytes) : max_bytes_(max_bytes) {}
  void set_max_bytes(std::uint64_t max_bytes) { max_bytes_ = max_bytes; }
  void feed(std::string_view bytes) { buffer_ += bytes; }
  /// True where `next` has an answer: a whole frame, or `broken()`.
  [[nodiscard]] bool ready();
  /// The next whole frame; nullopt if none is there yet, and for good once `broken()`.
  [[nodiscard]] std::optional<std::string> next();
  /// What came is no frame: the stream cannot be trusted any more.
  [[nodiscard]] bool broken() const { return broken_; }
  /// Bytes that were not handed out are waiting: a stream that ends here is torn.
  [[nodiscard]] bool mid_frame() const { return begin_ < buffer_.size(); }

 private:
  std::uint64_t max_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;   // of the first byte not handed out
  std::uint64_t size_ = 0;  // of the frame that begins there; 0: not known yet
  bool broken_ = false;
};

enum class FrameStatus : std::uint8_t {
  done,
  closed,   ///< the stream ended between frames
  torn,     ///< it ended inside one
  damaged,  ///< what came is no frame, or a larger one than allowed
  failed,   ///< a system call did; errno says why
};

// A worker's side, which waits as long as it takes.

/// Reads exactly one frame and no byte more. `frame` is unspecified unless `done`. `descriptor`, if
/// it is not null, gets one that came with the frame, or -1; `fd` must be a socket then.
[[nodiscard]] FrameStatus read_frame(int fd,
                                     std::string& frame,
                                     std::uint64_t max_bytes = kMaxMessageBytes,
                                     int* descriptor = nullptr);
/// Where the reader of a pipe is gone: SIGPIPE, or `failed` if that is ignored.
[[nodiscard]] FrameStatus write_frame(int fd, std::string_view frame);

}  // namespace warpath
