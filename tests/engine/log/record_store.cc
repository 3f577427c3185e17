#include "engine/log/record_store.h"

#include <doctest/doctest.h>

#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/run/node_content.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::put_text;
using test::TemporaryFolder;
using test::text_of;

namespace {

/// Texts of all sizes, some of which compress.
std::string text_number(std::uint64_t i) {
  Rng rng(1, "texts", i);
  std::string out;
  const std::size_t size = rng.below(i % 50 == 0 ? 100'000 : 900);
  const bool random = rng.below(2) == 0;
  while (out.size() < size)
    out += random ? static_cast<char>(rng.below(256)) : "abcd"[out.size() % 4];
  return out;
}

}  // namespace

TEST_SUITE("record_store") {
  TEST_CASE("what was put is got back, in memory, from a file, and after going on in the file") {
    for (const bool in_file : {false, true}) {
      const TemporaryFolder folder;
      RecordStore store;
      if (in_file) store.begin(folder / "records");
      std::vector<RecordRef> refs;
      for (std::uint64_t i = 0; i < 1500; ++i) {
        refs.push_back(store.put(text_number(i)));
        const std::uint64_t some = (i * 7919) % (i + 1);
        REQUIRE(store.get(refs[some]) == text_number(some));
      }
      if (!in_file) continue;
      const RecordStore::Extent extent = store.flush(false);
      for (std::uint64_t i = 1500; i < 1600; ++i) refs.push_back(store.put(text_number(i)));
      static_cast<void>(store.flush(false));
      RecordStore again;
      again.resume(folder / "records", extent);
      for (std::uint64_t i = 1500; i < 1600; ++i) CHECK(again.put(text_number(i)) == refs[i]);
      for (std::uint64_t i = 0; i < 1600; ++i) REQUIRE(again.get(refs[i]) == text_number(i));
      CHECK(again.flush(false) == store.flush(false));
    }
  }

  TEST_CASE("a file that was cut short or altered is not gone on with") {
    const TemporaryFolder folder;
    RecordStore::Extent extent;
    {
      RecordStore store;
      store.begin(folder / "records");
      for (std::uint64_t i = 0; i < 1500; ++i) static_cast<void>(store.put(text_number(i)));
      extent = store.flush(false);
    }
    const std::string whole = text_of(folder / "records");
    REQUIRE(whole.size() == extent.bytes);
    for (std::size_t i = 0; i < whole.size(); i += whole.size() / 7) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      put_text(folder / "records", damaged);
      RecordStore store;
      CHECK_THROWS_AS(store.resume(folder / "records", extent), const Error&);
      put_text(folder / "records", whole.substr(0, i));
      CHECK_THROWS_AS(store.resume(folder / "records", extent), const Error&);
      put_text(folder / "records", whole);
      store.resume(folder / "records", extent);  // as fresh as before
    }
  }

  TEST_CASE("what made a node is packed without loss") {
    NodeContent content{.instance = {.move = "unroll_loop",
                                     .site = "loop:2",
                                     .parameters = {{"factor", -4}, {"text", INT64_MAX}}},
                        .edit = {.begin = 17, .removed = 3, .inserted = "\xff\n\"x\"", .rest = {}}};
    CHECK(unpacked(packed(content), "test") == content);
    content.edit.rest.tunables = TunableValues{{"TILE", 32}};
    content.edit.rest.compiler_options = {"-O3"};
    content.edit.versions = {{.begin = 1, .removed = 2, .inserted = "v", .rest = {}}, {}};
    CHECK(unpacked(packed(content), "test") == content);
    const std::string bytes = packed(content);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_THROWS_AS(static_cast<void>(unpacked(bytes.substr(0, size), "test")), const Error&);
  }
}
