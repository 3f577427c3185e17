#include "engine/log/log_segments.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/log/event_log.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::put_text;
using test::TemporaryFolder;
using test::text_of;
namespace fs = std::filesystem;

namespace {

std::string object(int i) {
  return "{\"n\":" + std::to_string(i) + ",\"text\":\"some words\"}";
}

/// A log of `count` objects in segments of about `segment_bytes`.
void make_log(const fs::path& path, int count, std::uint64_t segment_bytes) {
  EventWriter writer = EventWriter::create(path, object(0), SyncRule::never, segment_bytes);
  for (int i = 1; i < count; ++i) writer.append(object(i), true);
}

/// What is read, in order, until the end of the log.
int count_of(EventReader& reader, int from = 0) {
  while (const auto got = reader.next()) {
    REQUIRE(*got == object(from));
    ++from;
  }
  return from;
}

std::string complaint(const fs::path& path) {
  try {
    EventReader reader(path);
    while (reader.next()) {
    }
    return "";
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::bad_input);
    return e.what();
  }
}

}  // namespace

TEST_SUITE("log_segments") {
  TEST_CASE("a log in segments reads like one in a single file, whatever their size") {
    for (const std::uint64_t bytes : {1U, 100U, 200U, 1000U, 100000U}) {
      CAPTURE(bytes);
      const TemporaryFolder folder;
      const fs::path path = folder / "events.jsonl";
      make_log(path, 40, bytes);
      CHECK(fs::exists(folder / "events.000001.jsonl.gz") == (bytes < 100000));
      EventReader reader(path);
      CHECK(count_of(reader) == 40);
      CHECK_FALSE(reader.torn());
      CHECK(EventReader(path).first() == object(0));
    }
  }

  TEST_CASE("a writer goes on where a reader came to the end, and names the segments before") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl";
    make_log(path, 1, 300);
    for (int i = 1; i < 40; ++i) {
      EventReader reader(path);
      REQUIRE(count_of(reader) == i);
      put_text(path, text_of(path) + "{\"torn");
      EventWriter writer(path, reader.position(), SyncRule::never, 300);
      writer.append(object(i), true);
    }
    EventReader reader(path);
    CHECK(count_of(reader) == 40);
    CHECK(fs::exists(folder / "events.000004.jsonl.gz"));
  }

  TEST_CASE("a reader at the end finds what is appended, also when its file became a segment") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl";
    EventWriter writer = EventWriter::create(path, object(0), SyncRule::never, 150);
    EventReader reader(path);
    int seen = count_of(reader);
    for (int i = 1; i < 60; ++i) {
      writer.append(object(i), false);
      if (i % 7 != 0) continue;
      reader.retry();
      seen = count_of(reader, seen);
      REQUIRE(seen == i + 1);
      REQUIRE(reader.position() == writer.position());
    }
  }

  TEST_CASE("from any position the rest is read, and what is before is only compared") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl";
    make_log(path, 30, 250);
    std::vector<LogPosition> positions;
    EventReader all(path);
    while (all.next()) positions.push_back(all.position());
    for (const LogPosition& position : positions) {
      EventReader reader(path);
      reader.skip_to(position);
      bool met = reader.position() == position;
      while (reader.next()) met = met || reader.position() == position;
      CHECK(met);
      CHECK(reader.position() == all.position());
    }
    put_text(folder / "events.000001.jsonl.gz", "");
    EventReader reader(path);
    CHECK_THROWS_AS(reader.skip_to(positions.back()), const Error&);
  }

  TEST_CASE("a segment that is missing, cut short or altered is named in one line") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl", segment = folder / "events.000002.jsonl.gz";
    make_log(path, 40, 500);
    const std::string whole = text_of(segment);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      put_text(segment, damaged);
      REQUIRE(complaint(path).starts_with(segment.string() + ": got sum"));
      put_text(segment, whole.substr(0, i));
      REQUIRE(complaint(path).starts_with(segment.string() + ": got sum"));
    }
    fs::remove(segment);
    CHECK(complaint(path).find("events.000002.jsonl.gz: expected this segment") !=
          std::string::npos);
    CHECK(complaint(path).find('\n') == std::string::npos);
    put_text(segment, whole);
    CHECK(complaint(path).empty());
  }

  TEST_CASE("a damaged line names the file it is in, and its line there") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl";
    make_log(path, 40, 500);
    std::string text = text_of(path);
    text[text.find('\n') + 3] ^= 1;  // in the second line
    put_text(path, text);
    CHECK(complaint(path).starts_with(path.string() + ":2: got"));
    text = text_of(path);
    text[text.find("\"first\"") + 1] ^= 1;
    put_text(path, text);
    CHECK(complaint(path).starts_with(path.string() + ":1"));
  }

  TEST_CASE("a death between compressing and beginning the new file loses nothing") {
    const TemporaryFolder folder;
    const fs::path path = folder / "events.jsonl";
    make_log(path, 5, 100000);
    EventReader reader(path);
    CHECK(count_of(reader) == 5);
    put_text(folder / "events.000001.jsonl.gz", "the half of a segment");
    EventWriter writer(path, reader.position(), SyncRule::never, 100);
    for (int i = 5; i < 20; ++i) writer.append(object(i), true);
    EventReader after(path);
    CHECK(count_of(after) == 20);
  }
}
