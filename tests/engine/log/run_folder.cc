#include "engine/log/run_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
namespace fs = std::filesystem;

TEST_SUITE("run_folder") {
  TEST_CASE("a file is replaced whole, and leaves no temporary behind") {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "file";
    write_file_atomically(path, "one");
    write_file_atomically(path, "two", false);
    CHECK(test::text_of(path) == "two");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  }

  TEST_CASE("a file that cannot be replaced stays as it was") {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "file";
    fs::create_directories(path / "not empty");  // rename onto it fails
    try {
      write_file_atomically(path, "text");
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
      CHECK(std::string(e.what()).find(path.string()) != std::string::npos);
    }
    CHECK(fs::is_directory(path / "not empty"));
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  }

  TEST_CASE("a file in pieces is there when it is complete, and else what was there stays") {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "file";
    {
      AtomicFile file(path);
      file.write("on");
      file.write("e");
      CHECK_FALSE(fs::exists(path));
      file.commit(false);
      CHECK(test::text_of(path) == "one");
    }
    {
      AtomicFile(path).write("tw");
    }
    CHECK(test::text_of(path) == "one");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  }

  TEST_CASE("a link stays one, and a pipe is written to") {
    const test::TemporaryFolder folder;
    const fs::path named = folder.path() / "named", link = folder.path() / "link",
                   pipe = folder.path() / "pipe";
    fs::create_symlink("named", link);
    write_file_atomically(link, "one");
    write_file_atomically(link, "two");
    CHECK(fs::is_symlink(link));
    CHECK(test::text_of(named) == "two");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    write_file_atomically(pipe, "three");
    char got[16] = {};
    CHECK(::read(reader, got, sizeof got - 1) == 5);
    CHECK(std::string(got) == "three");
    ::close(reader);
    CHECK(fs::is_fifo(pipe));
  }

  TEST_CASE("a second process is refused while the first holds the folder, and admitted after") {
    const test::TemporaryFolder folder;
    {
      const RunFolder mine(folder.path() / "run");
      const ::pid_t child = ::fork();
      if (child == 0) {
        int code = 1;
        try {
          const RunFolder theirs(folder.path() / "run");
        } catch (const Error& e) {
          const bool named = std::string(e.what()).find("process " + std::to_string(::getppid())) !=
                             std::string::npos;
          code = e.code() == ErrorCode::bad_input && named ? 64 : 2;
        }
        ::_exit(code);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(WEXITSTATUS(status) == 64);
    }
    CHECK_NOTHROW(RunFolder(folder.path() / "run"));
  }

  TEST_CASE("a folder is in use while a process holds it") {
    const TemporaryFolder folder;
    CHECK_FALSE(RunFolder::is_in_use(folder.path() / "absent"));
    {
      const RunFolder mine(folder.path() / "run");
      CHECK(RunFolder::is_in_use(folder.path() / "run"));
      CHECK(RunFolder::is_in_use(folder.path() / "run"));
    }
    CHECK_FALSE(RunFolder::is_in_use(folder.path() / "run"));  // though its last owner still lives
    CHECK_NOTHROW(RunFolder(folder.path() / "run"));
  }

  TEST_CASE("a folder of files appears at once, and only the first time") {
    const test::TemporaryFolder folder;
    const RunFolder run(folder.path());
    run.write_folder("variants/abc", {{"source.cu", "one"}, {"diff", "d"}}, true);
    run.write_folder("variants/abc", {{"source.cu", "two"}}, true);
    CHECK(test::text_of(folder.path() / "variants/abc/source.cu") == "one");
    CHECK(test::text_of(folder.path() / "variants/abc/diff") == "d");
  }

  TEST_CASE("the best link moves from one variant to the next") {
    const test::TemporaryFolder folder;
    const RunFolder run(folder.path());
    run.write_folder("baseline", {{"source.cu", "base"}}, false);
    run.point_best("baseline");
    CHECK(test::text_of(folder.path() / "best/source.cu") == "base");
    run.write_folder("variants/abc", {{"source.cu", "abc"}}, false);
    run.point_best("variants/abc");
    CHECK(fs::read_symlink(folder.path() / "best") == "variants/abc");
  }

  TEST_CASE("a folder that cannot be made is the environment's fault") {
    const test::TemporaryFolder folder;
    test::put_text(folder.path() / "file", "");
    try {
      const RunFolder run(folder.path() / "file" / "run");
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
    }
  }
}
