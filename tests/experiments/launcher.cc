// The launcher script of the tree, with a small project in place of this one: configuring and
// building are real.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "runners/worker/process.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

/// A tree whose program prints what `source` says.
class SmallTree {
 public:
  explicit SmallTree(fs::path root) : root_(std::move(root)) {
    fs::create_directories(root_ / "experiments");
    fs::copy_file(source_root() / "warpath", root_ / "warpath");
    write_file(root_ / "meson.build", kProject);
    write_file(root_ / "experiments" / "meson.build",
               "executable('warpath', 'main.c', 'part.c')\n");
    write_file(root_ / "experiments" / "part.c", "int part(void) { return 3; }\n");
    write_file(root_ / "experiments" / "main.c",
               "#include <stdio.h>\nint part(void);\nint main(void) { printf(\"%d\\n\", part()); "
               "return 0; }\n");
  }
  static constexpr const char* kProject = "project('small', 'c')\nsubdir('experiments')\n";

  [[nodiscard]] warpath::ProcessResult run() const {
    warpath::ProcessSpec spec;
    spec.argv = {(root_ / "warpath").string()};
    spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/tmp"};
    return warpath::run_process(spec, std::chrono::seconds(120), 1 << 16);
  }
  void move_to(const fs::path& place) {
    fs::rename(root_, place);
    root_ = place;
  }
  [[nodiscard]] fs::path operator/(const char* name) const { return root_ / name; }
  [[nodiscard]] fs::file_time_type object_time() const {
    return fs::last_write_time(root_ / "build" / "experiments" / "warpath.p" / "part.c.o");
  }

 private:
  fs::path root_;
};

bool says(const warpath::ProcessResult& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("launcher");

TEST_CASE(
    "a working build is kept where the new one does not configure, and nothing that holds is built "
    "again") {
  const TemporaryFolder folder;
  SmallTree tree(folder / "tree");
  const auto first = tree.run();
  CAPTURE(first.output);
  REQUIRE(first.code == 0);
  CHECK(says(first, "3\n"));
  const auto built = tree.object_time();

  SUBCASE("configuring fails") {
    tree.move_to(folder / "elsewhere");
    write_file(tree / "meson.build", "project('small', 'no such language')\n");
    const auto broken = tree.run();
    CHECK(broken.code == 3);
    CHECK(says(broken, "the build that was there is kept"));
    CHECK(tree.object_time() == built);
    CHECK(fs::exists(tree / "build/experiments/warpath"));
    write_file(tree / "meson.build", SmallTree::kProject);
    CHECK(tree.run().code == 0);
    CHECK(tree.object_time() == built);
  }
  SUBCASE("the tree is moved") {
    tree.move_to(folder / "elsewhere");
    const auto moved = tree.run();
    CAPTURE(moved.output);
    CHECK(moved.code == 0);
    CHECK(says(moved, "3\n"));
    CHECK(tree.object_time() == built);
  }
  SUBCASE("a launcher was killed while it configured") {
    fs::create_directories(tree / "build/.old");
    for (const auto& entry : fs::directory_iterator(tree / "build")) {
      const std::string name = entry.path().filename().string();
      if (name != ".old" && name != ".lock" && name != "setup.log")
        fs::rename(entry.path(), (tree / "build/.old") / name);
    }
    write_file(tree / "build/build.ninja", "half");
    CHECK(tree.run().code == 0);
    CHECK(tree.object_time() == built);
    CHECK_FALSE(fs::exists(tree / "build/.old"));
  }
}

TEST_SUITE_END();
