#include "runners/worker/frames.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/base/error.h"
#include "runners/worker/wire.h"

namespace warpath {
namespace {

constexpr std::size_t kHeaderBytes = 4;

/// Waits until `fd` is ready for `events`. done, timed_out or failed.
FrameStatus wait_ready(int fd, short events, const Deadline& deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now())
              .count();
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    }
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, timeout_ms);
    if (ready > 0) return FrameStatus::done;
    if (ready == 0) return FrameStatus::timed_out;
    if (errno != EINTR) return FrameStatus::failed;
  }
}

/// Fills [out, out + count). `closed` if the stream ended before the first byte, `torn` if after
/// it.
FrameStatus read_exactly(int fd, char* out, std::size_t count, const Deadline& deadline) {
  std::size_t done = 0;
  while (done < count) {
    if (const FrameStatus ready = wait_ready(fd, POLLIN, deadline); ready != FrameStatus::done)
      return ready;
    const ssize_t got = ::read(fd, out + done, count - done);
    if (got == 0) return done == 0 ? FrameStatus::closed : FrameStatus::torn;
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return FrameStatus::failed;
    }
    done += static_cast<std::size_t>(got);
  }
  return FrameStatus::done;
}

}  // namespace

std::string frame(std::string_view payload) {
  WARPATH_CHECK(payload.size() <= kMaxFrameBytes);
  return WireWriter().text(payload).bytes();
}

std::optional<std::string> FrameDecoder::next() {
  if (broken_ || buffer_.size() - begin_ < kHeaderBytes) return std::nullopt;
  const std::uint32_t size =
      WireReader(std::string_view(buffer_).substr(begin_, kHeaderBytes)).u32();
  if (size > max_bytes_) {
    broken_ = true;
    return std::nullopt;
  }
  if (buffer_.size() - begin_ - kHeaderBytes < size) return std::nullopt;
  std::string payload = buffer_.substr(begin_ + kHeaderBytes, size);
  begin_ += kHeaderBytes + size;
  if (begin_ == buffer_.size() || begin_ > (std::size_t{1} << 20U)) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return payload;
}

FrameStatus read_frame(int fd, std::string& payload, std::uint32_t max_bytes, Deadline deadline) {
  char header[kHeaderBytes];
  if (const FrameStatus status = read_exactly(fd, header, kHeaderBytes, deadline);
      status != FrameStatus::done) {
    return status;
  }
  const std::uint32_t size = WireReader(std::string_view(header, kHeaderBytes)).u32();
  if (size > max_bytes) return FrameStatus::too_long;
  payload.resize(size);
  const FrameStatus status = read_exactly(fd, payload.data(), size, deadline);
  return status == FrameStatus::closed ? FrameStatus::torn : status;
}

FrameStatus write_frame(int fd, std::string_view payload, Deadline deadline) {
  const std::string bytes = frame(payload);
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (const FrameStatus ready = wait_ready(fd, POLLOUT, deadline); ready != FrameStatus::done)
      return ready;
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return FrameStatus::failed;
    }
    done += static_cast<std::size_t>(put);
  }
  return FrameStatus::done;
}

}  // namespace warpath
