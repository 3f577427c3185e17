#include "runners/worker/frames.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <thread>

#include "engine/base/rng.h"
#include "runners/worker/wire.h"

using warpath::decode_frame;
using warpath::encode_frame;
using warpath::FrameDecoder;
using warpath::FrameStatus;
using warpath::read_frame;
using warpath::write_frame;

namespace {

enum class Colour : std::uint8_t { red, green };
struct Part {
  std::string text;
  Colour colour = Colour::red;
  bool operator==(const Part&) const = default;
};
struct Everything {
  bool flag = false;
  int small = 0;
  std::uint64_t large = 0;
  double number = 0;
  std::vector<std::string> texts;
  std::vector<double> samples;
  std::vector<std::vector<std::byte>> tensors;
  std::array<std::int64_t, 3> grid{};
  std::optional<Part> part;
  std::map<std::string, Part> parts;
  std::variant<int, Part> choice;
  bool operator==(const Everything&) const = default;
};

}  // namespace

namespace warpath {
template <>
struct LastOf<Colour> {
  static constexpr auto value = Colour::green;
};
template <>
struct Description<Part> : Unnamed<&Part::text, &Part::colour> {};
template <>
struct Description<Everything> : Unnamed<&Everything::flag,
                                         &Everything::small,
                                         &Everything::large,
                                         &Everything::number,
                                         &Everything::texts,
                                         &Everything::samples,
                                         &Everything::tensors,
                                         &Everything::grid,
                                         &Everything::part,
                                         &Everything::parts,
                                         &Everything::choice> {};
}  // namespace warpath

namespace {

Everything everything() {
  return {.flag = true,
          .small = -7,
          .large = 1ULL << 63U,
          .number = std::numeric_limits<double>::infinity(),
          .texts = {"", std::string("a\0b", 3), "\xff", std::string(1000, 'x')},
          .samples = {1.5, -0.0, 1e300},
          .tensors = {{}, {std::byte{1}, std::byte{0xff}}},
          .grid = {1, -2, 3},
          .part = Part{"in", Colour::green},
          .parts = {{"a", {"b", Colour::red}}, {"c", {"d", Colour::green}}},
          .choice = Part{"last", Colour::green}};
}

std::string frame_of(const std::string& text) {
  return encode_frame(text);
}
/// A frame with any message at all.
std::string frame_with(const std::string& message) {
  std::string frame = warpath::open_frame() + message;
  warpath::close_frame(frame);
  return frame;
}
std::string text_of(const std::string& frame) {
  std::string text;
  CHECK(decode_frame(frame, text));
  return text;
}

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

}  // namespace

TEST_SUITE_BEGIN("frames");

TEST_CASE("a message reads back as it was written") {
  Everything got;
  REQUIRE(decode_frame(encode_frame(everything()), got));
  CHECK(got == everything());
  CHECK(std::signbit(got.samples[1]));
  double back = 0;
  REQUIRE(decode_frame(encode_frame(std::nan("")), back));
  CHECK(std::isnan(back));
}

TEST_CASE("messages are CBOR, and bytes stand in them as they are") {
  using nlohmann::json;
  const std::string large(1000, '\xee');
  const auto read = [](const std::string& frame) {
    return json::from_cbor(frame.substr(warpath::kFrameHeaderBytes));
  };
  CHECK(read(encode_frame(std::vector<int>{})).get_binary().empty());
  CHECK(encode_frame(large).ends_with(large));
  CHECK(read(encode_frame(large)).get_binary().size() == large.size());
  Everything sent = everything();
  sent.parts.clear();  // its keys are bytes, which nlohmann::json does not take for keys
  const json all = read(encode_frame(sent));
  REQUIRE(all.size() == 11);
  CHECK(all[0] == true);
  CHECK(all[1] == -7);
  CHECK(all[2] == 1ULL << 63U);
  CHECK(all[7] == json{1, -2, 3});
  CHECK(all[8][0][1] == 1);
  for (const std::int64_t number :
       {INT64_MIN, std::int64_t{-257}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{23},
        std::int64_t{24}, std::int64_t{65536}, std::int64_t{1} << 40U, INT64_MAX}) {
    CHECK(read(encode_frame(number)) == number);
    const std::vector<std::uint8_t> cbor = json::to_cbor(number);
    std::int64_t back = 0;
    REQUIRE(decode_frame(frame_with({cbor.begin(), cbor.end()}), back));
    CHECK(back == number);
  }
}

TEST_CASE("a message that is cut anywhere, has a byte too many or is of another kind is refused") {
  const std::string frame = encode_frame(everything());
  Everything got;
  for (std::size_t size = 0; size < frame.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(decode_frame(frame.substr(0, size), got));
  }
  CHECK_FALSE(decode_frame(frame + "x", got));
  CHECK_FALSE(decode_frame(encode_frame(Part{}), got));
  Part part;
  CHECK_FALSE(decode_frame(frame, part));
}

TEST_CASE("hostile messages are refused, and cost no more than they hold") {
  std::vector<std::string> texts;
  Part part;
  int small = 0;
  // nested without end
  CHECK_FALSE(decode_frame(frame_with(std::string(1U << 20U, '\x81')), texts));
  CHECK_FALSE(decode_frame(frame_with(std::string(1U << 20U, '\x9f')), texts));
  // sizes that lie: of an array, of bytes
  CHECK_FALSE(decode_frame(frame_with("\x9b\x7f\xff\xff\xff\xff\xff\xff\xff\x41x"), texts));
  CHECK_FALSE(decode_frame(frame_with("\x81\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"), texts));
  CHECK_FALSE(decode_frame(frame_with("\x81\x5b\xff\xff\xff\xff\xff\xff\xff\xff"), texts));
  CHECK(decode_frame(frame_with("\x81\x41x"), texts));
  CHECK_FALSE(decode_frame(frame_with("\x81\x41xy"), texts));  // a byte is left over
  // an object, a tag, a text, bytes that are no CBOR
  for (const char* const message : {"\xa0", "\xc0\x80", "\x60", "\xff", "\x1c", "\x9c"})
    CHECK_FALSE(decode_frame(frame_with(message), texts));
  // numbers and enumerators out of range
  CHECK(decode_frame(frame_with("\x82\x40\x01"), part));
  CHECK_FALSE(decode_frame(frame_with("\x82\x40\x02"), part));
  CHECK_FALSE(decode_frame(frame_with("\x82\x40\x20"), part));
  CHECK_FALSE(decode_frame(encode_frame(std::uint64_t{1} << 40U), small));
  CHECK_FALSE(decode_frame(frame_with("\x3b\xff\xff\xff\xff\xff\xff\xff\xff"), small));
  CHECK_FALSE(decode_frame(encode_frame(1.5), small));
  std::variant<int, Part> choice;
  CHECK_FALSE(decode_frame(frame_with(std::string("\x82\x02\x00", 3)), choice));
}

TEST_CASE("any bytes are safe to decode") {
  warpath::Rng rng(7, "frames");
  const std::string frame = encode_frame(everything());
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = frame;
    for (int flips = 0; flips < 4; ++flips)
      bytes[warpath::kFrameHeaderBytes + rng.below(bytes.size() - warpath::kFrameHeaderBytes)] =
          static_cast<char>(rng.below(256));
    Everything got;
    static_cast<void>(decode_frame(bytes, got));
  }
}

TEST_CASE("frames survive any cut of the stream") {
  warpath::Rng rng(1, "frames");
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> sent;
    std::string stream;
    for (int i = 0; i < 20; ++i) {
      sent.emplace_back(rng.below(i == 7 ? 100000 : 40), static_cast<char>('a' + i));
      stream += frame_of(sent.back());
    }
    FrameDecoder decoder;
    std::vector<std::string> received;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t count = std::min<std::size_t>(stream.size() - at, 1 + rng.below(3000));
      decoder.feed(std::string_view(stream).substr(at, count));
      at += count;
      while (const auto payload = decoder.next()) received.push_back(text_of(*payload));
    }
    CHECK(received == sent);
    CHECK_FALSE(decoder.mid_frame());
  }
}

TEST_CASE("more bytes than allowed, or what is no frame, break the stream for good") {
  const std::string allowed(98, 'a'), more(99, 'a');  // 2 bytes are their head
  for (const std::string& nonsense :
       {frame_of(more), std::string("Segmentation fault\n"), std::string(16, '\0'),
        std::string("WPf1").append(8, '\xff')}) {
    FrameDecoder decoder(100);
    decoder.feed(frame_of(allowed));
    CHECK(text_of(decoder.next().value_or("")) == allowed);
    decoder.feed(nonsense);
    CHECK_FALSE(decoder.next());
    CHECK(decoder.broken());
    decoder.feed(frame_of("ok"));
    CHECK_FALSE(decoder.next());
  }
}

TEST_CASE("reading tells an end from a torn frame and from nonsense") {
  const std::string large(300, 'x');
  std::string frame;
  {
    Pipe pipe;
    pipe.write(frame_of("one"));
    CHECK(read_frame(pipe.ends[0], frame) == FrameStatus::done);
    CHECK(text_of(frame) == "one");
    pipe.close_writer();
    CHECK(read_frame(pipe.ends[0], frame) == FrameStatus::closed);
  }
  for (const std::size_t cut : {1, 11, 12, 15}) {
    CAPTURE(cut);
    Pipe pipe;
    pipe.write(frame_of("three").substr(0, cut));
    pipe.close_writer();
    CHECK(read_frame(pipe.ends[0], frame) == FrameStatus::torn);
  }
  for (const std::string& sent : {frame_of(large), std::string("no frame at all")}) {
    Pipe pipe;
    pipe.write(sent + "....");
    CHECK(read_frame(pipe.ends[0], frame, large.size()) == FrameStatus::damaged);
  }
}

TEST_CASE("a frame larger than a pipe's buffer is written whole") {
  const std::string large(1U << 20U, 'x');
  Pipe pipe;
  std::string frame;
  {
    const std::jthread reader([&] { CHECK(read_frame(pipe.ends[0], frame) == FrameStatus::done); });
    REQUIRE(::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK) == 0);  // as a process beside it may
    CHECK(write_frame(pipe.ends[1], frame_of(large)) == FrameStatus::done);
  }
  CHECK(text_of(frame) == large);
}

TEST_SUITE_END();
