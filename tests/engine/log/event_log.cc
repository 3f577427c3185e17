#include "engine/log/event_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/log/events.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::put_text;
using test::text_of;

namespace {

/// A log of `count` objects beside the first.
std::string make_log(const std::filesystem::path& path, int count) {
  EventWriter writer = EventWriter::create(path, "{\"n\":0}", SyncRule::never);
  for (int i = 1; i <= count; ++i)
    writer.append("{\"n\":" + std::to_string(i) + ",\"text\":\"some words\"}", true);
  return text_of(path);
}

std::vector<std::string> read_all(const std::filesystem::path& path, bool* torn = nullptr) {
  EventReader reader(path);
  std::vector<std::string> out;
  while (auto object = reader.next()) out.push_back(*object);
  if (torn != nullptr) *torn = reader.torn();
  return out;
}

/// The message of the error that reading gives; empty if there is none.
std::string complaint(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_all(path));
    return "";
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::bad_input);
    return e.what();
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    lines.push_back(text.substr(start, end - start));
    start = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

}  // namespace

TEST_SUITE("event_log") {
  TEST_CASE("what is appended is read back in order") {
    const test::TemporaryFolder folder;
    make_log(folder.path() / "log", 3);
    bool torn = true;
    const auto objects = read_all(folder.path() / "log", &torn);
    REQUIRE(objects.size() == 4);
    CHECK(objects[0] == "{\"n\":0}");
    CHECK(objects[3] == "{\"n\":3,\"text\":\"some words\"}");
    CHECK_FALSE(torn);
  }

  TEST_CASE("a last line cut at any byte is dropped, and the log goes on from there") {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "log";
    const std::string whole = make_log(path, 3);
    const std::size_t start =
        joined({lines_of(whole)[0], lines_of(whole)[1], lines_of(whole)[2]}).size();
    for (std::size_t size = start; size < whole.size(); ++size) {
      CAPTURE(size);
      put_text(path, whole.substr(0, size));
      EventReader reader(path);
      int objects = 0;
      while (reader.next()) ++objects;
      REQUIRE(objects == 3);
      REQUIRE(reader.torn() == (size > start));
      EventWriter writer(path, reader.position(), SyncRule::never);
      writer.append("{\"n\":3,\"text\":\"some words\"}", true);
      REQUIRE(text_of(path) == whole);
    }
  }

  TEST_CASE("a reader at the end looks again, also after a line that was only half written") {
    const TemporaryFolder folder;
    const auto path = folder / "log";
    const std::string whole = make_log(path, 3);
    const std::size_t third = lines_of(whole)[0].size() + lines_of(whole)[1].size();
    put_text(path, whole.substr(0, third + 5));
    EventReader reader(path);
    REQUIRE(reader.next());
    REQUIRE(reader.next());
    CHECK_FALSE(reader.next());
    CHECK(reader.torn());
    reader.retry();
    CHECK_FALSE(reader.next());
    put_text(path, whole);
    CHECK_FALSE(reader.next());  // not before it is told to
    reader.retry();
    CHECK(reader.next() == "{\"n\":2,\"text\":\"some words\"}");
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    CHECK(reader.position().lines == 4);
  }

  TEST_CASE("one flipped bit anywhere before the last line feed is an error that names the line") {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "log";
    const std::string whole = make_log(path, 3);
    for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        CAPTURE(i);
        CAPTURE(bit);
        std::string damaged = whole;
        damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ (1U << bit));
        put_text(path, damaged);
        const std::string message = complaint(path);
        const auto line =
            1 + std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i), '\n');
        REQUIRE(message.find("log:" + std::to_string(line) + ":") != std::string::npos);
      }
    }
  }

  TEST_CASE(
      "deleted, repeated and exchanged lines are errors at the first line that does not follow") {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "log";
    const auto lines = lines_of(make_log(path, 5));
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      CAPTURE(i);
      auto deleted = lines;
      deleted.erase(deleted.begin() + static_cast<std::ptrdiff_t>(i));
      put_text(path, joined(deleted));
      CHECK(complaint(path).find("log:" + std::to_string(i + 1) + ":") != std::string::npos);
      auto repeated = lines;
      repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
      put_text(path, joined(repeated));
      CHECK(complaint(path).find("log:" + std::to_string(i + 2) + ":") != std::string::npos);
      auto exchanged = lines;
      std::swap(exchanged[i], exchanged[i + 1]);
      put_text(path, joined(exchanged));
      CHECK(complaint(path).find("log:" + std::to_string(i + 1) + ":") != std::string::npos);
    }
  }

  TEST_CASE("a log without its first whole line is an error, not an empty log") {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "log";
    CHECK(complaint(folder.path() / "absent").find("expected a readable event log") !=
          std::string::npos);
    put_text(path, "");
    CHECK(complaint(path).find("log:1: got nothing") != std::string::npos);
    const std::string whole = make_log(path, 0);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      CAPTURE(size);
      put_text(path, whole.substr(0, size));
      REQUIRE(complaint(path).find("log:1:") != std::string::npos);
    }
    put_text(path, whole);
    CHECK(complaint(path).empty());
    put_text(path, "\n");
    CHECK(complaint(path).find("log:1:") != std::string::npos);
    put_text(path, whole + "\n");
    CHECK(complaint(path).find("log:2:") != std::string::npos);
  }

  TEST_CASE("events survive encoding and decoding") {
    DispatchEvent dispatch{
        .sequence = 12,
        .node = NodeId{13},
        .parent = NodeId{4},
        .key = hash128("key"),
        .instance = {.move = "set_tunable", .site = "tunable:TILE", .parameters = {{"value", -8}}},
        .source = "rules",
        .path = {NodeId{0}, NodeId{4}, NodeId{13}},
        .change = {},
        .incumbent_ns = 1234.5};
    dispatch.change.source = "caf\xE9 \xFF";  // an old encoding
    dispatch.change.tunables = TunableValues{{"TILE", 16}};
    const Event read = decode(encode(dispatch), "log:7");
    REQUIRE(std::holds_alternative<DispatchEvent>(read));
    const auto& back = std::get<DispatchEvent>(read);
    CHECK(back.sequence == 12);
    CHECK(back.node == NodeId{13});
    CHECK(back.instance == dispatch.instance);
    CHECK(back.path == dispatch.path);
    CHECK(back.change.source == dispatch.change.source);
    CHECK(back.change.tunables == dispatch.change.tunables);
    CHECK_FALSE(back.change.launch.has_value());
    CHECK(encode(read) == encode(dispatch));
  }

  TEST_CASE("an event that does not fit names file, line and key") {
    const auto complaint_of = [](const std::string& object) {
      try {
        static_cast<void>(decode(object, "events.jsonl:3"));
        return std::string();
      } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::bad_input);
        return std::string(e.what());
      }
    };
    CHECK(complaint_of("{\"type\":\"walk\"}").starts_with("events.jsonl:3:/type"));
    CHECK(complaint_of("{\"type\":\"idle\",\"seq\":-1}").starts_with("events.jsonl:3:/seq"));
    CHECK(complaint_of("{\"type\":\"idle\",\"seq\":1,\"more\":2}")
              .starts_with("events.jsonl:3:/more"));
    CHECK(complaint_of("{\"type\":\"run\",\"schema\":99}").starts_with("events.jsonl:3:/schema"));
    CHECK(complaint_of("[]").starts_with("events.jsonl:3"));
    CHECK(complaint_of("{").starts_with("events.jsonl:3"));
    CHECK_FALSE(complaint_of("{\"type\":\"outcome\",\"seq\":1,\"at\":0,\"seconds\":0,\"outcome\":{"
                             "\"status\":\"fine\"}}")
                    .empty());
  }

  TEST_CASE("only three words name a sync rule") {
    CHECK(parse_sync_rule("batch", "--set record.sync") == SyncRule::batch);
    CHECK_THROWS_AS(static_cast<void>(parse_sync_rule("often", "--set record.sync")), Error);
  }
}
