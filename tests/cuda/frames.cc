#include "runners/worker/frames.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "engine/base/rng.h"
#include "runners/worker/wire.h"

using namespace std::chrono_literals;
using warpath::FrameDecoder;
using warpath::FrameStatus;
using warpath::read_frame;
using warpath::write_frame;

namespace {

/// A pipe whose ends close themselves.
struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    close_writer();
    ::close(ends[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void write(const std::string& bytes) const {
    REQUIRE(::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  void close_writer() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  int ends[2] = {-1, -1};
};

warpath::Deadline soon() {
  return std::chrono::steady_clock::now() + 20ms;
}

}  // namespace

TEST_SUITE_BEGIN("frames");

TEST_CASE("a message reads back as it was written") {
  const std::string bytes = warpath::WireWriter()
                                .u8(7)
                                .u32(1U << 31U)
                                .u64(1ULL << 63U)
                                .f64(-0.0)
                                .text("a\0b")
                                .texts({"", "x"})
                                .bytes();
  warpath::WireReader reader(bytes);
  CHECK(reader.u8() == 7);
  CHECK(reader.u32() == 1U << 31U);
  CHECK(reader.u64() == 1ULL << 63U);
  CHECK(std::signbit(reader.f64()));
  CHECK(reader.text() == "a");
  CHECK(reader.texts() == std::vector<std::string>{"", "x"});
  CHECK(reader.complete());
}

TEST_CASE("every prefix of a message is refused, and lengths that lie are") {
  const std::string bytes = warpath::WireWriter().text("hello").texts({"a", "bc"}).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    warpath::WireReader reader(std::string_view(bytes).substr(0, size));
    static_cast<void>(reader.text());
    static_cast<void>(reader.texts());
    CHECK_FALSE(reader.complete());
  }
  warpath::WireReader lying(
      "\xff\xff\xff\xff"
      "abc");
  CHECK(lying.texts().empty());
  CHECK_FALSE(lying.ok());
}

TEST_CASE("frames survive any cut of the stream") {
  warpath::Rng rng(1, "frames");
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> sent;
    std::string stream;
    for (int i = 0; i < 20; ++i) {
      sent.emplace_back(rng.below(i == 7 ? 100000 : 40), static_cast<char>('a' + i));
      stream += warpath::frame(sent.back());
    }
    FrameDecoder decoder;
    std::vector<std::string> received;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t count = std::min<std::size_t>(stream.size() - at, 1 + rng.below(3000));
      decoder.feed(std::string_view(stream).substr(at, count));
      at += count;
      while (auto payload = decoder.next()) received.push_back(std::move(*payload));
    }
    CHECK(received == sent);
    CHECK_FALSE(decoder.mid_frame());
  }
}

TEST_CASE("a length above the limit breaks the stream for good") {
  FrameDecoder decoder(10);
  decoder.feed(warpath::frame("0123456789"));
  CHECK(decoder.next() == "0123456789");
  decoder.feed(warpath::frame("0123456789a"));
  CHECK_FALSE(decoder.next());
  CHECK(decoder.broken());
  decoder.feed(warpath::frame("ok"));
  CHECK_FALSE(decoder.next());
}

TEST_CASE("reading tells an end from a torn frame, a long one and a slow one") {
  std::string payload;
  {
    Pipe pipe;
    pipe.write(warpath::frame("one"));
    CHECK(read_frame(pipe.ends[0], payload) == FrameStatus::done);
    CHECK(payload == "one");
    CHECK(read_frame(pipe.ends[0], payload, 100, soon()) == FrameStatus::timed_out);
    pipe.close_writer();
    CHECK(read_frame(pipe.ends[0], payload) == FrameStatus::closed);
  }
  for (const std::size_t cut : {1, 3, 4, 6}) {
    CAPTURE(cut);
    Pipe pipe;
    pipe.write(warpath::frame("three").substr(0, cut));
    pipe.close_writer();
    CHECK(read_frame(pipe.ends[0], payload) == FrameStatus::torn);
  }
  Pipe pipe;
  pipe.write(warpath::frame("twelve bytes"));
  CHECK(read_frame(pipe.ends[0], payload, 11) == FrameStatus::too_long);
}

TEST_CASE("a frame larger than a pipe's buffer is written whole, or the deadline is kept") {
  const std::string large(1U << 20U, 'x');
  Pipe pipe;
  std::string payload;
  {
    const std::jthread reader(
        [&] { CHECK(read_frame(pipe.ends[0], payload) == FrameStatus::done); });
    CHECK(write_frame(pipe.ends[1], large) == FrameStatus::done);
  }
  CHECK(payload == large);
  REQUIRE(::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK) == 0);
  CHECK(write_frame(pipe.ends[1], large, soon()) == FrameStatus::timed_out);
}

TEST_SUITE_END();
