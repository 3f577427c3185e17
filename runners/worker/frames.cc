#include "runners/worker/frames.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace warpath {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers travel as they lie in memory");
constexpr std::string_view kMark = "WPf1";

/// True if a failed call should be repeated: it was interrupted, or the stream is non-blocking,
/// which another process that shares it may have set.
bool try_again(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd entry{.fd = fd, .events = events, .revents = 0};
  return ::poll(&entry, 1, -1) >= 0 || errno == EINTR;
}

/// As read(), with the descriptor that comes along.
ssize_t receive(int fd, char* out, std::size_t count, int* descriptor) {
  if (descriptor == nullptr) return ::read(fd, out, count);
  iovec part{out, count};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  if (const cmsghdr* const sent = CMSG_FIRSTHDR(&message);
      got > 0 && sent != nullptr && sent->cmsg_level == SOL_SOCKET && sent->cmsg_type == SCM_RIGHTS)
    std::memcpy(descriptor, CMSG_DATA(sent), sizeof *descriptor);
  return got;
}

/// Fills [out, out + count). `closed` if the stream ended before the first byte, `torn` if after
/// it.
FrameStatus read_exactly(int fd, char* out, std::size_t count, int* descriptor = nullptr) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = receive(fd, out + done, count - done, descriptor);
    if (got == 0) return done == 0 ? FrameStatus::closed : FrameStatus::torn;
    if (got < 0 && !try_again(fd, POLLIN)) return FrameStatus::failed;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return FrameStatus::done;
}

}  // namespace

std::optional<std::uint64_t> frame_size(std::string_view header, std::uint64_t max_bytes) {
  if (header.size() < kFrameHeaderBytes || !header.starts_with(kMark)) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, header.data() + kMark.size(), sizeof size);
  if (size > max_bytes) return std::nullopt;
  return kFrameHeaderBytes + size;
}

std::string open_frame() {
  return std::string(kMark).append(kFrameHeaderBytes - kMark.size(), '\0');
}

void close_frame(std::string& frame) {
  WARPATH_CHECK(frame.size() >= kFrameHeaderBytes);
  const std::uint64_t size = frame.size() - kFrameHeaderBytes;
  std::memcpy(frame.data() + kMark.size(), &size, sizeof size);
}

bool FrameDecoder::ready() {
  const std::size_t there = buffer_.size() - begin_;
  if (!broken_ && size_ == 0 && there >= kFrameHeaderBytes) {
    const auto size = frame_size(std::string_view(buffer_).substr(begin_), max_bytes_);
    broken_ = !size;
    size_ = size.value_or(0);
  }
  return broken_ || (size_ > 0 && there >= size_);
}

std::optional<std::string> FrameDecoder::next() {
  if (!ready() || broken_) return std::nullopt;
  std::string frame;
  if (begin_ == 0 && buffer_.size() == size_) {
    frame.swap(buffer_);
  } else {
    frame = buffer_.substr(begin_, size_);
    begin_ += size_;
  }
  size_ = 0;
  constexpr std::size_t kKept = std::size_t{1} << 20U;
  if (begin_ == buffer_.size() || begin_ > kKept) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

FrameStatus read_frame(int fd, std::string& frame, std::uint64_t max_bytes, int* descriptor) {
  if (descriptor != nullptr) *descriptor = -1;
  frame.resize(kFrameHeaderBytes);
  FrameStatus status = read_exactly(fd, frame.data(), kFrameHeaderBytes, descriptor);
  if (status != FrameStatus::done) return status;
  const auto size = frame_size(frame, max_bytes);
  if (!size) return FrameStatus::damaged;
  frame.resize(*size);
  status = read_exactly(fd, frame.data() + kFrameHeaderBytes, frame.size() - kFrameHeaderBytes);
  return status == FrameStatus::closed ? FrameStatus::torn : status;
}

FrameStatus write_frame(int fd, std::string_view frame) {
  while (!frame.empty()) {
    const ssize_t put = ::write(fd, frame.data(), frame.size());
    if (put < 0 && !try_again(fd, POLLOUT)) return FrameStatus::failed;
    if (put > 0) frame.remove_prefix(static_cast<std::size_t>(put));
  }
  return FrameStatus::done;
}

}  // namespace warpath
