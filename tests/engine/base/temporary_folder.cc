#include "engine/base/temporary_folder.h"

#include <doctest/doctest.h>

#include "engine/base/error.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("temporary_folder");

TEST_CASE("it is this user's alone and goes with all that it holds") {
  fs::path path;
  {
    const TemporaryFolder one("unit"), other("unit");
    path = one.path();
    CHECK(path != other.path());
    CHECK(path.parent_path() == temporary_root());
    CHECK(fs::status(path).permissions() == fs::perms::owner_all);
    fs::create_directories(one / "a" / "b");
    test::put_text(one / "a" / "file", "x");
  }
  CHECK(!fs::exists(path));
}

TEST_CASE("where none can be made, one line says so") {
  const TemporaryFolder root;
  const auto make = [&] { const TemporaryFolder none("unit", root / "none"); };
  const std::string said =
      "cannot make a folder in " + (root / "none").string() + ": No such file or directory";
  CHECK_THROWS_WITH_AS(make(), said.c_str(), Error);
}

TEST_CASE("what ended processes left is removed, and nothing else") {
  const TemporaryFolder mine("unit");
  const fs::path left = temporary_root() / "warpath-unit-999999999-abcdef";  // above any process
  const fs::path other = temporary_root() / "warpath-unit2-999999999-abcdef";
  fs::create_directories(left / "a");
  fs::create_directories(other);
  TemporaryFolder::remove_leftovers("unit");
  CHECK(!fs::exists(left));
  CHECK(fs::exists(other));
  CHECK(fs::exists(mine.path()));
  fs::remove(other);
}

TEST_SUITE_END();
