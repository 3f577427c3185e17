#include "runners/cluster/placement.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "engine/base/error.h"
#include "runners/cluster/access_key.h"
#include "runners/cluster/messages.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using namespace warpath::cluster;
using namespace std::chrono_literals;

namespace {

ClusterOptions members(const std::string& text) {
  ClusterOptions out;
  out.members = text;
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("cluster_placement");

TEST_CASE("who starts members is named by kind, place and number") {
  for (const char* const good : {"processes:1", "processes:10000", "slurm:gpu", "slurm:gpu:64"})
    CHECK_NOTHROW(check_placement(members(good)));
  for (const char* const bad :
       {"slurm", "slurm:", "slurm:gpu:", "slurm:gpu:0", "slurm:gpu:x", "processes:", "processes:0",
        "processes:-1", "processes:10001", "processes:1e3", "commands:", "commands:/no/such/file",
        "pbs:gpu"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(check_placement(members(bad)), Error);
  }
}

TEST_CASE("each line of a file of commands starts a member, with its own words in front") {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "commands").string();
  const std::string note = (folder / "note").string();
  test::put_text(file, "# where\n\n  /bin/sh " + note + " one\n/bin/sh " + note + " two\n");
  test::put_text(note, "touch " + (folder / "$1.$2").string() + "; exec sleep 60\n");
  const auto placement = make_placement(members("commands:" + file), {"joins"}, folder / ".");
  CHECK(placement->size() == 2);
  CHECK(placement->alive() == 0);
  placement->start(2);
  CHECK(placement->alive() == 2);
  for (int i = 0; i < 1000 && !std::filesystem::exists(folder / "two.joins"); ++i)
    std::this_thread::sleep_for(10ms);
  CHECK(std::filesystem::exists(folder / "two.joins"));
  test::put_text(file, "# nothing\n");
  CHECK_THROWS_AS(check_placement(members("commands:" + file)), Error);
}

TEST_CASE("a member that ended is started again when it is asked for") {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "commands").string();
  test::put_text(file, "/bin/false\n");
  const auto placement = make_placement(members("commands:" + file), {}, folder / ".");
  for (int turn = 0; turn < 2; ++turn) {
    placement->start(1);
    for (int i = 0; i < 1000 && placement->alive() > 0; ++i) std::this_thread::sleep_for(10ms);
    CHECK(placement->alive() == 0);
  }
}

TEST_CASE("a key is only its user's to read, and nothing else is taken for one") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "key";
  const std::string key = create_key(file);
  CHECK(key.size() == 64);
  struct stat facts{};
  REQUIRE(::stat(file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777U) == 0600U);
  CHECK(read_key(file) == key);
  CHECK_THROWS_AS(static_cast<void>(create_key(file)), Error);
  CHECK(create_key(folder / "another") != key);

  ::chmod(file.c_str(), 0640);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_key(file)), doctest::Contains("mode 600"), Error);
  ::chmod(file.c_str(), 0600);
  test::put_text(file, "short");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_key(file)), doctest::Contains("64 characters"),
                       Error);
  CHECK_THROWS_AS(static_cast<void>(read_key(folder / "none")), Error);
  CHECK_THROWS_AS(static_cast<void>(read_key(folder / ".")), Error);
  CHECK(same_key(key, key));
  CHECK_FALSE(same_key(key, key.substr(1)));
  CHECK_FALSE(same_key(key, std::string(64, 'x')));
}

TEST_CASE(
    "messages that are cut off or damaged are refused or mean something else, and never more") {
  RunVariant run;
  run.turn = 3;
  run.variant = R"({"source": "x"})";
  run.key = hash128("key");
  const std::string frame = encode(EngineMessage(run));
  EngineMessage message;
  REQUIRE(decode(frame, message));
  CHECK(std::get<RunVariant>(message).variant == run.variant);
  CHECK(std::get<RunVariant>(message).key == run.key);
  for (std::size_t size = 0; size < frame.size(); ++size)
    CHECK_FALSE(decode(std::string_view(frame).substr(0, size), message));
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = frame;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      static_cast<void>(decode(damaged, message));
    }
  }
}

TEST_SUITE_END();
